import type { TileY } from "./grid-set.ts";
import { BAND, bandOf, type MetatileWalk, metatileRow, numberAt } from "./metatile.ts";
import { mergeSpans, type Span, type TileSelection } from "./tile-selection.ts";

/** A choice of metatiles of a walk. */
export interface MetatileChoice {
  /**
   * Returns a number at or after `n` such that no metatile from `n` to before it is chosen. If the search would take
   * too long for one call, the metatile of the returned number need not be chosen. Returns the walk's count if no
   * chosen metatile follows.
   */
  next(n: bigint): bigint;
}

/** The metatile columns that contain selected tiles, for each metatile row of a band. */
type BandRows = readonly (readonly Span[])[];

/** The search for the rows of a band. */
interface BandSearch {
  readonly band: number;
  readonly steps: Generator<undefined, BandRows>;
  /** The result. Undefined until the search has ended. */
  rows: BandRows | undefined;
}

/** The most steps of one call of `next`: about 8 ms of work. */
const MOST_STEPS = 16;

/**
 * Chooses the metatiles of a walk that contain selected tiles. Finds the next chosen metatile without visiting the
 * metatiles in between.
 */
export class SelectedMetatiles implements MetatileChoice {
  readonly #walk: MetatileWalk;
  readonly #selection: TileSelection;
  /** The search of the latest call. The next call continues it if it has not ended. */
  #search: BandSearch;

  constructor(walk: MetatileWalk, selection: TileSelection) {
    this.#walk = walk;
    this.#selection = selection;
    this.#search = this.#begin(0);
  }

  next(n: bigint): bigint {
    const walk = this.#walk;
    let from = n;
    let stepsLeft = MOST_STEPS;
    while (from < walk.count) {
      const { band, group, inGroup, width } = bandOf(walk, from);
      if (this.#search.band !== band) this.#search = this.#begin(band);
      const search = this.#search;
      for (; search.rows === undefined; stepsLeft--) {
        if (stepsLeft === 0) return from;
        const step = search.steps.next();
        if (step.done === true) search.rows = step.value;
      }
      const { rows } = search;
      for (let i = inGroup; i < rows.length * width; i++) {
        const column = group * BAND + (i % width);
        if (holds(rows[Math.floor(i / width)] ?? [], column)) return from + BigInt(i - inGroup);
      }
      const column = firstFrom(rows, (group + 1) * BAND);
      if (column !== undefined) from = numberAt(walk, band, Math.floor(column / BAND));
      else {
        const next = this.#nextBand(band + 1);
        if (next === undefined) return walk.count;
        from = numberAt(walk, next, 0);
      }
    }
    return walk.count;
  }

  #nextBand(band: number): number | undefined {
    const { rect, factorY, rows } = this.#walk;
    if (band * BAND >= rows) return undefined;
    const y = this.#selection.nextRow(rect.z, maxRow(rect.minY, metatileRow(this.#walk, band * BAND)));
    if (y === undefined || y > rect.maxY) return undefined;
    return Math.floor((Math.floor(y / factorY) - Math.floor(rect.minY / factorY)) / BAND);
  }

  #begin(band: number): BandSearch {
    return { band, steps: this.#rowsOf(band), rows: undefined };
  }

  *#rowsOf(band: number): Generator<undefined, BandRows> {
    const height = Math.min(BAND, this.#walk.rows - band * BAND);
    const rows: (readonly Span[])[] = [];
    for (let i = 0; i < height; i++) rows.push(yield* this.#columnsOf(metatileRow(this.#walk, band * BAND + i)));
    return rows;
  }

  /** Returns the metatile columns that contain selected tiles, in the metatile row whose lowest tile row is y. */
  *#columnsOf(y: TileY): Generator<undefined, readonly Span[]> {
    const { rect, factorX, factorY } = this.#walk;
    const left = Math.floor(rect.minX / factorX);
    const columns: Span[] = [];
    for (let row = maxRow(y, rect.minY); row < y + factorY && row <= rect.maxY; row++) {
      for (const { first, last } of yield* afterFirst(this.#selection.spansInSteps(rect.z, row))) {
        const from = Math.max(first, rect.minX);
        const to = Math.min(last, rect.maxX);
        if (from <= to)
          columns.push({ first: Math.floor(from / factorX) - left, last: Math.floor(to / factorX) - left });
      }
    }
    return mergeSpans(columns);
  }
}

const maxRow = (a: TileY, b: TileY): TileY => (a > b ? a : b);

/** Skips the first yield, because most rows need no further step. */
function* afterFirst<T>(search: Generator<undefined, T>): Generator<undefined, T> {
  const step = search.next();
  return step.done === true ? step.value : yield* search;
}

const holds = (spans: readonly Span[], column: number): boolean =>
  spans.some(({ first, last }) => first <= column && column <= last);

/** Returns the first column, at or after `column`, that a row contains. Undefined if no row contains one. */
function firstFrom(rows: BandRows, column: number): number | undefined {
  let found: number | undefined;
  for (const row of rows) {
    const span = row.find(({ last }) => last >= column);
    if (span === undefined) continue;
    const first = Math.max(span.first, column);
    if (found === undefined || first < found) found = first;
  }
  return found;
}
