import type { Extent } from "./grid-set.ts";

/**
 * A ring of a polygon in CRS units, as alternating x and y of its corners. An edge joins the last corner to the first.
 */
export type Ring = Float64Array;
/**
 * A polygon as its rings. A point lies in the polygon when an odd number of its rings surround the point: the first
 * ring is the outline, all other rings are holes.
 */
export type Polygon = readonly Ring[];

interface Edge {
  readonly polygon: number;
  /** The lower end (x0, y0) and the upper end (x1, y1). */
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

const MOST_BANDS = 4096;
/**
 * The most bands that list an edge, on average. Without this limit, edges as high as the whole area would be listed in
 * every band.
 */
const ENTRIES_PER_EDGE = 8;
/** The number of edges between two pauses: one or two milliseconds of work. */
export const EDGES_PER_PAUSE = 4096;

/** Returns the smallest box around polygons. */
export function extentAround(polygons: readonly Polygon[]): Extent {
  let minX = Number.POSITIVE_INFINITY;
  let minY = Number.POSITIVE_INFINITY;
  let maxX = Number.NEGATIVE_INFINITY;
  let maxY = Number.NEGATIVE_INFINITY;
  for (const ring of polygons.flat()) {
    for (let i = 0; i < ring.length; i += 2) {
      const [x, y] = [ring[i] ?? 0, ring[i + 1] ?? 0];
      minX = Math.min(minX, x);
      minY = Math.min(minY, y);
      maxX = Math.max(maxX, x);
      maxY = Math.max(maxY, y);
    }
  }
  return { minX, minY, maxX, maxY };
}

/** The precomputed parts of an area. Their size depends on the area, not on the number of its levels. */
export interface AreaParts {
  /** The extent of each polygon. */
  readonly extents: readonly Extent[];
  /** The ranges of y that the polygons cover, as [bottom, top]. Ascending; no two ranges touch. */
  readonly storeys: readonly (readonly [number, number])[];
  readonly bands: Bands;
}

/** Edges sorted into bands by their y. All bands have the same height. Each band lists every edge that overlaps it. */
export interface Bands {
  readonly edges: readonly (readonly Edge[])[];
  readonly bottom: number;
  readonly height: number;
}

export const bandAt = ({ edges, bottom, height }: Bands, y: number): number =>
  Math.max(0, Math.min(edges.length - 1, Math.floor((y - bottom) / height)));

/** Computes the parts of an area. Yields every one or two milliseconds. */
export function* partsOf(polygons: readonly Polygon[]): Generator<undefined, AreaParts> {
  const edges: Edge[] = [];
  const extents: Extent[] = [];
  for (const [n, polygon] of polygons.entries()) {
    extents.push(extentAround([polygon]));
    for (const ring of polygon) yield* addEdges(edges, ring, n);
    if (n % EDGES_PER_PAUSE === 0) yield;
  }
  yield;
  const storeys = storeysOf(extents);
  yield;
  const bottom = storeys[0]?.[0] ?? 0;
  const height = (storeys.at(-1)?.[1] ?? 0) - bottom;
  const count = bandCount(edges, height);
  yield;
  const filled: Edge[][] = Array.from({ length: count }, () => []);
  const bands: Bands = { edges: filled, bottom, height: height / count };
  for (const [n, edge] of edges.entries()) {
    const last = bandAt(bands, edge.y1);
    for (let band = bandAt(bands, edge.y0); band <= last; band++) filled[band]?.push(edge);
    if (n % EDGES_PER_PAUSE === 0) yield;
  }
  return { extents, storeys, bands };
}

function* addEdges(edges: Edge[], ring: Ring, polygon: number): Generator<undefined, void> {
  let [beforeX, beforeY] = [ring.at(-2) ?? 0, ring.at(-1) ?? 0];
  for (let i = 0; i < ring.length; i += 2) {
    const [x, y] = [ring[i] ?? 0, ring[i + 1] ?? 0];
    if (beforeX !== x || beforeY !== y)
      edges.push(
        beforeY <= y
          ? { polygon, x0: beforeX, y0: beforeY, x1: x, y1: y }
          : { polygon, x0: x, y0: y, x1: beforeX, y1: beforeY },
      );
    [beforeX, beforeY] = [x, y];
    if (i % (2 * EDGES_PER_PAUSE) === 0) yield;
  }
}

function storeysOf(extents: readonly Extent[]): (readonly [number, number])[] {
  const storeys: (readonly [number, number])[] = [];
  let open: readonly [number, number] | undefined;
  for (const { minY, maxY } of [...extents].sort((a, b) => a.minY - b.minY)) {
    if (open === undefined || minY > open[1]) {
      if (open !== undefined) storeys.push(open);
      open = [minY, maxY];
    } else open = [open[0], Math.max(open[1], maxY)];
  }
  if (open !== undefined) storeys.push(open);
  return storeys;
}

function bandCount(edges: readonly Edge[], height: number): number {
  const heights = edges.reduce((sum, { y0, y1 }) => sum + y1 - y0, 0);
  let bands = Math.max(1, Math.min(MOST_BANDS, edges.length));
  while (bands > 1 && (heights / height) * bands > ENTRIES_PER_EDGE * edges.length + MOST_BANDS) bands >>= 1;
  return bands;
}
