import { commonMethodsOf } from "../internal/store-directory.ts";
import type { LocalStore } from "../store.ts";
import { BundleReader } from "./internal/bundle-reader.ts";
import { BundleWriter } from "./internal/bundle-writer.ts";
import { compactInventory } from "./internal/compact-inventory.ts";
import { CompactPaths, type CompactStoreOptions } from "./internal/compact-paths.ts";
import { type CompactParts, compactTiles } from "./internal/compact-tiles.ts";
import { compactTruncations } from "./internal/compact-truncations.ts";

export type { CompactStoreOptions };

/**
 * Creates a store of tiles in bundles (ESRI's Compact Cache V2). Several processes, and several threads of a process,
 * may use one root; other programs may read it. Rows of bundles count from the top, so only tiles of known grid sets
 * can be stored.
 */
export function createCompactStore(options: CompactStoreOptions): LocalStore {
  const paths = new CompactPaths(options);
  const parts: CompactParts = { paths, reader: new BundleReader(paths), writer: BundleWriter.of(paths) };
  const tiles = compactTiles(parts);
  return {
    ...commonMethodsOf(paths),
    ...tiles,
    timesOf: tiles.stat,
    ...compactTruncations(parts),
    ...compactInventory(parts),
    async [Symbol.asyncDispose]() {
      parts.reader.close();
      BundleWriter.release(paths.root);
    },
  };
}
