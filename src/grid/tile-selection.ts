import { atOnce } from "../lib/slices.ts";
import type { TileRect } from "./grid-set.ts";

/** Whole numbers from `first` to `last`, both included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Some of the tiles of some levels, told row by row: nothing is ever listed. */
export interface TileSelection {
  /** The columns of row y, ascending; no two of them touch. The same at each call. */
  spans(z: number, y: number): readonly Span[];
  /** The same; pauses now and then, as a row may take long. */
  spansInSteps(z: number, y: number): Generator<undefined, readonly Span[]>;
  /** The first row from y on that may hold something; undefined: none. */
  nextRow(z: number, y: number): number | undefined;
}

/** Rows that are added up as numbers. */
const ROWS_PER_SUM = 64;

/** How many tiles of a rectangle are selected. Pauses after each row, which may have any number of spans. */
export function* countSelected(selection: TileSelection, rect: TileRect): Generator<undefined, bigint> {
  let count = 0n;
  // Of the last rows: exact, as a row has 2^31 tiles at most.
  let recent = 0;
  let rows = 0;
  for (let y = nextIn(selection, rect, rect.minY); y !== undefined; y = nextIn(selection, rect, y + 1)) {
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

function nextIn(selection: TileSelection, { z, maxY }: TileRect, y: number): number | undefined {
  const next = selection.nextRow(z, y);
  return next !== undefined && next <= maxY ? next : undefined;
}

/** `countSelected` of a rectangle that is small. */
export const countSelectedAtOnce = (selection: TileSelection, rect: TileRect): bigint =>
  atOnce(countSelected(selection, rect));

export function isSelected(selection: TileSelection, z: number, x: number, y: number): boolean {
  const spans = selection.spans(z, y);
  const found = spans[spanFrom(spans, x)];
  return found !== undefined && found.first <= x;
}

/** Returns which of ascending spans is the first that ends at x or later. */
export function spanFrom(spans: readonly Span[], x: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const span = spans[middle];
    if (span !== undefined && span.last < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Spans in any order as the fewest that hold the same: ascending, and no two of them touch. Sorts what it is given. */
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
