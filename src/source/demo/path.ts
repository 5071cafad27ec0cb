import type { Extent } from "../../grid/grid-set.ts";
import { areaOf, type Canvas, touches, unitsPerPixel } from "./canvas.ts";

/** A ring or a line: x, y, x, y… in the units of a CRS. */
export interface Points {
  readonly points: Float64Array;
  readonly extent: Extent;
}

/** Lines are clipped this far outside the picture, so that their ends are never seen. */
const MARGIN_PIXELS = 24;
/** Points nearer than this to one another are one: less than a pixel shows. */
const FINE_PIXELS = 0.8;
/** The same for strokes so wide and faint that nobody sees their bends: they cost by the point. */
const COARSE_PIXELS = 4;

/** A ring as SVG path data, clipped to the picture and thinned below what a pixel shows. */
export function ringPath({ points, extent }: Points, canvas: Canvas): string {
  const box = areaOf(canvas, MARGIN_PIXELS);
  if (!touches(extent, box)) return "";
  const thin = thinned(points, canvas, FINE_PIXELS);
  const clipped = isWithin(extent, box) ? thin : clip(thin, box);
  return clipped.length < 6 ? "" : `${dataOf(clipped, canvas)}z`;
}

/** A line as SVG path data, clipped and thinned as a ring is. */
export function linePath({ points, extent }: Points, canvas: Canvas, detail: "fine" | "coarse"): string {
  const box = areaOf(canvas, MARGIN_PIXELS);
  if (!touches(extent, box)) return "";
  const pixels = detail === "fine" ? FINE_PIXELS : COARSE_PIXELS;
  if (Math.max(extent.maxX - extent.minX, extent.maxY - extent.minY) < pixels * unitsPerPixel(canvas)) return "";
  const thin = thinned(points, canvas, pixels);
  if (isWithin(extent, box)) return dataOf(thin, canvas);
  return runsInside(thin, box)
    .map((run) => dataOf(run, canvas))
    .join("");
}

const isWithin = (a: Extent, box: Extent): boolean =>
  a.minX >= box.minX && a.maxX <= box.maxX && a.minY >= box.minY && a.maxY <= box.maxY;

/** So fine that a line that leaves the picture keeps its slope to less than a grey level of its neighbour's. */
const STEPS_PER_PIXEL = 100;

/** Nearly all steps of a map are short, and writing decimals is what costs most here: they are written once. */
const SHORT_STEPS = 1_000;
const SHORT_TEXTS = Array.from({ length: 2 * SHORT_STEPS + 1 }, (_, i) => String((i - SHORT_STEPS) / STEPS_PER_PIXEL));
const pixelsText = (steps: number): string => SHORT_TEXTS[steps + SHORT_STEPS] ?? String(steps / STEPS_PER_PIXEL);

/** Step by step, which is shorter to write and to read than places are. */
function dataOf(points: readonly number[], { extent, width, height }: Canvas): string {
  const scaleX = (STEPS_PER_PIXEL * width) / (extent.maxX - extent.minX);
  const scaleY = (STEPS_PER_PIXEL * height) / (extent.maxY - extent.minY);
  let lastX = 0;
  let lastY = 0;
  let path = "";
  for (let i = 0; i < points.length; i += 2) {
    const x = Math.round(((points[i] ?? 0) - extent.minX) * scaleX);
    const y = Math.round((extent.maxY - (points[i + 1] ?? 0)) * scaleY);
    path += `${i === 0 ? "M" : i === 2 ? "l" : " "}${pixelsText(x - lastX)} ${pixelsText(y - lastY)}`;
    lastX = x;
    lastY = y;
  }
  return path;
}

/** Depends on the line and the scale alone. The last point stays, so that lines meet where they met before. */
function thinned(points: Float64Array, canvas: Canvas, pixels: number): number[] {
  const step = (pixels * unitsPerPixel(canvas)) ** 2;
  const end = points.length - 2;
  const out: number[] = [];
  let lastX = Number.POSITIVE_INFINITY;
  let lastY = Number.POSITIVE_INFINITY;
  for (let i = 0; i <= end; i += 2) {
    const x = points[i] ?? 0;
    const y = points[i + 1] ?? 0;
    if ((x - lastX) ** 2 + (y - lastY) ** 2 < step && i < end) continue;
    lastX = x;
    lastY = y;
    out.push(x, y);
  }
  return out;
}

/** Sutherland and Hodgman, one side after the other. */
function clip(points: readonly number[], box: Extent): readonly number[] {
  const sides: readonly (readonly [axis: 0 | 1, bound: number, keep: 1 | -1])[] = [
    [0, box.minX, 1],
    [0, box.maxX, -1],
    [1, box.minY, 1],
    [1, box.maxY, -1],
  ];
  let from = points;
  for (const [axis, bound, keep] of sides) {
    const out: number[] = [];
    const n = from.length;
    const other = 1 - axis;
    // Along the side's own axis and across it; no objects: this runs for each point of each large country.
    let aAlong = from[n - 2 + axis] ?? 0;
    let aAcross = from[n - 2 + other] ?? 0;
    for (let i = 0; i < n; i += 2) {
      const bAlong = from[i + axis] ?? 0;
      const bAcross = from[i + other] ?? 0;
      const bIn = (bAlong - bound) * keep >= 0;
      if (bIn !== (aAlong - bound) * keep >= 0) {
        const across = aAcross + ((bound - aAlong) / (bAlong - aAlong)) * (bAcross - aAcross);
        if (axis === 0) out.push(bound, across);
        else out.push(across, bound);
      }
      if (bIn) out.push(from[i] ?? 0, from[i + 1] ?? 0);
      aAlong = bAlong;
      aAcross = bAcross;
    }
    from = out;
  }
  return from;
}

/** The parts of a line inside of a box: Liang and Barsky, piece by piece, what follows on joined again. */
function runsInside(points: readonly number[], box: Extent): readonly (readonly number[])[] {
  const runs: number[][] = [];
  let run: number[] | undefined;
  for (let i = 0; i + 3 < points.length; i += 2) {
    const ax = points[i] ?? 0;
    const ay = points[i + 1] ?? 0;
    const bx = points[i + 2] ?? 0;
    const by = points[i + 3] ?? 0;
    const part = holds(box, ax, ay) && holds(box, bx, by) ? WHOLE : partInside(ax, ay, bx, by, box);
    if (part === undefined) {
      run = undefined;
      continue;
    }
    const [from, to] = part;
    if (run === undefined || from > 0) {
      run = [ax + from * (bx - ax), ay + from * (by - ay)];
      runs.push(run);
    }
    run.push(ax + to * (bx - ax), ay + to * (by - ay));
    if (to < 1) run = undefined;
  }
  return runs;
}

const WHOLE = [0, 1] as const;

const holds = (box: Extent, x: number, y: number): boolean =>
  x >= box.minX && x <= box.maxX && y >= box.minY && y <= box.maxY;

function partInside(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  box: Extent,
): readonly [from: number, to: number] | undefined {
  if (Math.max(ax, bx) < box.minX || Math.min(ax, bx) > box.maxX) return undefined;
  if (Math.max(ay, by) < box.minY || Math.min(ay, by) > box.maxY) return undefined;
  let from = 0;
  let to = 1;
  const dx = bx - ax;
  const dy = by - ay;
  for (const [step, room] of [
    [-dx, ax - box.minX],
    [dx, box.maxX - ax],
    [-dy, ay - box.minY],
    [dy, box.maxY - ay],
  ] as const) {
    if (step === 0) {
      if (room < 0) return undefined;
      continue;
    }
    const at = room / step;
    if (step < 0) from = Math.max(from, at);
    else to = Math.min(to, at);
    if (from > to) return undefined;
  }
  return [from, to];
}
