import type { ObjectChange } from "../../configuration/gwc/configured-object.ts";
import { layersAfter } from "../../configuration/in-force/layer-update.ts";
import {
  deleteRemovals,
  recordRemovals,
  storeChanges,
  truncateRemovedLayers,
} from "../../configuration/keep/stored-objects.ts";
import { operationsOf } from "../../coordinator/operations.ts";
import { catalogueOf, changedGridSets } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import { asLayerName } from "../../layer/tile-set.ts";
import { Channel } from "../../lib/process/channel.ts";
import { collectGarbage } from "../../lib/process/collect-garbage.ts";
import type { Port } from "../../lib/process/message.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { ok } from "../../lib/result.ts";
import { LEDGER_ACCESS } from "../../render/ledger-access.ts";
import { COORDINATOR_HOST, type CoordinatorMethods, SERVER } from "../process/process-methods.ts";
import { type CoordinatorData, CoordinatorHost, type CoordinatorSelf } from "./coordinator-host.ts";

type ConfigurationMethods = Pick<
  CoordinatorMethods,
  "moving" | "moved" | "configure" | "configureLayer" | "storeObjects" | "truncateRemoved"
>;

/** Returns the methods for changes of the configuration. */
function configurationMethods(host: CoordinatorHost): ConfigurationMethods {
  /** Truncates the tiles of removed layers whose names are used again, if their truncation has failed so far. */
  const truncateEarlier = async (changes: readonly ObjectChange[]): Promise<void> => {
    const { truncations } = host.coordinator.services;
    if (host.db === undefined) return;
    for (const { kind, name } of changes)
      if (kind === "layer") await truncateRemovedLayers(host.db, truncations, null, asLayerName(name));
  };
  return {
    async storeObjects(changes) {
      await truncateEarlier(changes);
      const { db, objectsFile } = host;
      if (db === undefined) return ok(null);
      if (objectsFile === undefined) {
        storeChanges(db, changes);
        return ok(null);
      }
      recordRemovals(db, changes);
      const written = await objectsFile.write(changes);
      // Nothing was written: the layers stay.
      if (!written.ok)
        deleteRemovals(
          db,
          changes.flatMap(({ kind, name }) => (kind === "layer" ? [name] : [])),
        );
      return written;
    },
    async truncateRemoved(layer, by) {
      const { truncations } = host.coordinator.services;
      if (host.db !== undefined) await truncateRemovedLayers(host.db, truncations, by, layer);
    },
    async moving({ layers, stores }) {
      const storeOf = new Map(layers.map(({ name, store }) => [name, store ?? stores[0]?.id]));
      await host.begun?.services.copies.moving((layer) => storeOf.get(layer));
    },
    moved: () => host.begun?.services.copies.moved(),
    async configure(next) {
      const before = host.catalogue;
      await host.take(next);
      const changed = changedGridSets(before, catalogueOf(next.layers));
      const abortedJobs = (await host.begun?.reconfigured(changed)) ?? 0;
      if (next.geowebcache?.read !== undefined) host.objectsFile?.wasRead(next.geowebcache.read);
      return { abortedJobs };
    },
    async configureLayer(update) {
      const before = host.catalogue.layers.get(update.name);
      await host.take({ ...host.configuration, layers: layersAfter(host.configuration, update) });
      const after = host.catalogue.layers.get(update.name);
      const ofLayer = (layer: Layer | undefined) => catalogueOf(layer === undefined ? [] : [layer]);
      await host.begun?.reconfigured(changedGridSets(ofLayer(before), ofLayer(after)), ofLayer(after));
    },
  };
}

/** Starts the coordinator behind a port to the server. */
export function startCoordinator(port: Port, data: CoordinatorData, self: CoordinatorSelf): void {
  const host = new CoordinatorHost(() => channel.remote, data, self);
  const methods: CoordinatorMethods = {
    ...localMethods(() => host, COORDINATOR_HOST),
    used: (report) => host.begun?.used(report),
    collectGarbage,
    async stop(graceMs) {
      await host.begun?.stop(graceMs);
    },
    ...configurationMethods(host),
    ...operationsOf(() => host.coordinator.services),
    // Until the coordinator has begun, tiles are rendered and served but not stored.
    ...localMethods(() => host.begun?.userWrites, LEDGER_ACCESS),
    lost(tileSet, rect) {
      // The put may still arrive. Recorded first, so that the cells are counted again after that time.
      host.lostPut();
      host.begun?.userWrites.lost(tileSet, rect);
    },
    reserve: async (id, more) => (await host.begun?.userWrites.reserve(id, more)) ?? false,
  };
  const channel = new Channel(port, methods, SERVER, (method, error) => {
    host.begun?.services.metrics.countFailedNote();
    host.log.error("the coordinator could not process a message of the server", {
      method,
      error: String(error),
    });
  });
}
