import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LocalStore } from "../store.ts";
import { fileInventory } from "./internal/file-inventory.ts";
import { FilePaths, type FileStoreOptions } from "./internal/file-paths.ts";
import { fileTiles } from "./internal/file-tiles.ts";
import { fileTruncations } from "./internal/file-truncations.ts";

export type { FileStoreOptions };

/** Creates a store of tiles as files in one of GWC's layouts. Several threads of one process may use one root. */
export function createFileStore(options: FileStoreOptions): LocalStore {
  const paths = new FilePaths(options);
  // GWC's marker of a file store.
  const marker = join(options.root, "metadata.properties");
  if (!existsSync(marker)) writeFileSync(marker, "");
  const tiles = fileTiles(paths);
  return {
    ...tiles,
    timesOf: tiles.stat,
    ...fileTruncations(paths),
    ...fileInventory(paths),
    async [Symbol.asyncDispose]() {},
  };
}
