import { type HostPort, hostPortText } from "../../../configuration/cluster-options.ts";
import { errorMessage } from "../../../lib/error-code.ts";
import type { Machine } from "../../../lib/machine.ts";
import { Channel } from "../../../lib/process/channel.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import { portOfProcess } from "../../../lib/process/message.ts";
import { thisMachine } from "../../../lib/this-machine.ts";
import { sleep } from "../../../lib/time/sleep.ts";
import type { StoreNews, TellStores } from "../../../store/store-news.ts";
import { followParent } from "../../process/child-process.ts";
import { createLogger } from "../../process/logger.ts";
import { listenFault } from "../../process/start-faults.ts";
import type { NewsMember } from "../../process/store-news-exchange.ts";
import { exitAfterFault, startCoordinatorThread } from "../../server/coordinator-link.ts";
import { type Lead, startLead } from "../../server/lead.ts";
import { loadInThread } from "../../server/load-in-thread.ts";
import { ForkedRenderers } from "../../server/renderers/local-renderers.ts";
import { LEAD_PARENT, type LeadData, type LeadParentMethods, type LeadProcessMethods } from "../link/lead-methods.ts";
import { LeadTable } from "../link/lead-table.ts";
import { Lease } from "../link/lease.ts";
import { NodePool } from "./node-pool.ts";

/** Time for calls and renders in progress at a handover. The next lead renders unstored tiles again. */
const GRACE_MS = 10_000;
const LONGEST_RENEWAL_MS = 2_000;
const RENEWALS_PER_LEASE = 5;
/** Time for a log line to leave the process. */
const LOG_MS = 50;

/**
 * The process that leads a cluster: coordinator, renders, and the connections of the nodes. It is a separate process,
 * so that a lead which loses its lease can end at once, and then no part of it can act.
 */
class LeadProcess {
  readonly #data: LeadData;
  readonly #log: Logger;
  readonly #lease: Lease;
  readonly #table: LeadTable;
  readonly #refused: LeadParentMethods["refused"];
  readonly #foundStores: TellStores;
  #news: NewsMember | undefined;
  #lead: Lead | undefined;
  #renderers: { storesUntil(ms: number): void } | undefined;
  #isClosing = false;
  readonly #machine: Machine;

  constructor(data: LeadData, { refused, storeNews }: LeadParentMethods, machine: Machine) {
    const { clock } = machine;
    const { cluster, target, instance } = data;
    this.#data = data;
    this.#machine = machine;
    this.#refused = refused;
    this.#foundStores = storeNews;
    this.#log = createLogger(clock);
    this.#lease = new Lease(cluster.leadLeaseMs, clock.monotonicNow);
    this.#table = new LeadTable(target, {
      instance,
      name: cluster.node,
      leaseMs: cluster.leadLeaseMs,
      clock,
      disk: machine.disk,
    });
  }

  /** Records news about a remote store from another process of the node. */
  tellStores(news: StoreNews): void {
    this.#news?.found(news);
  }

  async start(): Promise<void> {
    const { configuration, cluster, input, instance, epoch } = this.#data;
    const log = this.#log;
    const lead = await startLead({
      coordinatorThread: startCoordinatorThread(),
      rendererProcesses: new ForkedRenderers(log),
      exit: () => exitAfterFault(this.#machine.clock),
      configuration,
      instance,
      use: "lead",
      load: (running, more) => loadInThread({ ...input, running, ...more }, this.#machine.clock),
      machine: this.#machine,
      log,
      buildServing: (core, hosts, storeNews) => {
        this.#news = storeNews.join(this.#foundStores);
        return new NodePool({
          configuration,
          cluster,
          clock: this.#machine.clock,
          random: this.#machine.random,
          instance,
          epoch,
          lease: this.#lease,
          table: this.#table,
          core,
          hosts,
          log,
        });
      },
      open: async (nodes, renderers) => {
        this.#renderers = renderers;
        const { host, port: wanted } = cluster.listen;
        const { port } = await nodes.listen(host, wanted).catch(async (error: unknown) => {
          throw new Error(await listenFault(error, host, wanted, this.#machine.clock), { cause: error });
        });
        const address = cluster.advertise ?? { host, port };
        await this.#renew(address);
        void this.#renewAlways(address);
        log.info("this node leads the cluster", { node: cluster.node, epoch, address: hostPortText(address) });
      },
    });
    if (!("refused" in lead)) {
      this.#lead = lead;
      return;
    }
    this.#refused(lead.refused);
    await this.#giveBack();
    await this.#end(1);
  }

  async #renew(address: HostPort): Promise<void> {
    const { epoch } = this.#data;
    const sentMs = this.#machine.clock.monotonicNow();
    const renewed = await this.#table.renew(epoch, address);
    if (renewed.ok && renewed.value) {
      this.#lease.granted(sentMs);
      this.#renderers?.storesUntil(this.#machine.clock.machineNow() + this.#lease.leftMs);
    } else if (renewed.ok) await this.#lost("another node has taken the lease");
    else if (!this.#lease.isValid) await this.#lost(renewed.error.message);
  }

  async #renewAlways(address: HostPort): Promise<void> {
    const pauseMs = Math.min(LONGEST_RENEWAL_MS, this.#data.cluster.leadLeaseMs / RENEWALS_PER_LEASE);
    for (;;) {
      await sleep(this.#machine.clock, pauseMs);
      // If the process was suspended for longer than the lease, it ends here at the latest.
      if (!this.#lease.isValid) await this.#lost("it was not renewed in time");
      await this.#renew(address);
    }
  }

  /** Ends the process at once, as a kill does, because its lease is lost and a newer lead may be working. */
  async #lost(reason: string): Promise<void> {
    this.#log.error("this node has lost the lease of the lead", { node: this.#data.cluster.node, reason });
    await this.#end(1);
  }

  async #giveBack(): Promise<void> {
    const { epoch } = this.#data;
    const given = await this.#table.giveBack(epoch);
    if (!given.ok) this.#log.warn("the lease of the lead cannot be given back", { reason: given.error.message });
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    await this.#lead?.close(GRACE_MS);
    await this.#giveBack();
    await this.#end(0);
  }

  async #end(code: number): Promise<never> {
    await sleep(this.#machine.clock, LOG_MS);
    process.exit(code);
  }
}

function startLeadProcess(): void {
  let lead: LeadProcess | undefined;
  const failed = (error: unknown): void => {
    process.stderr.write(`nuthatch: the lead failed: ${errorMessage(error)}\n`);
    process.exit(1);
  };
  const local: LeadProcessMethods = {
    begin(data) {
      lead = new LeadProcess(data, channel.remote, thisMachine);
      void lead.start().catch(failed);
    },
    storeNews: (news) => lead?.tellStores(news),
    close: () => void lead?.close().catch(failed),
  };
  const channel = new Channel(portOfProcess(process), local, LEAD_PARENT);
}

if (process.send !== undefined) {
  followParent();
  startLeadProcess();
}
