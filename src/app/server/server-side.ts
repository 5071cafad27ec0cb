import { hostname } from "node:os";
import { changeLayer } from "../../configuration/change-layer.ts";
import { type Configuration, coordinatorConfiguration } from "../../configuration/configuration.ts";
import type { ConfigurationInput, RunningConfiguration } from "../../configuration/configuration-input.ts";
import { type ConfigurationProblem, problemText } from "../../configuration/problem.ts";
import { servedTiles } from "../../http/api/nodes/node-view.ts";
import { realClock, Throttle } from "../../http/auth/throttle.ts";
import { ownVersion } from "../../lib/process/version.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { overruledText } from "../../quota/quota-difference.ts";
import type { ServerMethods, ServingProcesses } from "../process/process-methods.ts";
import type { Telemetry } from "../process/telemetry.ts";
import type { Core } from "../serving/serving.ts";
import { prepareEach, removeOldMarks } from "../serving/store-faults.ts";
import { updateMasks } from "./mask-updates.ts";
import { prepareStores } from "./prepare-stores.ts";
import { ConfigurationInForce, type ConfiguredParts } from "./reload/configuration-in-force.ts";
import { configurationChanges } from "./reload/reloads.ts";
import type { TrafficCollector } from "./traffic-collector.ts";

/** Loads the configuration that will replace the configuration of the running server. */
export type LoadConfiguration = (
  running: RunningConfiguration,
  more: Pick<ConfigurationInput, "objects" | "changed">,
) => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;

export interface ServerSideParts extends ConfiguredParts {
  readonly serving: ServingProcesses;
  readonly traffic: Pick<TrafficCollector, "view" | "rates">;
  readonly telemetry: Telemetry | undefined;
  readonly load: LoadConfiguration;
}

/** The methods of the main process that HTTP workers and nodes call. */
export interface ServerSide extends Core {
  /** Returns the configuration in force. */
  readonly configuration: () => Configuration;
  readonly withObjects: ServerMethods["withObjects"];
}

/** Builds the server's side. `serving` is called only after this function has returned. */
export function buildServerSide(initial: Configuration, parts: ServerSideParts): ServerSide {
  const { coordinator, rendering, serving, traffic, telemetry, load, log } = parts;
  const since = isoTime(Date.now());
  const throttle = new Throttle(realClock);
  const inForce = new ConfigurationInForce(initial, parts);
  const loadWith = (more: Pick<ConfigurationInput, "objects" | "changed">) =>
    load({ users: inForce.current.users.length, layers: inForce.current.layers.length }, more);
  const reloads = configurationChanges({
    objects: () => inForce.current.objects,
    load: loadWith,
    readsObjects: initial.geowebcache !== undefined,
    apply: (next) => inForce.apply(next),
    tagOf: (object) => inForce.tagOf(object),
    effectOf: (next) => inForce.effectOf(next),
    changeLayer: async (change) =>
      inForce.mayMove(change) ? undefined : changeLayer(inForce.current, change, process.env),
    warnings: () => inForce.current.warnings,
    applyLayer: (update) => inForce.applyLayer(update),
    prepare: (next) => prepareStores(next, inForce.current, serving),
    store: (changes) => coordinator.channel.call("storeObjects", changes),
    overruled: async () => {
      const { channel } = coordinator;
      const [quota, overruled] = await Promise.all([channel.call("quota"), channel.call("overruledQuota")]);
      return overruled === null ? [] : [overruledText(overruled, quota)];
    },
    truncateRemoved: (layer, by) => coordinator.channel.call("truncateRemoved", layer, by),
    log,
  });
  return {
    configuration: () => inForce.current,
    operations: coordinator.channel,
    renders: telemetry?.traced(rendering.renders) ?? rendering.renders,
    reload: reloads.reload,
    changeObject: reloads.changeObject,
    previewObject: reloads.previewObject,
    updateMasks: (update) =>
      updateMasks({ configuration: inForce.current, renders: rendering.renders, serving }, update),
    withObjects: (objects) =>
      // In the queue of changes: a running reload may have read an older file.
      reloads.replace(async () => {
        if (inForce.current.geowebcache !== undefined) {
          log.warn(
            "objects that were made over HTTP are not used: the directory of GeoWebCache has the configuration",
            {
              objects: objects.length,
            },
          );
          return ok(coordinatorConfiguration(inForce.current));
        }
        const loaded = await loadWith({ objects });
        if (!loaded.ok) return refuse(loaded.error.map(problemText).join("\n"));
        const made = loaded.value.stores.filter(({ id }) => !initial.stores.some((store) => store.id === id));
        prepareEach({ dataDir: initial.dataDir, stores: made }, log);
        if (initial.cluster !== undefined) await removeOldMarks(loaded.value.stores);
        await inForce.applyHere(loaded.value);
        return ok(coordinatorConfiguration(inForce.current));
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
      const work = { ...rendering.renderers.workOf(), tiles: servedTiles((await serving.metrics()).tiles) };
      return [
        { name: hostname(), lead: true, state: "ready", since, lag: 0, lease: null, version: ownVersion(), work },
      ];
    },
    lead: async () => undefined,
    drainNode: async () => "alone",
    removeNode: async () => "alone",
    testLayer: (order, gone) => rendering.testLayer(order, gone),
    probeUpstream: (id, gone) => rendering.probeUpstream(id, gone),
    wrong: (sender) => throttle.wrong(sender),
    wrongUnhashed: (address) => throttle.wrongUnhashed(address),
    metrics: async () => ({ ...(await serving.metrics()), ...rendering.metrics() }),
  };
}
