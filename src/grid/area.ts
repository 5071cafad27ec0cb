import { firstWhere } from "../lib/first-where.ts";
import { atOnce } from "../lib/process/slices.ts";
import { type AreaParts, type Bands, bandAt, EDGES_PER_PAUSE, type Polygon, partsOf, type Ring } from "./area-parts.ts";
import { asTileRect, asTileY, type Extent, type TileRect, type TileY, type Zoom } from "./grid-set.ts";
import type { Span, TileSelection } from "./tile-selection.ts";

/** The position and size of a level's tiles, in CRS units. */
export interface AreaLevel {
  readonly z: Zoom;
  /** The lower left corner of tile 0, 0. */
  readonly x: number;
  readonly y: number;
  /** The size of a tile, in CRS units. */
  readonly width: number;
  readonly height: number;
}

/**
 * The union of several polygons. The area stores its levels, so that a later change of the grid set does not change the
 * area.
 */
export interface Area {
  readonly kind: "area";
  readonly polygons: readonly Polygon[];
  readonly levels: readonly AreaLevel[];
  /** The number of tiles around the area, on each side, that the area also selects. Absent: no tiles. */
  readonly buffer?: number;
}

/** If the border of an area is this close to a tile's edge, in tiles, it counts as lying on the edge, as for bounds. */
const EDGE = 1e-6;
/** The same distance relative to the size of a small polygon, so that the polygon does not fall between the tiles. */
const EDGE_OF_SMALL = 1e-3;
const ROWS_REMEMBERED = 64;

/**
 * The width of a tile's border on each axis, in tiles. If negative, the surroundings of the tile count as its inside.
 */
interface Margin {
  readonly x: number;
  readonly y: number;
}

export const cornersOf = (ring: Ring): (readonly [number, number])[] =>
  Array.from({ length: ring.length / 2 }, (_, i) => [ring[2 * i] ?? 0, ring[2 * i + 1] ?? 0] as const);

/** Returns the tiles of a level that a box touches, not yet clipped to the level. */
export const rectAround = ({ minX, minY, maxX, maxY }: Extent, at: AreaLevel): TileRect =>
  asTileRect({
    z: at.z,
    minX: Math.floor((minX - at.x) / at.width),
    minY: Math.floor((minY - at.y) / at.height),
    maxX: Math.ceil((maxX - at.x) / at.width) - 1,
    maxY: Math.ceil((maxY - at.y) / at.height) - 1,
  });

/**
 * Returns the number of steps for all rows of all levels. One step compares one edge of the area with one row of tiles.
 */
export function stepsOf({ polygons, levels }: Pick<Area, "polygons" | "levels">): number {
  let height = 0;
  let edges = 0;
  for (const ring of polygons.flat()) {
    let before = ring.at(-1) ?? 0;
    for (let i = 1; i < ring.length; i += 2) {
      const y = ring[i] ?? 0;
      height += Math.abs(y - before);
      before = y;
    }
    edges += ring.length / 2;
  }
  return levels.reduce((sum, level) => sum + height / level.height + edges, 0);
}

/**
 * An area as a selection. The area selects a tile when it overlaps more than the tile's border. That is so if an edge
 * of the area runs through the inside of the tile, or if a point of the tile's middle line lies in the area. This
 * applies to every edge, even where a ring doubles back on itself.
 */
export class AreaIndex implements TileSelection {
  readonly #levels: ReadonlyMap<number, AreaLevel>;
  /** The extent of each polygon. */
  readonly #extents: readonly Extent[];
  readonly #storeys: AreaParts["storeys"];
  readonly #bands: Bands;
  readonly #buffer: number;
  #recentLevel = -1;
  #margins: { readonly z: Zoom; readonly of: readonly Margin[] } | undefined;
  readonly #recentRows = new Map<number, readonly Span[]>();

  constructor({ levels, buffer = 0 }: Area, { extents, storeys, bands }: AreaParts) {
    this.#levels = new Map(levels.map((level) => [level.z, level]));
    this.#extents = extents;
    this.#storeys = storeys;
    this.#bands = bands;
    this.#buffer = buffer;
  }

  /** Builds the index. Yields every few milliseconds. */
  static *inSteps(area: Area): Generator<undefined, AreaIndex> {
    return new AreaIndex(area, yield* partsOf(area.polygons));
  }

  spans(z: Zoom, y: TileY): readonly Span[] {
    return this.#remembered(z, y) ?? atOnce(this.spansInSteps(z, y));
  }

  *spansInSteps(z: Zoom, y: TileY): Generator<undefined, readonly Span[]> {
    const level = this.#levels.get(z);
    if (level === undefined) return [];
    const known = this.#remembered(z, y);
    if (known !== undefined) return known;
    const spans = yield* this.#spansOf(level, y);
    if (this.#recentLevel !== z || this.#recentRows.size >= ROWS_REMEMBERED) this.#recentRows.clear();
    this.#recentLevel = z;
    this.#recentRows.set(y, spans);
    return spans;
  }

  #remembered(z: Zoom, y: TileY): readonly Span[] | undefined {
    return this.#recentLevel === z ? this.#recentRows.get(y) : undefined;
  }

  /**
   * Computes the spans of a row. Columns are counted from the lower left corner of the level: column c reaches from c
   * to c + 1.
   */
  *#spansOf(level: AreaLevel, y: TileY): Generator<undefined, readonly Span[]> {
    const found = new SpanUnion();
    /** For each polygon, the x at which its edges cross the middle line of the row. */
    const crossings = new Map<number, number[]>();
    const margins = this.#marginsAt(level);
    const middle = y + 0.5;
    const bottom = level.y + (y - this.#buffer) * level.height;
    const top = level.y + (y + 1 + this.#buffer) * level.height;
    const lowest = bandAt(this.#bands, bottom);
    const highest = bandAt(this.#bands, top);
    let looks = 0;
    for (let band = lowest; band <= highest; band++) {
      for (const edge of this.#bands.edges[band] ?? []) {
        if (++looks % EDGES_PER_PAUSE === 0) yield;
        // Most edges of a band end before the row.
        if (edge.y1 < bottom || edge.y0 > top) continue;
        // The edge was already handled in a lower band.
        if (band > lowest && bandAt(this.#bands, edge.y0) < band) continue;
        const margin = margins[edge.polygon] ?? { x: -this.#buffer, y: -this.#buffer };
        const y0 = (edge.y0 - level.y) / level.height;
        const y1 = (edge.y1 - level.y) / level.height;
        const from = Math.max(y0, y + margin.y);
        const to = Math.min(y1, y + 1 - margin.y);
        if (from > to) continue;
        const x0 = (edge.x0 - level.x) / level.width;
        const x1 = (edge.x1 - level.x) / level.width;
        if (y0 === y1) {
          found.between(x0, x1, margin.x);
          continue;
        }
        const slope = (x1 - x0) / (y1 - y0);
        const start = from === y0 ? x0 : x0 + slope * (from - y0);
        const end = to === y1 ? x1 : x0 + slope * (to - y0);
        if (from < to) found.between(start, end, margin.x);
        if (y0 > middle || y1 <= middle) continue;
        const known = crossings.get(edge.polygon);
        const x = x0 + slope * (middle - y0);
        if (known === undefined) crossings.set(edge.polygon, [x]);
        else known.push(x);
      }
    }
    for (const [polygon, unsorted] of crossings) {
      looks += unsorted.length;
      if (looks > EDGES_PER_PAUSE) {
        looks = 0;
        yield;
      }
      const margin = margins[polygon] ?? { x: -this.#buffer, y: -this.#buffer };
      const sorted = Float64Array.from(unsorted).sort();
      for (let i = 0; i + 1 < sorted.length; i += 2) found.between(sorted[i] ?? 0, sorted[i + 1] ?? 0, margin.x);
    }
    yield;
    return found.spans();
  }

  #marginsAt(level: AreaLevel): readonly Margin[] {
    if (this.#margins?.z !== level.z) {
      const of = this.#extents.map(({ minX, minY, maxX, maxY }) => ({
        x: Math.min(EDGE, (EDGE_OF_SMALL * (maxX - minX)) / level.width) - this.#buffer,
        y: Math.min(EDGE, (EDGE_OF_SMALL * (maxY - minY)) / level.height) - this.#buffer,
      }));
      this.#margins = { z: level.z, of };
    }
    return this.#margins.of;
  }

  nextRow(z: Zoom, y: TileY): TileY | undefined {
    const level = this.#levels.get(z);
    if (level === undefined) return undefined;
    const bottom = level.y + (y - this.#buffer) * level.height;
    const storeys = this.#storeys;
    const storey = storeys[firstWhere(storeys.length, (i) => (storeys[i]?.[1] ?? 0) > bottom)];
    return storey === undefined
      ? undefined
      : asTileY(Math.max(y, Math.floor((storey[0] - level.y) / level.height - this.#buffer)));
  }
}

/**
 * Collects any number of spans of a row, in any order. Sorts the first and the last columns separately, as plain
 * numbers, so that a row of 250,000 edges does not block the thread for half a second.
 */
class SpanUnion {
  readonly #firsts: number[] = [];
  readonly #lasts: number[] = [];

  /** Adds the columns between two positions, without the columns at the positions. */
  between(a: number, b: number, margin: number): void {
    const first = Math.floor(Math.min(a, b) + margin);
    const last = Math.ceil(Math.max(a, b) - margin) - 1;
    if (first > last) return;
    this.#firsts.push(first);
    this.#lasts.push(last);
  }

  /** Returns the fewest spans that contain the same columns. Ascending; no two spans touch. */
  spans(): readonly Span[] {
    const firsts = Float64Array.from(this.#firsts).sort();
    const lasts = Float64Array.from(this.#lasts).sort();
    const union: Span[] = [];
    let begun = 0;
    for (let i = 0; i < firsts.length; i++) {
      const last = lasts[i] ?? 0;
      // At this point as many spans have ended as begun, and the next span begins later: the merged span is complete.
      if (i + 1 < firsts.length && (firsts[i + 1] ?? 0) <= last + 1) continue;
      union.push({ first: firsts[begun] ?? 0, last });
      begun = i + 1;
    }
    return union;
  }
}
