import type { TileRect } from "../grid/grid-set.ts";
import type { RenderStatus } from "../render/user-renders.ts";

/** The current state of a tile, found without rendering and without counting a use. */
export interface TileState extends RenderStatus {
  /** Whether the tile is in the memory tier. */
  readonly inMemory: boolean;
  /** The stored tile. Undefined if the tile is not stored. */
  readonly stored:
    | {
        readonly bytes: number;
        readonly modifiedMs: number;
        readonly expired: boolean;
        /** Whether the stored bytes are a mark, which means that the upstream has no tile. */
        readonly isNoTile: boolean;
      }
    | undefined;
  /** The tile's name in the store, relative to the store's root, even if the tile does not exist. */
  readonly key: string;
  /** The metatile that is rendered together with the tile. */
  readonly metatile: TileRect | undefined;
}
