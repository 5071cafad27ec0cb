import type { TileIndex } from "../grid/grid-set.ts";

/** The unit that is stored, truncated and measured: layer + grid set + format + parameters id. */
export interface TileSet {
  readonly layer: string;
  readonly gridSet: string;
  /** MIME type as configured, such as `image/png8`. */
  readonly format: string;
  /** 40 hexadecimal digits, or "" for the default parameters. */
  readonly parametersId: string;
}

/** Where one tile is: the unit that stores keep. */
export interface TileAddress extends TileIndex {
  readonly tileSet: TileSet;
}

/** A block is 128 x 128 tiles of one tile set at one zoom: one record of the ledger. */
export const BLOCK_SIDE = 128;
/** A cell is 16 x 16 tiles, 64 to a block: the unit of marks, of use and of eviction. */
export const CELL_SHIFT = 4;
export const CELL_SIDE = 1 << CELL_SHIFT;
export const CELLS_PER_SIDE = BLOCK_SIDE / CELL_SIDE;

/** One key per tile set, for maps. Format and ids hold no line feed; names are checked by the configuration. */
export const tileSetKey = (t: TileSet): string => `${t.layer}\n${t.gridSet}\n${t.format}\n${t.parametersId}`;
