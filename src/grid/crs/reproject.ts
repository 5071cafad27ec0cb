import type { Ring } from "../area-parts.ts";
import type { Transform } from "./coordinate-systems.ts";

/** x, y. */
export type Position = readonly [number, number];

/** Why a ring cannot be converted to another CRS. `near` is a position near the problem, in the ring's CRS. */
export type ProjectionFailure =
  /** The ring has no image in the other CRS, or its image is torn apart. */
  { readonly kind: "no_place"; readonly near: Position } | { readonly kind: "too_many_corners" };

/** The most times an edge is halved. A curve needs far fewer halvings; more means that the image is torn apart. */
const MOST_HALVINGS = 32;
/** The number of parts of edges between two yields. One edge may have hundreds of thousands of parts. */
const PARTS_AT_ONCE = 128;
/** The positions along an edge whose images are compared with a straight line. */
const PROBES = [0.25, 0.5, 0.75] as const;

/**
 * Converts a ring to another CRS, in which straight edges may become curves. A curved edge gets additional corners
 * until no edge is farther from the curve than the tolerance.
 * @param tolerance in units of the other CRS
 * @param most the most corners of the result
 * @yields regularly, so that the caller can pause
 */
export function* reprojectRing(
  ring: readonly Position[],
  transform: Transform,
  tolerance: number,
  most: number,
): Generator<undefined, Ring | ProjectionFailure> {
  const corners: number[] = [];
  /** The remaining parts of the current edge. The next part is the last item. */
  const parts: EdgePart[] = [];
  let looks = 0;
  let before = ring.at(-1);
  for (const corner of ring) {
    if (before === undefined) break;
    const [from, to] = [transform(...before), transform(...corner)];
    if (!isFinitePosition(to)) return { kind: "no_place", near: corner };
    if (!isFinitePosition(from)) return { kind: "no_place", near: before };
    parts.push({ a: before, b: corner, from, to, halvings: 0 });
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      if (looks++ % PARTS_AT_ONCE === 0) yield;
      const middle = halved(part, transform, tolerance);
      if (middle === undefined) {
        corners.push(...part.to);
        if (corners.length > 2 * most) return { kind: "too_many_corners" };
        continue;
      }
      if (part.halvings === MOST_HALVINGS || !isFinitePosition(middle.from))
        return { kind: "no_place", near: middle.a };
      parts.push(middle, { ...part, b: middle.a, to: middle.from, halvings: middle.halvings });
    }
    before = corner;
  }
  return Float64Array.from(corners);
}

/** A part of an edge from `a` to `b`, and the images of both ends. */
interface EdgePart {
  readonly a: Position;
  readonly b: Position;
  readonly from: Position;
  readonly to: Position;
  readonly halvings: number;
}

/** Returns the second half of a part whose image is a curve. Undefined if the image is straight enough. */
function halved({ a, b, from, to, halvings }: EdgePart, transform: Transform, tolerance: number): EdgePart | undefined {
  const between = PROBES.map((part): Position => [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part]);
  const probed = between.map(([x, y]) => transform(x, y));
  // A point without an image is not finite, so its distance is never within the tolerance.
  if (probed.every((p) => distanceToLine(p, from, to) <= tolerance)) return undefined;
  const [, middle = a] = between;
  const [, at = from] = probed;
  return { a: middle, b, from: at, to, halvings: halvings + 1 };
}

const isFinitePosition = ([x, y]: Position): boolean => Number.isFinite(x) && Number.isFinite(y);

function distanceToLine([x, y]: Position, [x0, y0]: Position, [x1, y1]: Position): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const part = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / length));
  return Math.hypot(x - x0 - part * dx, y - y0 - part * dy);
}
