import { join } from "node:path";
import { createFileStore, type FileStoreOptions } from "./file/file-store.ts";
import type { Store } from "./store.ts";

/** Opens the store of tiles. The one place that chooses the implementation. */
export const openStore = (options: FileStoreOptions): Store => createFileStore(options);

/** Returns the directory of the tiles in a data directory. */
export const tilesDirectory = (dataDir: string): string => join(dataDir, "tiles");
