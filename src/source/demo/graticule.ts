import { type Canvas, unitsPerPixel } from "./canvas.ts";
import { linePath, type Points } from "./path.ts";
import { projectionOf } from "./projection.ts";
import { projected } from "./shapes.ts";

/** Degrees between lines, from the smallest scale on: one is taken as long as its lines stand this far apart. */
const STEPS = [30, 10, 5, 1] as const;
const LEAST_PIXELS = 70;
const METRES_PER_DEGREE = 111_319;

const made = new Map<string, readonly Points[]>();

/** Meridians and parallels as SVG path data, denser with the scale; none below a degree. */
export function graticulePath(canvas: Canvas, srs: number): string {
  const degree = (srs === 4326 ? 1 : METRES_PER_DEGREE) / unitsPerPixel(canvas);
  const step = STEPS.findLast((degrees) => degrees * degree >= LEAST_PIXELS);
  if (step === undefined || degree > 1_000) return "";
  return linesOf(srs, step)
    .map((line) => linePath(line, canvas, "fine"))
    .join("");
}

function linesOf(srs: number, step: number): readonly Points[] {
  const key = `${srs}/${step}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const projection = projectionOf(srs);
  const lines: Points[] = [];
  const add = (degrees: readonly number[]): void => {
    const line = projected(Float64Array.from(degrees), projection);
    if (line !== undefined) lines.push(line);
  };
  // Straight in the cylindrical projections; in others short pieces make the bend.
  const piece = projection.wraps ? 2 : 180;
  for (let lon = -180; lon <= 180; lon += step) add(run(-90, 90, piece).flatMap((lat) => [lon, lat]));
  for (let lat = -90 + step; lat < 90; lat += step) add(run(-180, 180, piece).flatMap((lon) => [lon, lat]));
  made.set(key, lines);
  return lines;
}

const run = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
