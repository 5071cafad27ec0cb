import type { Extent } from "../../grid/grid-set.ts";
import type { Ring } from "./shapes.ts";

/** From CRS units to pixels of a picture, y down. */
export interface Canvas {
  readonly extent: Extent;
  readonly width: number;
  readonly height: number;
}

/** Lines are clipped this far outside the picture, so that their ends are never seen. */
const MARGIN_PIXELS = 24;

/**
 * A ring as SVG path data, clipped to the picture and thinned below what a pixel shows. Thinning snaps points to a grid
 * that is fixed to the CRS, so that neighbouring pictures keep the same points.
 */
export function pathOf({ points, extent }: Ring, canvas: Canvas): string {
  const scaleX = canvas.width / (canvas.extent.maxX - canvas.extent.minX);
  const scaleY = canvas.height / (canvas.extent.maxY - canvas.extent.minY);
  const marginX = MARGIN_PIXELS / scaleX;
  const marginY = MARGIN_PIXELS / scaleY;
  const box: Extent = {
    minX: canvas.extent.minX - marginX,
    minY: canvas.extent.minY - marginY,
    maxX: canvas.extent.maxX + marginX,
    maxY: canvas.extent.maxY + marginY,
  };
  if (extent.maxX < box.minX || extent.minX > box.maxX || extent.maxY < box.minY || extent.minY > box.maxY) return "";
  const inside =
    extent.minX >= box.minX && extent.maxX <= box.maxX && extent.minY >= box.minY && extent.maxY <= box.maxY;
  const thin = thinned(points, 0.4 / scaleX, 0.4 / scaleY);
  const clipped = inside ? thin : clip(thin, box);
  if (clipped.length < 6) return "";
  let path = "";
  for (let i = 0; i < clipped.length; i += 2) {
    const x = ((clipped[i] ?? 0) - canvas.extent.minX) * scaleX;
    const y = (canvas.extent.maxY - (clipped[i + 1] ?? 0)) * scaleY;
    path += `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
  }
  return `${path}Z`;
}

function thinned(points: Float64Array, stepX: number, stepY: number): number[] {
  const out: number[] = [];
  let lastX = Number.NaN;
  let lastY = Number.NaN;
  for (let i = 0; i < points.length; i += 2) {
    const x = points[i] ?? 0;
    const y = points[i + 1] ?? 0;
    const cellX = Math.round(x / stepX);
    const cellY = Math.round(y / stepY);
    if (cellX === lastX && cellY === lastY) continue;
    lastX = cellX;
    lastY = cellY;
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
    for (let i = 0; i < n; i += 2) {
      const a = [from[(i + n - 2) % n] ?? 0, from[(i + n - 1) % n] ?? 0] as const;
      const b = [from[i] ?? 0, from[i + 1] ?? 0] as const;
      const aIn = (a[axis] - bound) * keep >= 0;
      const bIn = (b[axis] - bound) * keep >= 0;
      if (aIn !== bIn) {
        const t = (bound - a[axis]) / (b[axis] - a[axis]);
        out.push(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]));
      }
      if (bIn) out.push(b[0], b[1]);
    }
    from = out;
  }
  return from;
}
