import type { Extent, TileRect } from "./grid-set.ts";
import { mergeSpans, type Span, type TileSelection } from "./tile-selection.ts";

/** One ring of a polygon in CRS units: x, y of one corner after the other. The last one is joined to the first. */
export type Ring = Float64Array;
/** What an odd number of its rings is around: the first is the outline, the others are holes. */
export type Polygon = readonly Ring[];

/** Where the tiles of a level lie, in CRS units. */
export interface AreaLevel {
  readonly z: number;
  /** The lower left corner of tile 0, 0. */
  readonly x: number;
  readonly y: number;
  /** Of a tile. */
  readonly width: number;
  readonly height: number;
}

/** What at least one of several polygons is around; with the levels, so that a later change of the grid set changes nothing. */
export interface Area {
  readonly kind: "area";
  readonly polygons: readonly Polygon[];
  readonly levels: readonly AreaLevel[];
}

interface Edge {
  readonly polygon: number;
  /** The lower end, then the upper one. */
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** A border this close to a tile's edge, in tiles, counts as on it, as with bounds. */
const EDGE = 1e-6;
/** The same of a polygon that is small itself, in parts of it: it must not fall between the tiles. */
const EDGE_OF_SMALL = 1e-3;
const MOST_BANDS = 4096;
/** How often an edge may be in a band, on average: edges that are all as high as the area would be in each. */
const ENTRIES_PER_EDGE = 8;
const ROWS_REMEMBERED = 64;

/** What counts as a tile's border, in tiles. */
interface Margin {
  readonly x: number;
  readonly y: number;
}
const NO_MARGIN: Margin = { x: 0, y: 0 };

/** Where an edge of a polygon crosses the middle line of a row. */
interface Crossing {
  readonly polygon: number;
  readonly x: number;
  readonly margin: number;
}

/** The smallest box around polygons. */
export function extentAround(polygons: readonly Polygon[]): Extent {
  let minX = Number.POSITIVE_INFINITY;
  let minY = Number.POSITIVE_INFINITY;
  let maxX = Number.NEGATIVE_INFINITY;
  let maxY = Number.NEGATIVE_INFINITY;
  for (const [x, y] of polygons.flat().flatMap(cornersOf)) {
    minX = Math.min(minX, x);
    minY = Math.min(minY, y);
    maxX = Math.max(maxX, x);
    maxY = Math.max(maxY, y);
  }
  return { minX, minY, maxX, maxY };
}

export const cornersOf = (ring: Ring): (readonly [number, number])[] =>
  Array.from({ length: ring.length / 2 }, (_, i) => [ring[2 * i] ?? 0, ring[2 * i + 1] ?? 0] as const);

/** The tiles of a level that a box touches, not yet cut to what there is of the level. */
export const rectAround = ({ minX, minY, maxX, maxY }: Extent, at: AreaLevel): TileRect => ({
  z: at.z,
  minX: Math.floor((minX - at.x) / at.width),
  minY: Math.floor((minY - at.y) / at.height),
  maxX: Math.ceil((maxX - at.x) / at.width) - 1,
  maxY: Math.ceil((maxY - at.y) / at.height) - 1,
});

/** Looking at an edge of the area in a row of tiles is a step: this many take all rows of all levels. */
export function stepsOf({ polygons, levels }: Pick<Area, "polygons" | "levels">): number {
  let height = 0;
  let edges = 0;
  for (const ring of polygons.flat()) {
    const corners = cornersOf(ring);
    let before = corners.at(-1)?.[1] ?? 0;
    for (const [, y] of corners) {
      height += Math.abs(y - before);
      before = y;
    }
    edges += corners.length;
  }
  return levels.reduce((sum, level) => sum + height / level.height + edges, 0);
}

/**
 * An area as a selection: a tile is in it when they have more in common than a border. That is so when an edge of the area
 * runs through the inside of the tile, or else when any point of the tile, here one of its middle line, lies in the area.
 * An edge counts wherever it runs, also where a ring goes there and back.
 */
export class AreaIndex implements TileSelection {
  readonly #levels: ReadonlyMap<number, AreaLevel>;
  /** Of each polygon. */
  readonly #extents: readonly Extent[];
  /** Where the polygons lie, from bottom to top: [bottom, top], ascending, none touching. */
  readonly #storeys: readonly (readonly [number, number])[];
  /** Edges by height: each band is as high as any other, and holds all that reach into it. */
  readonly #bands: readonly (readonly Edge[])[];
  readonly #bottom: number;
  readonly #bandHeight: number;
  #recentLevel = -1;
  #margins: { readonly z: number; readonly of: readonly Margin[] } | undefined;
  readonly #recentRows = new Map<number, readonly Span[]>();

  constructor({ polygons, levels }: Area) {
    this.#levels = new Map(levels.map((level) => [level.z, level]));
    this.#extents = polygons.map((polygon) => extentAround([polygon]));
    this.#storeys = storeysOf(this.#extents);
    const edges = polygons.flatMap((polygon, n) => polygon.flatMap((ring) => edgesOf(ring, n)));
    this.#bottom = this.#storeys[0]?.[0] ?? 0;
    const height = (this.#storeys.at(-1)?.[1] ?? 0) - this.#bottom;
    const bands = bandCount(edges, height);
    this.#bandHeight = height / bands;
    const filled: Edge[][] = Array.from({ length: bands }, () => []);
    this.#bands = filled;
    for (const edge of edges) {
      for (let band = this.#bandOf(edge.y0); band <= this.#bandOf(edge.y1); band++) filled[band]?.push(edge);
    }
  }

  #bandOf(y: number): number {
    const band = Math.floor((y - this.#bottom) / this.#bandHeight);
    return Math.max(0, Math.min(this.#bands.length - 1, band));
  }

  spans(z: number, y: number): readonly Span[] {
    const level = this.#levels.get(z);
    if (level === undefined) return [];
    if (this.#recentLevel !== z || this.#recentRows.size >= ROWS_REMEMBERED) this.#recentRows.clear();
    this.#recentLevel = z;
    const known = this.#recentRows.get(y);
    if (known !== undefined) return known;
    const spans = this.#spansOf(level, y);
    this.#recentRows.set(y, spans);
    return spans;
  }

  /** Counted from the lower left corner of the level, in tiles: column c reaches from c to c + 1. */
  #spansOf(level: AreaLevel, y: number): readonly Span[] {
    const found: Span[] = [];
    const crossings: Crossing[] = [];
    const margins = this.#marginsAt(level);
    const middle = y + 0.5;
    const bottom = level.y + y * level.height;
    const top = level.y + (y + 1) * level.height;
    const lowest = this.#bandOf(bottom);
    const highest = this.#bandOf(top);
    for (let band = lowest; band <= highest; band++) {
      for (const edge of this.#bands[band] ?? []) {
        // Most edges of a band end before the row.
        if (edge.y1 < bottom || edge.y0 > top) continue;
        // It has been looked at in a lower band.
        if (band > lowest && this.#bandOf(edge.y0) < band) continue;
        const margin = margins[edge.polygon] ?? NO_MARGIN;
        const y0 = (edge.y0 - level.y) / level.height;
        const y1 = (edge.y1 - level.y) / level.height;
        const from = Math.max(y0, y + margin.y);
        const to = Math.min(y1, y + 1 - margin.y);
        if (from > to) continue;
        const x0 = (edge.x0 - level.x) / level.width;
        const x1 = (edge.x1 - level.x) / level.width;
        if (y0 === y1) {
          addSpan(found, x0, x1, margin.x);
          continue;
        }
        const slope = (x1 - x0) / (y1 - y0);
        const start = from === y0 ? x0 : x0 + slope * (from - y0);
        const end = to === y1 ? x1 : x0 + slope * (to - y0);
        if (from < to) addSpan(found, start, end, margin.x);
        if (y0 <= middle && y1 > middle)
          crossings.push({ polygon: edge.polygon, x: x0 + slope * (middle - y0), margin: margin.x });
      }
    }
    crossings.sort((a, b) => a.polygon - b.polygon || a.x - b.x);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const [enter, leave] = [crossings[i], crossings[i + 1]];
      if (enter !== undefined && leave !== undefined) addSpan(found, enter.x, leave.x, enter.margin);
    }
    return mergeSpans(found);
  }

  #marginsAt(level: AreaLevel): readonly Margin[] {
    if (this.#margins?.z !== level.z) {
      const of = this.#extents.map(({ minX, minY, maxX, maxY }) => ({
        x: Math.min(EDGE, (EDGE_OF_SMALL * (maxX - minX)) / level.width),
        y: Math.min(EDGE, (EDGE_OF_SMALL * (maxY - minY)) / level.height),
      }));
      this.#margins = { z: level.z, of };
    }
    return this.#margins.of;
  }

  nextRow(z: number, y: number): number | undefined {
    const level = this.#levels.get(z);
    if (level === undefined) return undefined;
    const bottom = level.y + y * level.height;
    let low = 0;
    let high = this.#storeys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#storeys[middle]?.[1] ?? 0) <= bottom) low = middle + 1;
      else high = middle;
    }
    const storey = this.#storeys[low];
    return storey === undefined ? undefined : Math.max(y, Math.floor((storey[0] - level.y) / level.height));
  }
}

/** What lies between two places of a row, both not included. */
function addSpan(spans: Span[], a: number, b: number, margin: number): void {
  const first = Math.floor(Math.min(a, b) + margin);
  const last = Math.ceil(Math.max(a, b) - margin) - 1;
  if (first <= last) spans.push({ first, last });
}

function edgesOf(ring: Ring, polygon: number): Edge[] {
  const corners = cornersOf(ring);
  const edges: Edge[] = [];
  let before = corners.at(-1);
  for (const corner of corners) {
    const [a, b] = before === undefined || before[1] <= corner[1] ? [before ?? corner, corner] : [corner, before];
    before = corner;
    if (a[0] !== b[0] || a[1] !== b[1]) edges.push({ polygon, x0: a[0], y0: a[1], x1: b[0], y1: b[1] });
  }
  return edges;
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
