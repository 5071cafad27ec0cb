import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../store.ts";
import { FileInventory } from "./internal/file-inventory.ts";
import { FilePaths, type FileStoreOptions } from "./internal/file-paths.ts";
import { FileTiles } from "./internal/file-tiles.ts";
import { FileTruncations } from "./internal/file-truncations.ts";

export type { FileStoreOptions };

/** Creates a store of tiles as files in GWC's default layout. Several threads of one process may use one root. */
export function createFileStore(options: FileStoreOptions): Store {
  const paths = new FilePaths(options);
  // GWC's marker of a file store.
  const marker = join(options.root, "metadata.properties");
  if (!existsSync(marker)) writeFileSync(marker, "");
  const tiles = new FileTiles(paths);
  const truncations = new FileTruncations(paths);
  const inventory = new FileInventory(paths);
  return {
    get: (at) => tiles.get(at),
    keyOf: (at) => tiles.keyOf(at),
    stat: (at) => tiles.stat(at),
    put: (at, bytes, guard) => tiles.put(at, bytes, guard),
    confirm: (at, bytes, time, guard) => tiles.confirm(at, bytes, time, guard),
    check: (layer) => tiles.check(layer),
    delete: (at) => tiles.delete(at),
    allocated: (bytes) => tiles.allocated(bytes),
    diskSpace: () => tiles.diskSpace(),
    describeParameters: (layer, id, values) => tiles.describeParameters(layer, id, values),
    parametersOf: (layer, id) => tiles.parametersOf(layer, id),
    plan: (scope) => truncations.plan(scope),
    truncate: (id, names, remains) => truncations.truncate(id, names, remains),
    restore: (id, names) => truncations.restore(id, names),
    discard: (id) => truncations.discard(id),
    asideIds: () => truncations.asideIds(),
    deleteRange: (scope, rect, listener, signal) => truncations.deleteRange(scope, rect, listener, signal),
    needsSweep: () => truncations.needsSweep(),
    sweep: (signal) => truncations.sweep(signal),
    pyramids: (layer, known) => inventory.pyramids(layer, known),
    levels: (pyramid) => inventory.levels(pyramid),
    levelsOf: (layer, pyramids) => inventory.levelsOf(layer, pyramids),
    recount: (tileSet, rect, afterReboot) => inventory.recount(tileSet, rect, afterReboot),
    removeLeftovers: (places, signal) => inventory.removeLeftovers(places, signal),
    regions: (pyramid, z, after) => inventory.regions(pyramid, z, after),
    noteAlive: () => inventory.noteAlive(),
    lastAliveMs: () => inventory.lastAliveMs(),
    changes: (pyramid, z, sinceMs) => inventory.changes(pyramid, z, sinceMs),
    removeEmptied: (tileSet, rect) => inventory.removeEmptied(tileSet, rect),
    removeEmptyPyramids: (layer, pyramids) => inventory.removeEmptyPyramids(layer, pyramids),
    async [Symbol.asyncDispose]() {},
  };
}
