import type { Extent } from "../../grid/grid-set.ts";
import { atlasOf, type Collection, type DegreeLine } from "./atlas.ts";
import type { Attributes } from "./filter.ts";
import type { Points } from "./path.ts";
import { type Projection, projectionOf } from "./projection.ts";
import { stateAttributes } from "./states-table.ts";

export interface Shape {
  readonly name: string;
  readonly attributes: Attributes;
  readonly rings: readonly Points[];
  readonly extent: Extent;
}

/** A piece of coast (one owner) or of a border (two), in a CRS. */
export interface Border {
  /** Names of shapes. */
  readonly owners: readonly string[];
  readonly lines: readonly Points[];
}

const shapes = new Map<string, readonly Shape[]>();
const borders = new Map<string, readonly Border[]>();

/** The features of a collection in a CRS, projected once. */
export function shapesOf(collection: Collection, srs: number): readonly Shape[] {
  return once(shapes, collection, srs, (projection) =>
    atlasOf(collection).areas.map(({ name, rings }) => {
      const made = projectedLines(rings, projection);
      return {
        name,
        attributes: collection === "states" ? stateAttributes(name) : { NAME: name },
        rings: made,
        extent: made.reduce((sum, { extent }) => union(sum, extent), NOTHING),
      };
    }),
  );
}

/** The coasts and borders of a collection in a CRS, each once, projected once. */
export function bordersOf(collection: Collection, srs: number): readonly Border[] {
  return once(borders, collection, srs, (projection) =>
    atlasOf(collection).borders.map(({ owners, lines }) => ({ owners, lines: projectedLines(lines, projection) })),
  );
}

function once<T>(known: Map<string, T>, collection: Collection, srs: number, make: (projection: Projection) => T): T {
  const key = `${collection}/${srs}`;
  const found = known.get(key) ?? make(projectionOf(srs));
  known.set(key, found);
  return found;
}

const NOTHING: Extent = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };

const union = (a: Extent, b: Extent): Extent => ({
  minX: Math.min(a.minX, b.minX),
  minY: Math.min(a.minY, b.minY),
  maxX: Math.max(a.maxX, b.maxX),
  maxY: Math.max(a.maxY, b.maxY),
});

const projectedLines = (lines: readonly DegreeLine[], projection: Projection): readonly Points[] =>
  lines.flatMap(({ degrees, isCopy }) => (isCopy && projection.wraps ? [] : (projected(degrees, projection) ?? [])));

/** Undefined: a part lies beyond the horizon of an azimuthal projection. */
export function projected(degrees: Float64Array, { project }: Projection): Points | undefined {
  const points = new Float64Array(degrees.length);
  let minX = Infinity;
  let minY = Infinity;
  let maxX = -Infinity;
  let maxY = -Infinity;
  for (let i = 0; i < degrees.length; i += 2) {
    const [x, y] = project(degrees[i] ?? 0, degrees[i + 1] ?? 0);
    if (!Number.isFinite(x) || !Number.isFinite(y)) return undefined;
    points[i] = x;
    points[i + 1] = y;
    minX = Math.min(minX, x);
    minY = Math.min(minY, y);
    maxX = Math.max(maxX, x);
    maxY = Math.max(maxY, y);
  }
  return { points, extent: { minX, minY, maxX, maxY } };
}
