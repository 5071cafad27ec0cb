import type { Points } from "./path.ts";

/** Where a text fits best into an area, whatever the scale. */
export interface Place {
  /** The middle of the text, in CRS units. */
  readonly x: number;
  readonly y: number;
  /** The largest size of type (one em) with which it stays inside, in CRS units. */
  readonly em: number;
}

/** Heights that are looked at. */
const ROWS = 48;

type Spans = readonly (readonly [from: number, to: number])[];

/**
 * The largest rectangle of a shape (`width` x `height` in em) inside an area, by rows: as it is the area's own, texts of
 * neighbours never meet, and every picture of every scale puts it in the same place.
 */
export function placeFor(rings: readonly Points[], width: number, height: number): Place | undefined {
  const rows = rowsOf(rings);
  if (rows === undefined) return undefined;
  const { bottom, step, spans } = rows;
  let best: Place | undefined;
  for (const [middle, own] of spans.entries()) {
    let common = own;
    // Taller is narrower: once nothing common is wide enough to win, no more rows have to be looked at.
    for (let reach = 0; common.some(([from, to]) => (to - from) / width > (best?.em ?? 0)); reach++) {
      const em = ((2 * reach + 1) * step) / height;
      for (const [from, to] of common) {
        const fits = Math.min(em, (to - from) / width);
        if (fits > (best?.em ?? 0)) best = { x: (from + to) / 2, y: bottom + (middle + 0.5) * step, em: fits };
      }
      common = overlap(overlap(common, spans[middle - reach - 1] ?? []), spans[middle + reach + 1] ?? []);
    }
  }
  return best;
}

/** What is inside at the middle of each row. */
function rowsOf(rings: readonly Points[]): { bottom: number; step: number; spans: readonly Spans[] } | undefined {
  const bottom = Math.min(...rings.map(({ extent }) => extent.minY));
  const step = (Math.max(...rings.map(({ extent }) => extent.maxY)) - bottom) / ROWS;
  if (!(step > 0)) return undefined;
  const crossings: number[][] = Array.from({ length: ROWS }, () => []);
  for (const { points } of rings) {
    const n = points.length;
    for (let i = 0; i < n; i += 2) {
      const ax = points[i] ?? 0;
      const ay = ((points[i + 1] ?? 0) - bottom) / step - 0.5;
      const bx = points[(i + 2) % n] ?? 0;
      const by = ((points[(i + 3) % n] ?? 0) - bottom) / step - 0.5;
      const last = Math.ceil(Math.max(ay, by)) - 1;
      for (let row = Math.ceil(Math.min(ay, by)); row <= last; row++)
        crossings[row]?.push(ax + ((row - ay) / (by - ay)) * (bx - ax));
    }
  }
  const spans = crossings.map((xs) => {
    xs.sort((a, b) => a - b);
    return Array.from({ length: xs.length >> 1 }, (_, i) => [xs[2 * i] ?? 0, xs[2 * i + 1] ?? 0] as const);
  });
  return { bottom, step, spans };
}

function overlap(some: Spans, others: Spans): Spans {
  return some.flatMap(([from, to]) =>
    others.flatMap(([start, end]): Spans => {
      const [left, right] = [Math.max(from, start), Math.min(to, end)];
      return left < right ? [[left, right]] : [];
    }),
  );
}
