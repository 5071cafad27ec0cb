import { intersectRects, type TileIndex, type TileRect, type TileX, type TileY } from "../grid/grid-set.ts";
import { CELL_SIDE, cellIndexOf, cellKey, tileInCell } from "../layer/cells.ts";
import { type TileSet, tileSetKey } from "../layer/tile-set.ts";
import type { EvictedCell } from "../ledger/cells/cell-eviction.ts";

/** The time for which the eviction of a tile is remembered. */
const REMEMBERED_MS = 3_600_000;
/** The most cells that are remembered, which take some 3 MB. */
const MOST_CELLS = 10_000;

type TilePosition = Pick<TileIndex, "x" | "y">;

interface Remembered {
  readonly tileSet: string;
  readonly rect: TileRect;
  /** One bit per tile of the cell, row by row from the lower left. */
  readonly tiles: Uint8Array;
  readonly atMs: number;
}

/**
 * Remembers the tiles evicted in the last hour: the tiles of the last 10,000 evicted cells, and for each cell the tiles
 * of its last eviction. A restart loses them.
 */
export class EvictedCells {
  readonly #now: () => number;
  /** The cells in the order of their evictions. */
  readonly #cells = new Map<string, Remembered>();

  /** @param now returns ms since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  add({ tileSet, rect, tiles }: EvictedCell): void {
    const bits = new Uint8Array(CELL_SIDE ** 2 / 8);
    for (const { x, y } of tiles) {
      const bit = tileInCell(x, y);
      bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
    const key = cellKey(tileSet, cellIndexOf({ x: rect.minX, y: rect.minY, z: rect.z }));
    this.#cells.delete(key);
    this.#cells.set(key, { tileSet: tileSetKey(tileSet), rect, tiles: bits, atMs: this.#now() });
    this.#removeOld();
  }

  /** Yields the cells that overlap a rectangle, with their evicted tiles. */
  *in(tileSet: TileSet, rect: TileRect): Generator<{ readonly rect: TileRect; tiles(): Iterable<TilePosition> }> {
    this.#removeOld();
    const wanted = tileSetKey(tileSet);
    for (const cell of this.#cells.values())
      if (cell.tileSet === wanted && cell.rect.z === rect.z && intersectRects(cell.rect, rect) !== undefined)
        yield { rect: cell.rect, tiles: () => tilesOf(cell) };
  }

  /** Returns when a tile was evicted, ms since 1970. Undefined if no eviction of the tile is remembered. */
  evictedAt(tileSet: TileSet, tile: TileIndex): number | undefined {
    this.#removeOld();
    const cell = this.#cells.get(cellKey(tileSet, cellIndexOf(tile)));
    return cell !== undefined && hasTile(cell, tile.x, tile.y) ? cell.atMs : undefined;
  }

  #removeOld(): void {
    const before = this.#now() - REMEMBERED_MS;
    for (const [key, { atMs }] of this.#cells) {
      if (atMs >= before && this.#cells.size <= MOST_CELLS) return;
      this.#cells.delete(key);
    }
  }
}

function hasTile({ tiles }: Remembered, x: TileX, y: TileY): boolean {
  const bit = tileInCell(x, y);
  return ((tiles[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
}

function* tilesOf(cell: Remembered): Generator<TilePosition> {
  const { minX, minY, maxX, maxY } = cell.rect;
  for (let y = minY; y <= maxY; y++) for (let x = minX; x <= maxX; x++) if (hasTile(cell, x, y)) yield { x, y };
}
