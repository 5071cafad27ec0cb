import type { GridSets } from "../grid-sets.ts";
import type { Store } from "../store.ts";

export interface CompactStoreOptions {
  readonly root: string;
  readonly fsync: boolean;
  readonly instance: string;
  readonly gridSets: GridSets;
}

export function createCompactStore(_options: CompactStoreOptions): Store {
  throw new Error("not built yet");
}
