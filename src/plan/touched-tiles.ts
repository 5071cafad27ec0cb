import type { AreaLevel } from "../grid/area.ts";
import { intersectionOf } from "../grid/extent.ts";
import { asTileRect, type Extent, type TileRect, type Zoom } from "../grid/grid-set.ts";
import { CELL_SHIFT } from "../layer/cells.ts";

/** A level, and the tiles of it that a layer offers. */
export interface TouchedLevel extends AreaLevel {
  readonly coverage: TileRect;
}

/** Whether a box that ends exactly at the edge of a tile also touches the tile beyond the edge. */
export type BoxEdge = "touches" | "excluded";

/** If a box ends this close to a tile's edge, in tiles, it counts as ending at the edge. */
const EDGE = 1e-6;
/** Column and row of a cell with smaller numbers are one exact number. */
const MOST_IN_KEY = 2 ** 26;

/**
 * The rectangles of a level, in whole cells of 2^`bits` tiles a side. Most boxes have the size of many others, so the
 * rectangles are grouped by size, and a rectangle is one number: it takes some 40 bytes.
 */
interface Found {
  readonly level: TouchedLevel;
  bits: number;
  /** The number of rectangles. */
  count: number;
  /** Rectangles by size: (columns - 1) * 2^26 + rows - 1. Each is column * 2^26 + row of its lower left cell. */
  readonly sizes: Map<number, Set<number>>;
}

function foundIn(level: TouchedLevel): Found {
  const found: Found = { level, bits: 0, count: 0, sizes: new Map() };
  const last = Math.max(level.coverage.maxX, level.coverage.maxY);
  while (last / 2 ** found.bits >= MOST_IN_KEY) found.bits = coarser(found.bits);
  return found;
}

const coarser = (bits: number): number => (bits === 0 ? CELL_SHIFT : bits + 1);

/**
 * Collects the tiles that boxes touch, in constant memory. A level has at most `most` rectangles. A level that gets
 * more collapses its rectangles to the cells that contain them, of 16 x 16 tiles and then of twice as many a side, so
 * that no change is forgotten.
 */
export class TouchedTiles {
  readonly #most: number;
  readonly #found: readonly Found[];

  constructor(levels: readonly TouchedLevel[], most: number) {
    this.#most = most;
    this.#found = levels.map(foundIn);
  }

  /** Adds a box, in units of the grid set's CRS. */
  add(box: Extent, edge: BoxEdge): void {
    const margin = edge === "touches" ? EDGE : -EDGE;
    for (const found of this.#found) {
      const { x, y, width, height, coverage } = found.level;
      const minX = Math.max(coverage.minX, Math.floor((box.minX - x) / width - margin));
      const minY = Math.max(coverage.minY, Math.floor((box.minY - y) / height - margin));
      const maxX = Math.min(coverage.maxX, Math.floor((box.maxX - x) / width + margin));
      const maxY = Math.min(coverage.maxY, Math.floor((box.maxY - y) / height + margin));
      if (minX > maxX || minY > maxY) continue;
      put(found, minX, minY, maxX, maxY);
      while (found.count > this.#most) collapse(found);
    }
  }

  /** Returns the rectangles, ascending by level. */
  rects(): readonly TileRect[] {
    return this.#found.flatMap(rectsOf);
  }
}

/** Returns rectangles that contain the given ones, at most `most` of each level. */
export function collapsed(
  rects: readonly TileRect[],
  levels: readonly TouchedLevel[],
  most: number,
): readonly TileRect[] {
  const byLevel = new Map<Zoom, TileRect[]>();
  for (const rect of rects) {
    const own = byLevel.get(rect.z) ?? [];
    byLevel.set(rect.z, own);
    own.push(rect);
  }
  return levels.flatMap((level) => {
    const own = byLevel.get(level.z) ?? [];
    if (own.length <= most) return own;
    const found = foundIn(level);
    for (const { minX, minY, maxX, maxY } of own) {
      put(found, minX, minY, maxX, maxY);
      while (found.count > most) collapse(found);
    }
    return rectsOf(found);
  });
}

function put(found: Found, minX: number, minY: number, maxX: number, maxY: number): void {
  const side = 2 ** found.bits;
  const [left, bottom] = [Math.floor(minX / side), Math.floor(minY / side)];
  const size = (Math.floor(maxX / side) - left) * MOST_IN_KEY + (Math.floor(maxY / side) - bottom);
  let places = found.sizes.get(size);
  if (places === undefined) {
    places = new Set();
    found.sizes.set(size, places);
  }
  const before = places.size;
  places.add(left * MOST_IN_KEY + bottom);
  found.count += places.size - before;
}

function collapse(found: Found): void {
  const before = rectsOf(found);
  found.bits = coarser(found.bits);
  found.count = 0;
  found.sizes.clear();
  for (const { minX, minY, maxX, maxY } of before) put(found, minX, minY, maxX, maxY);
}

function rectsOf(found: Found): readonly TileRect[] {
  const side = 2 ** found.bits;
  return [...found.sizes].flatMap(([size, places]) => {
    const [columns, rows] = [Math.floor(size / MOST_IN_KEY) + 1, (size % MOST_IN_KEY) + 1];
    return Array.from(places, (place) => {
      const [minX, minY] = [Math.floor(place / MOST_IN_KEY) * side, (place % MOST_IN_KEY) * side];
      return inCoverage(found, minX, minY, minX + columns * side - 1, minY + rows * side - 1);
    });
  });
}

/** Returns the part of a rectangle that the layer offers. */
const inCoverage = ({ level }: Found, minX: number, minY: number, maxX: number, maxY: number): TileRect =>
  asTileRect({
    z: level.z,
    ...intersectionOf({ minX, minY, maxX, maxY }, level.coverage),
  });
