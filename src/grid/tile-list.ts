import { firstWhere } from "../lib/first-where.ts";
import { asTileRect, asTileY, rectHolds, type TileIndex, type TileRect, type TileY, type Zoom } from "./grid-set.ts";
import { mergeSpans, type Span, type TileSelection } from "./tile-selection.ts";

/** An explicit list of tiles; y from the bottom. */
export interface TileList {
  readonly kind: "tiles";
  /** Alternating z, x, y of the tiles, in any order. */
  readonly tiles: Float64Array;
}

export function tileList(tiles: readonly TileIndex[]): TileList {
  const numbers = new Float64Array(tiles.length * 3);
  let i = 0;
  for (const { z, x, y } of tiles) {
    numbers[i++] = z;
    numbers[i++] = x;
    numbers[i++] = y;
  }
  return { kind: "tiles", tiles: numbers };
}

/** The number of array items between two yields: about a millisecond of work. A multiple of 3. */
const TILES_PER_PAUSE = 3 * 1_024;

/** Returns the smallest rectangle around the tiles of each level, ascending by zoom. */
export function rectsAround(tiles: readonly TileIndex[]): TileRect[] {
  const rects = new Map<number, TileRect>();
  for (const { z, x, y } of tiles) {
    const rect = rects.get(z);
    if (rect !== undefined && rectHolds(rect, x, y)) continue;
    const { minX, minY, maxX, maxY } = rect ?? { minX: x, minY: y, maxX: x, maxY: y };
    const wider = {
      z,
      minX: Math.min(minX, x),
      minY: Math.min(minY, y),
      maxX: Math.max(maxX, x),
      maxY: Math.max(maxY, y),
    };
    rects.set(z, asTileRect(wider));
  }
  return [...rects.values()].sort((a, b) => a.z - b.z);
}

interface Level {
  readonly rows: ReadonlyMap<number, readonly Span[]>;
  /** The row numbers, ascending. */
  readonly order: readonly TileY[];
}

/** A list of tiles as a selection. A repeated tile counts once. */
export class TileListIndex implements TileSelection {
  readonly #levels: ReadonlyMap<number, Level>;

  private constructor(levels: ReadonlyMap<number, Level>) {
    this.#levels = levels;
  }

  /** Builds the index. Yields about every millisecond. */
  static *inSteps({ tiles }: TileList): Generator<undefined, TileListIndex> {
    const levels = new Map<number, Map<number, Span[]>>();
    for (let i = 0; i + 2 < tiles.length; i += 3) {
      const [z = 0, x = 0, y = 0] = [tiles[i], tiles[i + 1], tiles[i + 2]];
      const rows = levels.get(z) ?? new Map<number, Span[]>();
      levels.set(z, rows);
      const row = rows.get(y);
      if (row === undefined) rows.set(y, [{ first: x, last: x }]);
      else row.push({ first: x, last: x });
      if (i % TILES_PER_PAUSE === 0) yield;
    }
    const merged = new Map<number, Level>();
    for (const [z, rows] of levels) {
      const mergedRows = new Map<number, readonly Span[]>();
      for (const [y, row] of rows) {
        mergedRows.set(y, mergeSpans(row));
        if (mergedRows.size % TILES_PER_PAUSE === 0) yield;
      }
      merged.set(z, { rows: mergedRows, order: Array.from(Float64Array.from(rows.keys()).sort(), asTileY) });
      yield;
    }
    return new TileListIndex(merged);
  }

  spans(z: Zoom, y: TileY): readonly Span[] {
    return this.#levels.get(z)?.rows.get(y) ?? [];
  }

  *spansInSteps(z: Zoom, y: TileY): Generator<undefined, readonly Span[]> {
    yield;
    return this.spans(z, y);
  }

  nextRow(z: Zoom, y: TileY): TileY | undefined {
    const order = this.#levels.get(z)?.order ?? [];
    return order[firstWhere(order.length, (i) => (order[i] ?? 0) >= y)];
  }
}
