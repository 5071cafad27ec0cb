import type { Socket } from "node:net";
import { type ClusterOptions, hostPortText } from "../../../configuration/cluster-options.ts";
import { codeOf, errorMessage } from "../../../lib/error-code.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import { atMost } from "../../../lib/time/at-most.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { sleep } from "../../../lib/time/sleep.ts";
import type { PostgresTarget } from "../../../state/postgres/postgres-url.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import type { StartRefusal } from "../../process/process-methods.ts";
import type { StoreNewsExchange } from "../../process/store-news-exchange.ts";
import type { LocalRenderers } from "../../server/renderers/local-renderers.ts";
import { connectToNode } from "../link/connections.ts";
import type { LeadData } from "../link/lead-methods.ts";
import { type LeadRow, LeadTable } from "../link/lead-table.ts";
import { Lease } from "../link/lease.ts";
import { type LinkVersion, ownLinkVersion } from "../link/link-version.ts";
import type { NodeHello, NodeMethods } from "../link/node-methods.ts";
import type { RendererHostMethods } from "../link/renderer-messages.ts";
import type { StoreChanges } from "../link/store-changes.ts";
import { HostedRenderers } from "./hosted-renderers.ts";
import { LeadChild } from "./lead-child.ts";
import type { LeadLink } from "./lead-link.ts";

export interface MembershipParts {
  readonly cluster: ClusterOptions;
  readonly clock: Clock;
  readonly disk: Pick<Disk, "readFileSync">;
  readonly target: PostgresTarget;
  readonly hello: Omit<NodeHello, keyof LinkVersion | "renderers" | "isDraining" | "isLeaving">;
  readonly link: LeadLink;
  readonly methods: Omit<NodeMethods, keyof RendererHostMethods>;
  readonly renderers: LocalRenderers;
  /** Returns the stores of this node with the changes that the lead has sent. */
  readonly storesWith: (changes: StoreChanges) => readonly StoreOptions[];
  /** Resolves when the state that the lead has sent is in force. */
  readonly begun: () => Promise<void>;
  /** Returns the data with which a lead's process starts. */
  readonly leadData: (epoch: number) => LeadData;
  readonly storeNews: StoreNewsExchange;
  readonly log: Logger;
}

/** The outcome of the first attempts to join. `waiting`: later attempts may succeed. A refusal: they cannot. */
type Joining = { readonly kind: "joined" | "waiting" } | StartRefusal;

/** The pause between two attempts to find the lead or to become the lead. */
const PAUSE_MS = 200;
const BEATS_PER_LEASE = 5;
const RENEWALS_PER_LEASE = 5;
/** A lead whose start takes longer hangs: another node may do better. */
const LEASES_OF_START = 10;
/** A node that has not joined within this time counts as started, and names at `/readyz` the reason for its wait. */
const FIRST_MS = 5_000;

/** How long a closing node waits for the database. */
const FORGET_MS = 2_000;

/** The outcome of an attempt to join. `dead`: the lead has ended although its lease has not. */
type Reached = { readonly kind: "joined"; readonly socket: Socket } | { readonly kind: "dead" | "waiting" };

/**
 * The membership of a node in its cluster. It finds and joins the lead, renews the node's lease, and takes the lead if
 * no node has it.
 */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #table: LeadTable;
  readonly #lease: Lease;
  #lead: LeadChild | undefined;
  #why = "starting";
  #isClosing = false;
  #isDraining = false;
  #isLeaving = false;
  #leads = false;
  /** How many times this node has taken the lead. */
  takeovers = 0;
  /** Gives the lease back. Resolves to whether the lead has acknowledged that. */
  #leave: (() => Promise<boolean>) | undefined;
  #retire: (() => Promise<void>) | undefined;
  #report: ((joining: Joining) => void) | undefined;
  /** The outcome of the first attempts to join. */
  readonly first: Promise<Joining>;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    const { cluster, clock, disk, target, hello } = parts;
    this.#table = new LeadTable(target, {
      instance: hello.instance,
      name: cluster.node,
      leaseMs: cluster.leadLeaseMs,
      clock,
      disk,
    });
    this.#lease = new Lease(cluster.nodeLeaseMs, clock.monotonicNow);
    this.first = new Promise((resolve) => {
      this.#report = resolve;
    });
  }

  /** Why this node must not answer. Undefined if it has a lease. */
  get cutOff(): string | undefined {
    return this.#lease.isValid ? undefined : `this node has no lease of the lead: ${this.#why}`;
  }

  /** The remaining time of the lease, ms. 0 if the node is cut off. */
  get leaseLeftMs(): number {
    return this.#lease.leftMs;
  }

  /** Whether the lease was granted by the lead beside this node. */
  get leads(): boolean {
    return this.#leads && this.#lease.isValid;
  }

  /** Joins, and joins again whenever the connection is lost, until `close`. */
  async run(): Promise<void> {
    const late = this.#parts.clock.after(FIRST_MS, () => this.#report?.({ kind: "waiting" }));
    void this.first.then(() => late.cancel());
    while (!this.#isClosing) {
      const socket = await this.#attempt();
      if (socket === undefined) await sleep(this.#parts.clock, PAUSE_MS);
      else await this.#stay(socket);
    }
  }

  async #attempt(): Promise<Socket | undefined> {
    const looked = await this.#table.look();
    if (!looked.ok) {
      const { kind, message } = looked.error;
      this.#why = message;
      this.#report?.(kind === "refused" ? { kind: "refused", message, isConfiguration: true } : { kind: "waiting" });
      return undefined;
    }
    const row = looked.value;
    const reached = await this.#reach(row);
    if (reached.kind === "joined") return reached.socket;
    if (reached.kind === "dead" || row.isExpired) await this.#take(row, reached.kind === "dead");
    return undefined;
  }

  async #reach(row: LeadRow): Promise<Reached> {
    if (row.epoch === 0 || row.instance === "") return { kind: "waiting" };
    if (row.address === undefined) {
      this.#why = `node ${row.name} begins to lead`;
      // The lead has not granted a lease yet, so a takeover misleads no node.
      return { kind: row.isConnected ? "waiting" : "dead" };
    }
    let socket: Socket;
    try {
      socket = await connectToNode(row.address, this.#parts.cluster.secret);
    } catch (error) {
      this.#why = `node ${row.name} at ${hostPortText(row.address)} does not answer: ${String(error)}`;
      // A firewall may refuse connections to a running lead. Its connection to PostgreSQL ends only with its process.
      return { kind: codeOf(error) === "ECONNREFUSED" && !row.isConnected ? "dead" : "waiting" };
    }
    return this.#join(socket, row);
  }

  async #join(socket: Socket, row: LeadRow): Promise<Reached> {
    const { link, methods, begun, hello, cluster, renderers, log } = this.#parts;
    const hosted: HostedRenderers = new HostedRenderers(renderers, () => channel);
    const channel: ReturnType<LeadLink["open"]> = link.open(socket, {
      ...methods,
      startRenderer: (id, nice) => hosted.startRenderer(id, nice),
      toRenderer: (id, message) => hosted.toRenderer(id, message),
      killRenderer: (id) => hosted.killRenderer(id),
      configureRenderers: (changes) => renderers.configureStores(this.#parts.storesWith(changes)),
    });
    let lost = "the connection has ended";
    socket.once("error", (error) => {
      lost = error.message;
    });
    socket.once("close", () => {
      hosted.killAll();
      link.lose(channel, lost);
    });
    const late = this.#parts.clock.after(cluster.nodeLeaseMs, () => socket.destroy());
    const sentMs = this.#parts.clock.monotonicNow();
    try {
      const welcome = await channel.call("join", {
        ...hello,
        ...ownLinkVersion(),
        renderers: renderers.most,
        isDraining: this.#isDraining || this.#isLeaving,
        isLeaving: this.#isLeaving,
      });
      if (welcome.kind === "joined" && welcome.instance === row.instance) {
        this.#mayStore(sentMs, welcome.leadLeaseMs);
        await begun();
        this.#lease.granted(sentMs);
        link.use(channel);
        this.#leads = row.instance === hello.instance;
        // A lead that cannot be reached has given up the renders of this node.
        this.#retire = async () => void (await channel.call("retire").catch(() => undefined));
        // The node received SIGTERM during the request to join.
        if (this.#isLeaving) void this.#retire();
        this.#leave = () =>
          channel.call("leave").then(
            () => true,
            () => false,
          );
        void this.#beat(channel, socket, (why) => {
          lost = why;
          socket.destroy();
        });
        log.info("this node has joined the cluster", { node: cluster.node, lead: row.name });
        this.#report?.({ kind: "joined" });
        return { kind: "joined", socket };
      }
      socket.destroy();
      if (welcome.kind === "joined") return { kind: "dead" };
      this.#why = `node ${row.name}: ${welcome.reason}`;
      if (welcome.kind === "refused")
        this.#report?.({
          kind: "refused",
          message: `the cluster refuses this node: ${welcome.reason}`,
          isConfiguration: true,
        });
      return { kind: "waiting" };
    } catch (error) {
      socket.destroy();
      this.#why = `node ${row.name} does not answer: ${String(error)}`;
      return { kind: "waiting" };
    } finally {
      late.cancel();
    }
  }

  /** Renews the lease until the connection is lost. */
  async #beat(channel: ReturnType<LeadLink["open"]>, socket: Socket, end: (why: string) => void): Promise<void> {
    const pauseMs = this.#parts.cluster.nodeLeaseMs / BEATS_PER_LEASE;
    const silent = this.#parts.clock.every(pauseMs, () => {
      if (!this.#lease.isValid) end("the lead does not answer");
    });
    try {
      while (!socket.destroyed) {
        await sleep(this.#parts.clock, pauseMs);
        const sentMs = this.#parts.clock.monotonicNow();
        const leadLeaseMs = await channel.call("beat");
        if (leadLeaseMs > 0) {
          this.#lease.granted(sentMs);
          this.#mayStore(sentMs, leadLeaseMs);
        } else end("the lead grants no lease");
      }
    } catch (error) {
      // The "close" event reports a lost connection.
      if (!socket.destroyed) end(`the lead cannot renew the lease: ${errorMessage(error)}`);
    } finally {
      silent.cancel();
    }
  }

  /** Permits renderers of this node to store while both this node's lease and the lead's lease are valid. */
  #mayStore(sentMs: number, leadLeaseMs: number): void {
    const { renderers, cluster } = this.#parts;
    const leftMs = sentMs + Math.min(leadLeaseMs, cluster.nodeLeaseMs) - this.#parts.clock.monotonicNow();
    renderers.storesUntil(this.#parts.clock.machineNow() + leftMs);
  }

  /** Resolves when the connection is lost. */
  async #stay(socket: Socket): Promise<void> {
    if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    this.#leave = undefined;
    this.#retire = undefined;
    this.#leads = false;
    if (this.#isClosing) return;
    this.#why = "the connection to the lead was lost";
    this.#parts.log.warn("this node has lost the lead", { node: this.#parts.cluster.node });
  }

  async #take({ epoch: seen, instance: before, name }: LeadRow, isDead: boolean): Promise<void> {
    const { cluster, leadData, storeNews, log } = this.#parts;
    if (this.#lead !== undefined || this.#isClosing || this.#isDraining) return;
    const taken = await this.#table.take(seen, isDead);
    if (!taken.ok || taken.value === undefined) return;
    const epoch = taken.value;
    this.takeovers++;
    if (before !== "") log.warn("this node takes the lead", { node: cluster.node, epoch, before: name, ended: isDead });
    this.#lead = new LeadChild(
      leadData(epoch),
      {
        refused: (refusal) => {
          this.#why = refusal.message;
          this.#report?.(refusal);
        },
        ended: () => {
          this.#lead = undefined;
          // All parts of the lead have ended, so the next lead need not wait until the lease ends.
          if (!this.#isClosing) void this.#table.giveBack(epoch);
        },
      },
      storeNews,
      log,
    );
    void this.#renewAtStart(epoch);
  }

  /**
   * Renews the lease until the lead's process beside this node renews it. On a busy machine, or with much to load, that
   * process starts more slowly than the lease lasts. Without the renewal the nodes would take the lead from each other
   * for ever.
   */
  async #renewAtStart(epoch: number): Promise<void> {
    const { leadLeaseMs } = this.#parts.cluster;
    const untilMs = this.#parts.clock.monotonicNow() + LEASES_OF_START * leadLeaseMs;
    for (const lead = this.#lead; this.#parts.clock.monotonicNow() < untilMs; ) {
      await sleep(this.#parts.clock, leadLeaseMs / RENEWALS_PER_LEASE);
      if (this.#lead !== lead || this.#isClosing) return;
      const renewed = await this.#table.renewAtStart(epoch);
      if (renewed.ok && !renewed.value) return;
    }
  }

  /** Whether the node is drained. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Begins or ends the drain: a drained node hands over the lead, and does not take it. A restart ends the drain. */
  drain(drained: boolean): void {
    this.#isDraining = drained;
    if (drained) void this.#lead?.close();
  }

  /** Whether the node is ending: it finishes its requests. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /**
   * Begins the end of the node, also for every later lead. Resolves when no render of the lead is left on this
   * node, or after the time.
   */
  async retire(graceMs: number): Promise<void> {
    this.#isLeaving = true;
    await atMost(this.#parts.clock, graceMs, this.#retire?.() ?? Promise.resolve());
  }

  /** Gives the lease back: the node no longer serves. Ends the lead in order if this node has it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    // If no lead acknowledges the leave, the next lead would record this node as lost.
    if ((await this.#leave?.()) !== true)
      await atMost(
        this.#parts.clock,
        FORGET_MS,
        this.#table.forgetNode({ name: this.#parts.cluster.node, instance: this.#parts.hello.instance }),
      );
    this.#lease.end();
    await this.#lead?.close();
    this.#table.close();
  }
}
