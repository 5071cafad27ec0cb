import { asTileRect, type TileIndex, type TileRect, type TileX, type TileY, type Zoom } from "../grid/grid-set.ts";
import { BLOCK_SIDE, type TileSet, tileSetKey } from "./tile-set.ts";

/**
 * The base-2 logarithm of a cell's side in tiles. A cell is 16 x 16 tiles, 64 to a block: the unit of marks, of use, of
 * eviction and of tags.
 */
export const CELL_SHIFT = 4;
export const CELL_SIDE = 1 << CELL_SHIFT;
export const CELLS_PER_SIDE = BLOCK_SIDE / CELL_SIDE;

/** A cell by the numbers of its column and row at a level: the cell of tile x, y is x / 16, y / 16, rounded down. */
export interface CellIndex {
  readonly z: Zoom;
  readonly column: number;
  readonly row: number;
}

/** Returns the column (or row) of cells that contains a column (or row) of tiles. */
const cellAt = (tile: number): number => Math.floor(tile / CELL_SIDE);

export const cellIndexOf = ({ x, y, z }: TileIndex): CellIndex => ({ z, column: cellAt(x), row: cellAt(y) });

export const cellPath = ({ z, column, row }: CellIndex): string => `${z}/${column}/${row}`;

/** Returns a key of a cell of a tile set for maps. */
export const cellKey = (tileSet: TileSet, cell: CellIndex): string => `${tileSetKey(tileSet)}\n${cellPath(cell)}`;

/** Returns the rectangle of the tiles of a cell. */
export function cellRect({ z, column, row }: CellIndex): TileRect {
  const [minX, minY] = [column * CELL_SIDE, row * CELL_SIDE];
  return asTileRect({ z, minX, minY, maxX: minX + CELL_SIDE - 1, maxY: minY + CELL_SIDE - 1 });
}

/** Returns the number of cells that overlap a rectangle of tiles. */
export const cellCount = ({ minX, maxX, minY, maxY }: TileRect): number =>
  (cellAt(maxX) - cellAt(minX) + 1) * (cellAt(maxY) - cellAt(minY) + 1);

/** Yields the cells that overlap a rectangle of tiles, row by row. */
export function* cellsIn({ minX, maxX, minY, maxY, z }: TileRect): Generator<CellIndex> {
  for (let row = cellAt(minY); row <= cellAt(maxY); row++)
    for (let column = cellAt(minX); column <= cellAt(maxX); column++) yield { z, column, row };
}

/** Returns a tile's number within its cell, 0 to 255, row by row from the lower left. */
export const tileInCell = (x: TileX, y: TileY): number => ((y % CELL_SIDE) << CELL_SHIFT) | (x % CELL_SIDE);
