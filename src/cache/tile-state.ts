import type { TileRect } from "../grid/grid-set.ts";

/** The state of a tile at this moment. Found without rendering or reading the tile, and without counting a use. */
export interface TileState {
  /** Whether the tile is in the memory tier. */
  readonly inMemory: boolean;
  /** The stored tile; undefined: the tile is not stored. */
  readonly stored: StoredState | undefined;
  /** The tile's name in the store, relative to the store's root, whether the tile exists or not. */
  readonly key: string;
  /** A render of the tile's metatile is in flight. */
  readonly drawing: boolean;
  /** The metatile that is rendered together with the tile. */
  readonly metatile: TileRect | undefined;
  /** When the layer, or a part of it, was last truncated, ms since 1970; undefined: not since the server started. */
  readonly truncatedMs: number | undefined;
  /** The last render of the metatile failed, and the metatile is not rendered again before this time, ms since 1970. */
  readonly failing: { readonly message: string; readonly untilMs: number } | undefined;
}

export interface StoredState {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly expired: boolean;
}
