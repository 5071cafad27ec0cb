import { createFileStore, type FileStoreOptions } from "./file/file-store.ts";
import type { Store } from "./store.ts";

/** Opens the store of tiles. The one place that chooses the implementation. */
export const openStore = (options: FileStoreOptions): Store => createFileStore(options);
