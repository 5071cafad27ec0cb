import type { AreaLevel } from "../grid/area.ts";
import { intersectionOf } from "../grid/extent.ts";
import { asTileRect, type Extent, type TileRect } from "../grid/grid-set.ts";
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

/** The rectangles of a level, in whole cells of 2^`bits` tiles a side. */
interface Found {
  readonly level: TouchedLevel;
  bits: number;
  /** Rectangles of one cell: column * 2^26 + row of the cell. Most boxes are small, and a number takes little memory. */
  readonly cells: Set<number>;
  /** The other rectangles, by their text. */
  readonly wide: Map<string, TileRect>;
}

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
    this.#found = levels.map((level) => ({ level, bits: 0, cells: new Set(), wide: new Map() }));
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
      while (found.cells.size + found.wide.size > this.#most) collapse(found);
    }
  }

  /** Returns the rectangles, ascending by level. */
  rects(): readonly TileRect[] {
    return this.#found.flatMap(rectsOf);
  }
}

function put(found: Found, minX: number, minY: number, maxX: number, maxY: number): void {
  const side = 2 ** found.bits;
  const [left, bottom] = [Math.floor(minX / side), Math.floor(minY / side)];
  const [right, top] = [Math.floor(maxX / side), Math.floor(maxY / side)];
  if (left === right && bottom === top && left < MOST_IN_KEY && bottom < MOST_IN_KEY)
    found.cells.add(left * MOST_IN_KEY + bottom);
  else
    found.wide.set(
      `${left} ${bottom} ${right} ${top}`,
      inCoverage(found, left * side, bottom * side, (right + 1) * side - 1, (top + 1) * side - 1),
    );
}

function collapse(found: Found): void {
  const before = rectsOf(found);
  found.bits = found.bits === 0 ? CELL_SHIFT : found.bits + 1;
  found.cells.clear();
  found.wide.clear();
  for (const { minX, minY, maxX, maxY } of before) put(found, minX, minY, maxX, maxY);
}

function rectsOf(found: Found): readonly TileRect[] {
  const side = 2 ** found.bits;
  const ofCells = Array.from(found.cells, (key) => {
    const [minX, minY] = [Math.floor(key / MOST_IN_KEY) * side, (key % MOST_IN_KEY) * side];
    return inCoverage(found, minX, minY, minX + side - 1, minY + side - 1);
  });
  return [...ofCells, ...found.wide.values()];
}

/** Returns the part of a rectangle that the layer offers. */
const inCoverage = ({ level }: Found, minX: number, minY: number, maxX: number, maxY: number): TileRect =>
  asTileRect({
    z: level.z,
    ...intersectionOf({ minX, minY, maxX, maxY }, level.coverage),
  });
