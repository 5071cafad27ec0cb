import { firstWhere } from "../lib/first-where.ts";
import type { TileIndex, TileRect, TileY, Zoom } from "./grid-set.ts";
import { mergeSpans, type Span, type TileSelection } from "./tile-selection.ts";

/** Tiles named one by one; y from the bottom. */
export interface TileList {
  readonly kind: "tiles";
  /** z, x, y of one tile after the other, in any order. */
  readonly tiles: Float64Array;
}

export const tileList = (tiles: readonly TileIndex[]): TileList => ({
  kind: "tiles",
  tiles: Float64Array.from(tiles.flatMap(({ z, x, y }) => [z, x, y])),
});

/** Returns the smallest rectangle around the tiles of each level, ascending by zoom. */
export function rectsAround(tiles: readonly TileIndex[]): TileRect[] {
  const rects = new Map<number, TileRect>();
  for (const { z, x, y } of tiles) {
    const { minX, minY, maxX, maxY } = rects.get(z) ?? { minX: x, minY: y, maxX: x, maxY: y };
    rects.set(z, {
      z,
      minX: Math.min(minX, x),
      minY: Math.min(minY, y),
      maxX: Math.max(maxX, x),
      maxY: Math.max(maxY, y),
    });
  }
  return [...rects.values()].sort((a, b) => a.z - b.z);
}

interface Level {
  readonly rows: ReadonlyMap<number, readonly Span[]>;
  /** The rows, ascending. */
  readonly order: readonly number[];
}

/** A list of tiles as a selection. A tile that is listed twice counts once. */
export class TileListIndex implements TileSelection {
  readonly #levels = new Map<number, Level>();

  constructor({ tiles }: TileList) {
    const levels = new Map<number, Map<number, Span[]>>();
    for (let i = 0; i + 2 < tiles.length; i += 3) {
      const [z = 0, x = 0, y = 0] = tiles.subarray(i, i + 3);
      const rows = levels.get(z) ?? new Map<number, Span[]>();
      levels.set(z, rows);
      const row = rows.get(y);
      if (row === undefined) rows.set(y, [{ first: x, last: x }]);
      else row.push({ first: x, last: x });
    }
    for (const [z, rows] of levels) {
      const merged = new Map([...rows].map(([y, row]) => [y, mergeSpans(row)]));
      this.#levels.set(z, { rows: merged, order: [...rows.keys()].sort((a, b) => a - b) });
    }
  }

  spans(z: Zoom, y: TileY): readonly Span[] {
    return this.#levels.get(z)?.rows.get(y) ?? [];
  }

  *spansInSteps(z: Zoom, y: TileY): Generator<undefined, readonly Span[]> {
    yield;
    return this.spans(z, y);
  }

  nextRow(z: Zoom, y: TileY): number | undefined {
    const order = this.#levels.get(z)?.order ?? [];
    return order[firstWhere(order.length, (i) => (order[i] ?? 0) >= y)];
  }
}
