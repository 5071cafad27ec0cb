import type { TileRect } from "../grid/grid-set.ts";

/** Where a tile is at this moment, found without rendering it, reading it, or counting the look as a use. */
export interface TileState {
  /** In the memory tier. */
  readonly inMemory: boolean;
  /** Undefined: not stored. */
  readonly stored: StoredState | undefined;
  /** Its name in the store, relative to the store's root, whether it is there or not. */
  readonly key: string;
  /** Somebody is rendering its metatile. */
  readonly drawing: boolean;
  /** What is rendered in one go with it. */
  readonly metatile: TileRect | undefined;
  /** When the layer, or a part of it, was last truncated, ms since 1970; undefined: not since the server started. */
  readonly truncatedMs: number | undefined;
  /** Its last render failed, and it is not rendered again before a time, ms since 1970. */
  readonly failing: { readonly message: string; readonly untilMs: number } | undefined;
}

export interface StoredState {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly expired: boolean;
}
