import type { ClusterOptions } from "../../../configuration/cluster-options.ts";
import type { Configuration } from "../../../configuration/configuration.ts";
import { storeLocationsById } from "../../../configuration/store-locations.ts";
import type { Readiness } from "../../../http/readiness.ts";
import { localMethods } from "../../../lib/process/method-table.ts";
import { thisMachine } from "../../../lib/this-machine.ts";
import { lockTilesDirectory } from "../../coordinator/claimed-state.ts";
import { StoreWatch } from "../../coordinator/store-watch.ts";
import { loadDiskTiers } from "../../process/configured-stores.ts";
import { createLogger } from "../../process/logger.ts";
import { SERVING_PROCESS } from "../../process/process-methods.ts";
import { dataDirectoryFault } from "../../process/start-faults.ts";
import { StoreNewsExchange } from "../../process/store-news-exchange.ts";
import type { LoadInput } from "../../server/load-in-thread.ts";
import { ForkedRenderers, LocalRenderers } from "../../server/renderers/local-renderers.ts";
import {
  listen,
  logNotices,
  makeStoreDirectories,
  openStoresToServe,
  type RunningServer,
  StartError,
} from "../../server/start.ts";
import { Serving } from "../../serving/serving.ts";
import type { NodeMethods } from "../link/node-methods.ts";
import type { RendererHostMethods } from "../link/renderer-messages.ts";
import { withStoreChanges } from "../link/store-changes.ts";
import { LeadLink } from "./lead-link.ts";
import { LeadState } from "./lead-state.ts";
import { Membership } from "./membership.ts";

/** Time for tiles in flight at a shutdown. */
const GRACE_MS = 25_000;
/** How often a node checks whether it can use its stores. */
const LOOK_MS = 1_000;

/**
 * Starts one node of a cluster. The node answers HTTP, and sends all requests except hits to the lead. Beside one of
 * the nodes runs the process of the lead.
 * @throws StartError
 */
export async function startNode(own: Configuration, cluster: ClusterOptions, input: LoadInput): Promise<RunningServer> {
  const log = createLogger(thisMachine.clock);
  makeStoreDirectories(own, log);
  const lock = claim(own);
  const instance = thisMachine.random.uuid();
  logNotices(own, log);
  if (own.state.type !== "postgres") throw new Error("a cluster has its state in PostgreSQL");
  const { target } = own.state;
  const link = new LeadLink(thisMachine.clock, log);
  const storeNews = new StoreNewsExchange();
  const core = link.core();
  const stores = await openStoresToServe(own, instance, storeNews);
  const storeWatch = new StoreWatch(
    () => stores,
    () => {},
    () => {},
    thisMachine.clock,
  );
  const looks = thisMachine.clock.every(LOOK_MS, () => void storeWatch.look()).unref();
  const serving: Serving = new Serving({
    configuration: own,
    eventsId: instance,
    stores,
    diskTiers: (await loadDiskTiers(own.stores))?.(own, thisMachine, log),
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
        return unready(membership, cluster, storeWatch.look());
      },
    },
    machine: thisMachine,
    log,
  });
  const leadState = new LeadState(own, serving, log);
  const methods: Omit<NodeMethods, keyof RendererHostMethods> = {
    ...localMethods(() => serving, SERVING_PROCESS),
    ...leadState.methods,
    closing: async () => link.pause(),
    drain: async (drained) => membership.drain(drained),
  };
  const membership: Membership = new Membership({
    cluster,
    clock: thisMachine.clock,
    disk: thisMachine.disk,
    target,
    hello: { instance, name: cluster.node, stores: storeLocationsById(own) },
    link,
    methods,
    storesWith: (changes) => withStoreChanges(own, changes),
    // No renderer may store tiles before this node has a lease.
    renderers: new LocalRenderers(
      { stores: own.stores, fsync: own.store.fsync, instance, storesUntilMs: 0 },
      cluster.node,
      storeNews,
      new ForkedRenderers(log),
    ),
    begun: () => leadState.applied,
    leadData: (epoch) => ({ configuration: own, cluster, target, input, instance, epoch }),
    storeNews,
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
    configuration: () => leadState.configuration,
    reload: () => core.reload(),
    async close() {
      if (isClosing) return;
      isClosing = true;
      looks.cancel();
      await Promise.all([membership.retire(GRACE_MS), serving.close(GRACE_MS)]);
      await membership.close();
      lock.release();
      log.info("closed");
    },
  };
}

/**
 * Returns why the node itself is not ready, independent of the lead. Undefined if it is ready. `storeFault` says why
 * this machine cannot use a store.
 */
function unready(
  { cutOff, isDraining, isLeaving }: Pick<Membership, "cutOff" | "isDraining" | "isLeaving">,
  cluster: ClusterOptions,
  storeFault: string | undefined,
): Readiness | undefined {
  if (cutOff !== undefined)
    return { ready: false, reason: cutOff, ...(cluster.cutOff === "serve" ? {} : { isStarting: true }) };
  if (isLeaving) return { ready: false, reason: "shutting down" };
  if (isDraining) return { ready: false, reason: "draining" };
  return storeFault === undefined ? undefined : { ready: false, reason: storeFault };
}

/** @throws StartError */
function claim({ dataDir }: Configuration): ReturnType<typeof lockTilesDirectory> {
  try {
    return lockTilesDirectory(dataDir, thisMachine.disk);
  } catch (error) {
    throw new StartError(dataDirectoryFault(error, dataDir), { cause: error, isConfiguration: false });
  }
}
