import type { TileRect } from "../grid/grid-set.ts";
import type { RenderStatus } from "../render/user-renders.ts";

/** The state of a tile at this moment. Found without rendering, and without counting a use. */
export interface TileState extends RenderStatus {
  /** Whether the tile is in the memory tier. */
  readonly inMemory: boolean;
  /** The stored tile; undefined: the tile is not stored. */
  readonly stored:
    | {
        readonly bytes: number;
        readonly modifiedMs: number;
        readonly expired: boolean;
        /** Whether it is the upstream's answer that there is no tile. */
        readonly isNoTile: boolean;
      }
    | undefined;
  /** The tile's name in the store, relative to the store's root, whether the tile exists or not. */
  readonly key: string;
  /** The metatile that is rendered together with the tile. */
  readonly metatile: TileRect | undefined;
}
