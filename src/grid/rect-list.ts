import { firstWhere } from "../lib/first-where.ts";
import { asTileRect, asTileY, type TileRect, type TileY, type Zoom } from "./grid-set.ts";
import { mergeSpans, type Span, type TileSelection } from "./tile-selection.ts";

/** Rectangles of tiles, which may overlap. */
export interface RectList {
  readonly kind: "rects";
  /** Alternating z, minX, minY, maxX, maxY, in any order. */
  readonly rects: Float64Array;
}

const NUMBERS = 5;
/** The number of rectangles between two yields: about a millisecond of work. */
const RECTS_PER_PAUSE = 1_024;
const ROWS_REMEMBERED = 64;

export function rectList(rects: readonly TileRect[]): RectList {
  const numbers = new Float64Array(rects.length * NUMBERS);
  for (const [i, { z, minX, minY, maxX, maxY }] of rects.entries())
    numbers.set([z, minX, minY, maxX, maxY], i * NUMBERS);
  return { kind: "rects", rects: numbers };
}

interface Level {
  /** Ascending by `minY`. */
  readonly rects: readonly TileRect[];
  /** The greatest `maxY` of each rectangle and of all rectangles before it. */
  readonly tops: readonly number[];
}

/** A list of rectangles as a selection. A tile in several rectangles counts once. */
export class RectListIndex implements TileSelection {
  readonly #levels: ReadonlyMap<number, Level>;
  #recentLevel = -1;
  readonly #recentRows = new Map<number, readonly Span[]>();

  private constructor(levels: ReadonlyMap<number, Level>) {
    this.#levels = levels;
  }

  /** Builds the index. Yields about every millisecond. */
  static *inSteps({ rects: numbers }: RectList): Generator<undefined, RectListIndex> {
    const byLevel = new Map<number, TileRect[]>();
    for (let i = 0; i < numbers.length; i += NUMBERS) {
      const [z = 0, minX = 0, minY = 0, maxX = 0, maxY = 0] = numbers.subarray(i, i + NUMBERS);
      const rects = byLevel.get(z) ?? [];
      byLevel.set(z, rects);
      rects.push(asTileRect({ z, minX, minY, maxX, maxY }));
      if (i % (NUMBERS * RECTS_PER_PAUSE) === 0) yield;
    }
    const levels = new Map<number, Level>();
    for (const [z, rects] of byLevel) {
      rects.sort((a, b) => a.minY - b.minY);
      let top = Number.NEGATIVE_INFINITY;
      levels.set(z, { rects, tops: rects.map(({ maxY }) => (top = Math.max(top, maxY))) });
      yield;
    }
    return new RectListIndex(levels);
  }

  spans(z: Zoom, y: TileY): readonly Span[] {
    const known = this.#recentLevel === z ? this.#recentRows.get(y) : undefined;
    if (known !== undefined) return known;
    const level = this.#levels.get(z);
    if (level === undefined) return [];
    const { rects, tops } = level;
    const found: Span[] = [];
    // No rectangle before `from` reaches up to the row.
    const from = firstWhere(rects.length, (i) => (tops[i] ?? y) >= y);
    for (let i = from; i < rects.length; i++) {
      const rect = rects[i];
      if (rect === undefined || rect.minY > y) break;
      if (rect.maxY >= y) found.push({ first: rect.minX, last: rect.maxX });
    }
    const spans = mergeSpans(found);
    if (this.#recentLevel !== z || this.#recentRows.size >= ROWS_REMEMBERED) this.#recentRows.clear();
    this.#recentLevel = z;
    this.#recentRows.set(y, spans);
    return spans;
  }

  *spansInSteps(z: Zoom, y: TileY): Generator<undefined, readonly Span[]> {
    yield;
    return this.spans(z, y);
  }

  nextRow(z: Zoom, y: TileY): TileY | undefined {
    const { rects = [], tops = [] } = this.#levels.get(z) ?? {};
    const first = rects[firstWhere(rects.length, (i) => (tops[i] ?? y) >= y)];
    if (first === undefined) return undefined;
    return asTileY(Math.max(y, first.minY));
  }
}
