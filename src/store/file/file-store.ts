import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { storeError } from "../internal/faults.ts";
import { GEOWEBCACHE_MARK } from "../internal/store-root.ts";
import type { LocalStore } from "../store.ts";
import { fileInventory } from "./internal/file-inventory.ts";
import { FilePaths, type FileStoreOptions } from "./internal/file-paths.ts";
import { fileTiles } from "./internal/file-tiles.ts";
import { fileTruncations } from "./internal/file-truncations.ts";

export type { FileStoreOptions };

/** Creates a store of tiles as files in one of GWC's layouts. Several threads of one process may use one root. */
export function createFileStore(options: FileStoreOptions): LocalStore {
  const paths = new FilePaths(options);
  writeMarker(join(options.root, GEOWEBCACHE_MARK));
  const tiles = fileTiles(paths);
  return {
    ...tiles,
    timesOf: tiles.stat,
    ...fileTruncations(paths),
    ...fileInventory(paths),
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * Writes GWC's marker of a file store, for other programs. A full or read-only store can be read without the marker, so
 * a failure is ignored.
 */
function writeMarker(path: string): void {
  if (existsSync(path)) return;
  try {
    writeFileSync(path, "");
  } catch (error) {
    const { code } = storeError(error, "the marker of the store cannot be written");
    if (code !== "full" && code !== "read_only") throw error;
  }
}
