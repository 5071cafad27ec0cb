import type { Ring } from "./area-parts.ts";
import type { Transform } from "./coordinate-systems.ts";

/** x, y. */
export type Position = readonly [number, number];

/** Why a ring cannot be converted to another CRS. `near` is the position of the problem, in the ring's own CRS. */
export type ProjectionFailure =
  /** The ring has no image in the other CRS, or its image is torn apart. */
  { readonly kind: "no_place"; readonly near: Position } | { readonly kind: "too_many_corners" };

/** The most times an edge is halved. A curve needs far fewer halvings; more means that the image is torn apart. */
const MOST_HALVINGS = 32;
/** The number of corners between two pauses. */
const CORNERS_AT_ONCE = 128;
/** The positions along an edge at which its image is compared with a straight line. */
const PROBES = [0.25, 0.5, 0.75] as const;

/**
 * Converts a ring to another CRS, in which straight edges may become curves. A curved edge gets additional corners, so
 * many that no edge is farther from the curve than the tolerance.
 * @param tolerance in units of the other CRS
 * @param most the most corners of the result
 * @yields now and then
 */
export function* reprojectRing(
  ring: readonly Position[],
  transform: Transform,
  tolerance: number,
  most: number,
): Generator<undefined, Ring | ProjectionFailure> {
  const corners: number[] = [];
  let failure: ProjectionFailure | undefined;

  const follow = (a: Position, b: Position, from: Position, to: Position, halvings: number): void => {
    if (failure !== undefined) return;
    const between = PROBES.map((part): Position => [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part]);
    const probed = between.map(([x, y]) => transform(x, y));
    // A point without an image is not finite, so its distance is never within the tolerance.
    if (probed.every((p) => distanceToLine(p, from, to) <= tolerance)) {
      corners.push(to[0], to[1]);
      if (corners.length > 2 * most) failure = { kind: "too_many_corners" };
      return;
    }
    const [, middle = a] = between;
    const [, at = from] = probed;
    if (halvings === MOST_HALVINGS || !isFinitePosition(at)) {
      failure = { kind: "no_place", near: middle };
      return;
    }
    follow(a, middle, from, at, halvings + 1);
    follow(middle, b, at, to, halvings + 1);
  };

  let before = ring.at(-1);
  for (const [i, corner] of ring.entries()) {
    if (before === undefined || failure !== undefined) break;
    if (i % CORNERS_AT_ONCE === 0) yield;
    const [from, to] = [transform(...before), transform(...corner)];
    if (!isFinitePosition(to)) failure = { kind: "no_place", near: corner };
    else if (isFinitePosition(from)) follow(before, corner, from, to, 0);
    else failure = { kind: "no_place", near: before };
    before = corner;
  }
  return failure ?? Float64Array.from(corners);
}

const isFinitePosition = ([x, y]: Position): boolean => Number.isFinite(x) && Number.isFinite(y);

function distanceToLine([x, y]: Position, [x0, y0]: Position, [x1, y1]: Position): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const part = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / length));
  return Math.hypot(x - x0 - part * dx, y - y0 - part * dy);
}
