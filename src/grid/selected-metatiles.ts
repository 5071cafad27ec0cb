import { BAND, bandOf, type MetatileWalk, metatileRow, numberAt } from "./metatile.ts";
import { mergeSpans, type Span, type TileSelection } from "./tile-selection.ts";

/** A choice of metatiles of a walk. */
export interface MetatileChoice {
  /** Returns the first chosen number from n on; the walk's count when there is none. */
  next(n: bigint): bigint;
}

/**
 * Chooses the metatiles of a walk that contain selected tiles. Finds the next one without visiting those in between.
 */
export class SelectedMetatiles implements MetatileChoice {
  readonly #walk: MetatileWalk;
  readonly #selection: TileSelection;
  /** The band of the latest call: for each of its metatile rows, the metatile columns that contain selected tiles. */
  #band: { readonly number: number; readonly rows: readonly (readonly Span[])[] } | undefined;

  constructor(walk: MetatileWalk, selection: TileSelection) {
    this.#walk = walk;
    this.#selection = selection;
  }

  /** Returns the first number from n on; the walk's count when there is none. */
  next(n: bigint): bigint {
    const walk = this.#walk;
    let from = n;
    while (from < walk.count) {
      const { band, group, inGroup, width } = bandOf(walk, from);
      const rows = this.#rowsOf(band);
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
    const y = this.#selection.nextRow(rect.z, Math.max(rect.minY, metatileRow(this.#walk, band * BAND)));
    if (y === undefined || y > rect.maxY) return undefined;
    return Math.floor((Math.floor(y / factorY) - Math.floor(rect.minY / factorY)) / BAND);
  }

  #rowsOf(band: number): readonly (readonly Span[])[] {
    if (this.#band?.number === band) return this.#band.rows;
    const height = Math.min(BAND, this.#walk.rows - band * BAND);
    const rows = Array.from({ length: height }, (_, i) => this.#columnsOf(metatileRow(this.#walk, band * BAND + i)));
    this.#band = { number: band, rows };
    return rows;
  }

  /** Returns the metatile columns that contain selected tiles, in the metatile row whose lowest tile row is y. */
  #columnsOf(y: number): readonly Span[] {
    const { rect, factorX, factorY } = this.#walk;
    const left = Math.floor(rect.minX / factorX);
    const columns: Span[] = [];
    for (let row = Math.max(y, rect.minY); row < y + factorY && row <= rect.maxY; row++) {
      for (const { first, last } of this.#selection.spans(rect.z, row)) {
        const from = Math.max(first, rect.minX);
        const to = Math.min(last, rect.maxX);
        if (from <= to)
          columns.push({ first: Math.floor(from / factorX) - left, last: Math.floor(to / factorX) - left });
      }
    }
    return mergeSpans(columns);
  }
}

const holds = (spans: readonly Span[], column: number): boolean =>
  spans.some(({ first, last }) => first <= column && column <= last);

/** Returns the first column from `column` on that any of the rows contains. */
function firstFrom(rows: readonly (readonly Span[])[], column: number): number | undefined {
  let found: number | undefined;
  for (const row of rows) {
    const span = row.find(({ last }) => last >= column);
    if (span === undefined) continue;
    const first = Math.max(span.first, column);
    if (found === undefined || first < found) found = first;
  }
  return found;
}
