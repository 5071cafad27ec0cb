import { hostname } from "node:os";
import { type Configuration, coordinatorConfiguration } from "../../configuration/configuration.ts";
import { changeLayer } from "../../configuration/in-force/change-layer.ts";
import { ConfigurationInForce, type LoadConfiguration } from "../../configuration/in-force/in-force.ts";
import { OPERATION_TABLE } from "../../coordinator/operations.ts";
import { servedTiles } from "../../http/api/nodes/node-view.ts";
import { Throttle } from "../../http/auth/throttle.ts";
import type { Machine } from "../../lib/machine.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { ownVersion } from "../../lib/process/version.ts";
import { ok } from "../../lib/result.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { overruledText } from "../../quota/configuration/quota-difference.ts";
import { USER_RENDERS } from "../../render/user-renders.ts";
import type { CalledByMembers, ServerMethods, ServingProcesses } from "../process/process-methods.ts";
import type { Telemetry } from "../process/telemetry.ts";
import { prepareEach, removeOldMarks } from "../serving/store-faults.ts";
import { type ConfiguredParts, configuredProcesses } from "./configured-processes.ts";
import { updateMasks } from "./mask-updates.ts";
import { prepareStores } from "./prepare-stores.ts";
import type { TrafficCollector } from "./traffic-collector.ts";

export interface ServerSideParts extends ConfiguredParts {
  readonly serving: ServingProcesses;
  readonly traffic: Pick<TrafficCollector, "view" | "rates">;
  readonly telemetry: Telemetry | undefined;
  readonly load: LoadConfiguration;
  readonly machine: Machine;
}

/** The methods of the main process that HTTP workers and nodes call. */
export interface ServerSide extends CalledByMembers {
  /** Returns the configuration in force. */
  readonly configuration: () => Configuration;
  readonly withObjects: ServerMethods["withObjects"];
}

/** Builds the server's side. `serving` is called only after this function has returned. */
export function buildServerSide(initial: Configuration, parts: ServerSideParts): ServerSide {
  const { coordinator, rendering, serving, traffic, telemetry, load, machine, log } = parts;
  const { clock } = machine;
  const since = isoTime(clock.now());
  const throttle = new Throttle(clock);
  const { methods } = coordinator;
  const renders = telemetry?.traced(rendering.renders) ?? rendering.renders;
  const inForce = new ConfigurationInForce(initial, {
    processes: configuredProcesses(parts),
    load,
    changeLayer: (current, change) => changeLayer(current, change, process.env),
    prepare: (next, current) => prepareStores(next, current, serving, machine),
    async prepareStored(next) {
      const made = next.stores.filter(({ id }) => !initial.stores.some((store) => store.id === id));
      prepareEach({ dataDir: initial.dataDir, stores: made }, machine, log);
      if (initial.cluster !== undefined) await removeOldMarks(next.stores);
    },
    store: (changes) => methods.storeObjects(changes),
    overruled: async () => {
      const [quota, overruled] = await Promise.all([methods.quota(), methods.overruledQuota()]);
      return overruled === null ? [] : [overruledText(overruled, quota)];
    },
    truncateRemoved: (layer, by) => methods.truncateRemoved(layer, by),
    log,
  });
  return {
    configuration: () => inForce.current,
    ...localMethods(() => methods, OPERATION_TABLE),
    ...localMethods(() => renders, USER_RENDERS),
    reload: () => inForce.reload(),
    changeObject: (change, by) => inForce.change(change, by),
    previewObject: (change) => inForce.preview(change),
    updateMasks: (update) =>
      updateMasks({ configuration: inForce.current, renders: rendering.renders, serving }, update),
    async withObjects(objects) {
      const taken = await inForce.takeStored(objects);
      return taken.ok ? ok(coordinatorConfiguration(taken.value)) : taken;
    },
    compose: (composition, gone) => rendering.renderers.compose(composition, gone),
    used(report) {
      rendering.tilesRead();
      methods.used(report);
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
