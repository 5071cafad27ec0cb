import { hostname } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { changeLayer } from "../config/change-layer.ts";
import type { Configuration } from "../config/configuration.ts";
import type { ConfigurationInput, RunningConfiguration } from "../config/configuration-input.ts";
import { type LayerUpdate, withLayer } from "../config/layer-update.ts";
import { type ConfigurationProblem, problemText } from "../config/problem.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";
import { layerContent } from "../gwc/layer-content.ts";
import { servedTiles } from "../http/api/nodes/node-view.ts";
import { realClock, Throttle } from "../http/auth/throttle.ts";
import { catalogueOf, changedGridSets, changedLayers } from "../layer/catalogue.ts";
import { gridSetTag, layerTag } from "../layer/configuration-tag.ts";
import type { Logger } from "../lib/logger.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { ownVersion } from "../lib/version.ts";
import { storeTag } from "../store/store-configuration.ts";
import { directoryOf } from "../store/store-options.ts";
import type { Rendering } from "./build-rendering.ts";
import { relocatedLayers } from "./configured-stores.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import { updateMasks } from "./mask-updates.ts";
import { ObjectStore } from "./object-store.ts";
import { prepareStores } from "./prepare-stores.ts";
import type { ServerMethods, ServingProcesses } from "./process-methods.ts";
import { configurationChanges, mergeReloaded } from "./reloads.ts";
import type { Core } from "./serving.ts";
import { directoryFault } from "./store-faults.ts";
import type { Telemetry } from "./telemetry.ts";
import type { TrafficCollector } from "./traffic-collector.ts";

/** Loads the configuration that is to replace the one of the running server. */
export type LoadConfiguration = (
  running: RunningConfiguration,
  more: Pick<ConfigurationInput, "objects" | "changed">,
) => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;

export interface ServerSideParts {
  readonly coordinator: CoordinatorLink;
  readonly rendering: Rendering;
  readonly serving: ServingProcesses;
  readonly traffic: Pick<TrafficCollector, "view" | "rates">;
  readonly telemetry: Telemetry | undefined;
  readonly load: LoadConfiguration;
  readonly log: Logger;
}

/** The rest of the server behind the processes that answer HTTP, in the server's own process. */
export interface ServerSide extends Core {
  /** Returns the configuration in force. */
  readonly configuration: () => Configuration;
  readonly withObjects: ServerMethods["withObjects"];
}

/** Builds the server's side. `serving` is called only after this function has returned. */
export function buildServerSide(initial: Configuration, parts: ServerSideParts): ServerSide {
  const { coordinator, rendering, serving, traffic, telemetry, load, log } = parts;
  const sinceMs = Date.now();
  const throttle = new Throttle(realClock);
  let configuration = initial;
  /** Applies a configuration to the parts of the server. Returns the keys whose change needs a restart. */
  const applyHere = async (next: Configuration): Promise<readonly string[]> => {
    const { merged, ignored } = mergeReloaded(next, configuration);
    configuration = merged;
    rendering.renders.configure(merged.layers);
    rendering.renderers.configure(merged.layers, merged.stores);
    await serving.configure(merged);
    return ignored;
  };
  /** Applies a configuration to all parts. Returns the keys whose change needs a restart. */
  const apply = async (next: Configuration): Promise<readonly string[]> => {
    const removed = next.layers.length === 0 ? configuration.layers.length : 0;
    const before = configuration;
    const { ignored, abortedJobs } = await withMoves(mergeReloaded(next, before).merged, async () => ({
      ignored: await applyHere(next),
      ...(await coordinator.channel.call("configure", configuration)),
    }));
    const merged = configuration;
    const isChanged = !isDeepStrictEqual(merged, before);
    if (isChanged) serving.publish({ kind: "configuration", layers: merged.layers.length });
    if (removed > 0) log.warn("the reload has removed all layers", { layers: removed, abortedJobs });
    return ignored;
  };
  /** Applies the change of one layer to all parts. */
  const applyLayer = async (update: LayerUpdate): Promise<void> => {
    configuration = withLayer(configuration, update);
    const { layers } = configuration;
    rendering.renders.configure(layers);
    rendering.renderers.configureLayer(layers, update.name, update.made?.layer);
    await serving.configureLayer(update);
    await coordinator.channel.call("configureLayer", update);
    serving.publish({ kind: "configuration", layers: layers.length });
  };
  /** Returns whether a change may move tiles of a layer to another store, which needs a copy before. */
  const mayMove = ({ name, document }: ObjectChange): boolean => {
    if (configuration.stores.length < 2 || document === undefined) return false;
    const { store } = layerContent(document);
    const before = configuration.layers.find((layer) => layer.name === name);
    return before === undefined || before.store !== store;
  };
  /** Runs the work of a reload. Layers that move to another store are copied to the end before. */
  const withMoves = async <T>(next: Configuration, work: () => Promise<T>): Promise<T> => {
    if (next.stores.length < 2) return work();
    await coordinator.channel.call("moving", next);
    try {
      return await work();
    } finally {
      coordinator.channel.note("moved", []);
    }
  };
  const loadWith = (more: Pick<ConfigurationInput, "objects" | "changed">) =>
    load({ users: configuration.users.length, layers: configuration.layers.length }, more);
  const objectStore = new ObjectStore(coordinator, initial.geowebcache);
  const reloads = configurationChanges({
    objects: () => configuration.objects,
    load: loadWith,
    readsObjects: initial.geowebcache !== undefined,
    async apply(next) {
      const ignored = await apply(next);
      objectStore.applied(next.geowebcache);
      return ignored;
    },
    tagOf: ({ kind, name }) => {
      const { layers, gridSets, stores } = configuration;
      const layer = kind === "layer" ? layers.find((one) => one.name === name) : undefined;
      const gridSet = kind === "gridSet" ? gridSets.find(({ id }) => id === name) : undefined;
      const store = kind === "store" ? stores.find(({ id }) => id === name) : undefined;
      return (layer && layerTag(layer)) ?? (gridSet && gridSetTag(gridSet)) ?? (store && storeTag(store)) ?? null;
    },
    effectOf: (next) => {
      const before = configuration.layers;
      const whole = "made" in next ? withLayer(configuration, next) : next;
      const { layers: after } = whole;
      return {
        layers: [...new Set([...changedLayers(before, after), ...changedLayers(after, before)])],
        moved: changedGridSets(catalogueOf(before), catalogueOf(after)),
        relocated: relocatedLayers(configuration, whole),
      };
    },
    changeLayer: async (change) => (mayMove(change) ? undefined : changeLayer(configuration, change, process.env)),
    applyLayer,
    prepare: (next) => prepareStores(next, configuration, serving),
    store: (changes) => objectStore.store(changes),
    truncateRemoved: (layer, by) => coordinator.channel.call("truncateRemoved", layer, by),
    log,
  });
  return {
    configuration: () => configuration,
    operations: coordinator.channel,
    renders: telemetry?.traced(rendering.renders) ?? rendering.renders,
    reload: reloads.reload,
    changeObject: reloads.changeObject,
    previewObject: reloads.previewObject,
    updateMasks: (update) => updateMasks({ configuration, renders: rendering.renders, serving }, update),
    withObjects: (objects) =>
      // In turn: a reload that is running has read an older file.
      reloads.replace(async () => {
        if (configuration.geowebcache !== undefined) {
          log.warn("what was made over HTTP before is not used: the directory of GeoWebCache has the configuration", {
            objects: objects.length,
          });
          return ok(configuration);
        }
        const loaded = await loadWith({ objects });
        if (!loaded.ok) return refuse(loaded.error.map(problemText).join("\n"));
        for (const store of loaded.value.stores) {
          const fault = await directoryFault(directoryOf(store));
          if (fault !== undefined) log.warn("a store cannot be used", { store: store.id, error: fault });
        }
        await applyHere(loaded.value);
        return ok(configuration);
      }),
    compose: (composition, gone) => rendering.renderers.compose(composition, gone),
    used(report) {
      rendering.tilesRead();
      coordinator.channel.note("used", [report]);
    },
    traffic: (query) => traffic.view(query),
    trafficRates: () => traffic.rates(),
    upstreams: async () => rendering.upstreams(),
    nodes: async () => {
      const tiles = servedTiles((await serving.metrics()).tiles);
      const work = rendering.renderers.workOf();
      return [
        {
          name: hostname(),
          lead: true,
          state: "ready",
          sinceMs,
          lagMs: 0,
          leaseMs: null,
          version: ownVersion(),
          tiles,
          ...work,
        },
      ];
    },
    lead: async () => undefined,
    drainNode: async () => "alone",
    testLayer: (order, gone) => rendering.testLayer(order, gone),
    probeUpstream: (id, gone) => rendering.probeUpstream(id, gone),
    wrong: (sender) => throttle.wrong(sender),
    wrongUnhashed: (address) => throttle.wrongUnhashed(address),
    metrics: async () => ({ ...(await serving.metrics()), ...rendering.metrics() }),
  };
}
