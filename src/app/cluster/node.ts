import { randomUUID } from "node:crypto";
import type { ClusterOptions } from "../../config/cluster-options.ts";
import type { Configuration } from "../../config/configuration.ts";
import { withLayer } from "../../config/layer-update.ts";
import type { Readiness } from "../../http/readiness.ts";
import { localMethods } from "../../lib/channel.ts";
import { loadStoreKinds } from "../../store/open-store.ts";
import { lockTilesDirectory } from "../claimed-state.ts";
import { loadDiskTiers, openConfiguredStores, storeLocationsById } from "../configured-stores.ts";
import type { LoadInput } from "../load-in-thread.ts";
import { LocalRenderers } from "../local-renderers.ts";
import { createLogger } from "../logger.ts";
import { SERVING_PROCESSES, type ServingProcesses } from "../process-methods.ts";
import { Serving } from "../serving.ts";
import { listen, makeStoreDirectories, type RunningServer, StartError } from "../start.ts";
import { dataDirectoryFault } from "../start-faults.ts";
import { LeadLink } from "./lead-link.ts";
import { Membership } from "./membership.ts";
import { type NodeMethods, nodeConfiguration } from "./node-methods.ts";
import { NodeNames } from "./node-names.ts";
import type { RendererHostMethods } from "./renderer-messages.ts";
import { withStoreChanges } from "./store-changes.ts";

/** Tiles in flight at a shutdown are finished within this time. */
const GRACE_MS = 25_000;

/**
 * Builds one node of a cluster: it answers HTTP, and asks the lead for everything but a hit. One of the nodes has the lead
 * in a process beside it.
 * @throws StartError
 */
export async function startNode(own: Configuration, cluster: ClusterOptions, input: LoadInput): Promise<RunningServer> {
  const log = createLogger();
  makeStoreDirectories(own);
  const lock = claim(own);
  const instance = randomUUID();
  for (const warning of own.warnings) log.warn(warning);
  if (own.state.type !== "postgres") throw new Error("a cluster has its state in PostgreSQL");
  const { target } = own.state;
  let configuration = own;
  const link = new LeadLink(log);
  const core = link.core();
  const serving = new Serving({
    configuration: own,
    eventsId: instance,
    stores: openConfiguredStores(own, instance, await loadStoreKinds(own.stores), "server"),
    diskTiers: (await loadDiskTiers(own.stores))?.(own, log),
    core,
    node: {
      name: cluster.node,
      get leads() {
        return membership.leads;
      },
      get leaseLeftMs() {
        return membership.leaseLeftMs;
      },
      get takeovers() {
        return membership.takeovers;
      },
      get unready() {
        return unready(membership, cluster);
      },
    },
    log,
  });
  const names = new NodeNames();
  let applied = Promise.resolve();
  /** Applies changes of the configuration one after the other. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    applied = applied.catch(() => undefined).then(work);
    return applied;
  };
  const configure = async (next: Configuration): Promise<void> => {
    configuration = next;
    names.configure(next.stores);
    await serving.configure(next);
  };
  const methods: Omit<NodeMethods, keyof RendererHostMethods> = {
    ...localMethods<ServingProcesses>(() => serving, SERVING_PROCESSES),
    applied: () => applied,
    closing: () => link.pause(),
    configure: (shared) => inTurn(() => configure(nodeConfiguration(shared, own))),
    configureLayer: (update) => inTurn(() => configure(withLayer(configuration, update))),
    begin(state, eventsId) {
      inTurn(async () => {
        configuration = nodeConfiguration(state.configuration, own);
        names.configure(configuration.stores);
        await serving.restart({ ...state, configuration }, eventsId);
      }).catch((error: unknown) => log.error("the state of the lead cannot be applied", { error: String(error) }));
    },
    drain: (drained) => membership.drain(drained),
    names(id, text) {
      const isFirst = names.replace(configuration.stores, id, text);
      // Until now tiles were read as if nothing had ever been truncated in the store.
      if (isFirst) for (const { name } of configuration.layers) serving.clear(name);
    },
  };
  const membership = new Membership({
    cluster,
    target,
    hello: { instance, name: cluster.node, stores: storeLocationsById(own) },
    link,
    methods,
    storesWith: (changes) => withStoreChanges(own, changes),
    // None may store before this node has a lease.
    renderers: new LocalRenderers(
      { stores: own.stores, fsync: own.store.fsync, instance, storesUntilMs: 0 },
      cluster.node,
      log,
    ),
    begun: () => applied,
    leadData: (epoch) => ({ configuration: own, cluster, target, input, instance, epoch }),
    log,
  });
  const address = await listen(serving, own);
  log.info("listening", { address, node: cluster.node, dataDir: own.dataDir });
  void membership.run();
  const first = await membership.first;
  if (first.kind === "refused") {
    await membership.close();
    throw new StartError(first.message, first);
  }
  let isClosing = false;
  return {
    address,
    configuration: () => configuration,
    reload: () => core.reload(),
    async close() {
      if (isClosing) return;
      isClosing = true;
      void serving.ready({ ready: false, reason: "shutting down" });
      await Promise.all([serving.close(GRACE_MS), membership.retire(GRACE_MS)]);
      await membership.close();
      lock.release();
      log.info("closed");
    },
  };
}

/** Returns why the node is not ready, whatever the lead says; undefined: it can be. */
function unready(
  { cutOff, isDraining }: Pick<Membership, "cutOff" | "isDraining">,
  cluster: ClusterOptions,
): Readiness | undefined {
  if (cutOff === undefined) return isDraining ? { ready: false, reason: "draining" } : undefined;
  return { ready: false, reason: cutOff, ...(cluster.cutOff === "serve" ? {} : { isStarting: true }) };
}

/** @throws StartError */
function claim({ dataDir }: Configuration): ReturnType<typeof lockTilesDirectory> {
  try {
    return lockTilesDirectory(dataDir);
  } catch (error) {
    throw new StartError(dataDirectoryFault(error, dataDir), { cause: error, isConfiguration: false });
  }
}
