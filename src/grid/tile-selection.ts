import { firstWhere } from "../lib/first-where.ts";
import { atOnce } from "../lib/process/slices.ts";
import { asTileY, type TileRect, type TileX, type TileY, type Zoom } from "./grid-set.ts";

/** The whole numbers from `first` to `last`, including both. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** A selection of tiles on some levels, read row by row without a list of the tiles. */
export interface TileSelection {
  /** Returns the selected columns of row y. Ascending; no two spans touch. Each call returns the same result. */
  spans(z: Zoom, y: TileY): readonly Span[];
  /** Returns the same result as `spans`, but yields regularly, because a row may take long. */
  spansInSteps(z: Zoom, y: TileY): Generator<undefined, readonly Span[]>;
  /** Returns the first row, at or after y, that may contain selected tiles. Undefined if no row follows. */
  nextRow(z: Zoom, y: TileY): TileY | undefined;
}

/** The number of rows that are summed as plain numbers before the sum is added to a bigint. */
const ROWS_PER_SUM = 64;

/** Counts the selected tiles of a rectangle. Yields after each row, which may have any number of spans. */
export function* countSelected(selection: TileSelection, rect: TileRect): Generator<undefined, bigint> {
  let count = 0n;
  // The count of the latest rows. Exact, because a row has at most 2^31 tiles.
  let recent = 0;
  let rows = 0;
  for (let y = nextIn(selection, rect, rect.minY); y !== undefined; y = nextIn(selection, rect, asTileY(y + 1))) {
    for (const { first, last } of yield* selection.spansInSteps(rect.z, y))
      recent += Math.max(0, Math.min(last, rect.maxX) - Math.max(first, rect.minX) + 1);
    if (++rows % ROWS_PER_SUM === 0) {
      count += BigInt(recent);
      recent = 0;
    }
    yield;
  }
  return count + BigInt(recent);
}

function nextIn(selection: TileSelection, { z, maxY }: TileRect, y: TileY): TileY | undefined {
  const next = selection.nextRow(z, y);
  return next !== undefined && next <= maxY ? next : undefined;
}

/** Counts the selected tiles of a small rectangle without yielding. */
export const countSelectedAtOnce = (selection: TileSelection, rect: TileRect): bigint =>
  atOnce(countSelected(selection, rect));

export function isSelected(selection: TileSelection, z: Zoom, x: TileX, y: TileY): boolean {
  const spans = selection.spans(z, y);
  const found = spans[spanFrom(spans, x)];
  return found !== undefined && found.first <= x;
}

/** Returns the index of the first span that ends at x or later; `spans` must be ascending. */
export const spanFrom = (spans: readonly Span[], x: number): number =>
  firstWhere(spans.length, (i) => (spans[i]?.last ?? x) >= x);

/**
 * Merges spans in any order into the fewest spans that contain the same numbers. Ascending; no two spans touch. Sorts
 * `spans` in place.
 */
export function mergeSpans(spans: Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  spans.sort((a, b) => a.first - b.first);
  const merged: Span[] = [];
  let open: Span | undefined;
  for (const span of spans) {
    if (open === undefined || span.first > open.last + 1) {
      if (open !== undefined) merged.push(open);
      open = span;
    } else if (span.last > open.last) open = { first: open.first, last: span.last };
  }
  if (open !== undefined) merged.push(open);
  return merged;
}
