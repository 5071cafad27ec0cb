import type { Branded } from "../lib/brand.ts";
import { trimEndOf } from "../lib/text/trim-end.ts";

/** A level of a grid set, counted from 0. */
export type Zoom = Branded<number, "zoom">;
export const asZoom = (level: number): Zoom => level as Zoom;
/** The column of a tile, from the left. */
export type TileX = Branded<number, "x">;
export const asTileX = (column: number): TileX => column as TileX;
/** The row of a tile, from the bottom. */
export type TileY = Branded<number, "y">;
export const asTileY = (row: number): TileY => row as TileY;
export type GridSetName = Branded<string, "grid set">;
export const asGridSetName = (name: string): GridSetName => name as GridSetName;
/** A number of tiles. It can pass 2^53. */
export type TileCount = Branded<bigint, "tiles">;
export const asTileCount = (tiles: bigint): TileCount => tiles as TileCount;

/** minx, miny, maxx, maxy in the units of a CRS, x always first. */
export interface Extent {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** One level of a grid set. */
export interface TileMatrix {
  /** The identifier in protocols, such as `EPSG:4326:3` or `3`. */
  readonly name: string;
  /** CRS units per pixel. */
  readonly resolution: number;
  /** OGC scale denominator (0.28 mm pixels). */
  readonly scaleDenominator: number;
  /** The number of tiles from left to right, and from bottom to top. */
  readonly matrixWidth: number;
  readonly matrixHeight: number;
}

/**
 * A named pyramid of tile matrices in one CRS (WMTS 1.0.0, 6.1; GWC's numbers, `docs/explanation/geowebcache.md`, Grid
 * sets).
 */
export interface GridSet {
  readonly id: GridSetName;
  readonly title?: string;
  /** EPSG code. */
  readonly srs: number;
  readonly extent: Extent;
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Tiles are anchored to the top left corner of the extent instead of the bottom left. */
  readonly alignTopLeft: boolean;
  /** The CRS's official axis order is y, x (WMTS TopLeftCorner, WMS 1.3.0 BBOX). */
  readonly yCoordinateFirst: boolean;
  readonly metersPerUnit: number;
  /** Metres per pixel that `definingScales` assume. Absent: 0.28 mm (OGC). */
  readonly pixelSize?: number;
  /** The configured scale denominators, one per level. Absent if resolutions define the levels. */
  readonly definingScales?: readonly number[];
  readonly matrices: readonly TileMatrix[];
}

/**
 * x from the left, y from the **bottom**, z the level. The program uses GWC's order everywhere inside; protocols
 * convert at the edge.
 */
export interface TileIndex {
  readonly x: TileX;
  readonly y: TileY;
  readonly z: Zoom;
}

/** A rectangle of tiles of one level, including its minima and maxima; y from the bottom. */
export interface TileRect {
  readonly z: Zoom;
  readonly minX: TileX;
  readonly minY: TileY;
  readonly maxX: TileX;
  readonly maxY: TileY;
}

/** Makes a tile index of numbers that count columns, rows from the bottom, and levels. */
export const asTileIndex = (tile: Readonly<Record<keyof TileIndex, number>>): TileIndex => tile as TileIndex;
/** Makes a rectangle of numbers that count columns, rows from the bottom, and levels. */
export const asTileRect = (rect: Readonly<Record<keyof TileRect, number>>): TileRect => rect as TileRect;

/** Returns the values that determine where the tiles of a grid set lie, in a form that can be compared as JSON. */
export function placesOf({ srs, extent, tileWidth, tileHeight, alignTopLeft, matrices }: GridSet): readonly unknown[] {
  const { minX, minY, maxX, maxY } = extent;
  const levels = matrices.map(({ resolution }) => resolution);
  return [canonicalSrs(srs), minX, minY, maxX, maxY, tileWidth, tileHeight, alignTopLeft, levels];
}

/** Returns whether two grid sets have the same tiles in the same places. */
export const hasSameTiles = (a: GridSet, b: GridSet): boolean =>
  a === b || JSON.stringify(placesOf(a)) === JSON.stringify(placesOf(b));

/** Returns whether two codes name one CRS: 900913, 3857, 102100 and 102113 do. */
export const sameSrs = (a: number, b: number): boolean => canonicalSrs(a) === canonicalSrs(b);
export const canonicalSrs = (code: number): number =>
  code === 900913 || code === 102100 || code === 102113 ? 3857 : code;

/** Returns the exact number of tiles as a bigint: the product can pass 2^53. */
export const rectCount = (r: TileRect): TileCount =>
  asTileCount(BigInt(r.maxX - r.minX + 1) * BigInt(r.maxY - r.minY + 1));

export const rectHolds = (r: TileRect, x: TileX, y: TileY): boolean =>
  x >= r.minX && x <= r.maxX && y >= r.minY && y <= r.maxY;

export function intersectRects(a: TileRect, b: TileRect): TileRect | undefined {
  const r = asTileRect({
    z: a.z,
    minX: Math.max(a.minX, b.minX),
    minY: Math.max(a.minY, b.minY),
    maxX: Math.min(a.maxX, b.maxX),
    maxY: Math.min(a.maxY, b.maxY),
  });
  return r.minX <= r.maxX && r.minY <= r.maxY ? r : undefined;
}

/** Returns the matrix of a level that the caller has checked to exist. */
export function matrixOf(grid: GridSet, z: Zoom): TileMatrix {
  const matrix = grid.matrices[z];
  if (matrix === undefined) throw new RangeError(`grid set ${grid.id} has no level ${z}`);
  return matrix;
}

/**
 * Returns the y of the lower edge of tile row 0. If a grid is aligned to the top left, its lowest row may begin below
 * its extent.
 */
function originY(grid: GridSet, m: TileMatrix): number {
  return grid.alignTopLeft ? grid.extent.maxY - m.matrixHeight * grid.tileHeight * m.resolution : grid.extent.minY;
}

/** Returns the tile in the middle of a rectangle. */
export const middleOf = ({ z, minX, minY, maxX, maxY }: TileRect): TileIndex =>
  asTileIndex({ x: Math.floor((minX + maxX) / 2), y: Math.floor((minY + maxY) / 2), z });

/** Returns the extent of a rectangle of tiles, in CRS units. */
export function rectExtent(grid: GridSet, r: TileRect): Extent {
  const m = matrixOf(grid, r.z);
  const w = grid.tileWidth * m.resolution;
  const h = grid.tileHeight * m.resolution;
  const oy = originY(grid, m);
  const ox = grid.extent.minX;
  return { minX: ox + r.minX * w, minY: oy + r.minY * h, maxX: ox + (r.maxX + 1) * w, maxY: oy + (r.maxY + 1) * h };
}

export const tileExtent = (grid: GridSet, t: TileIndex): Extent =>
  rectExtent(grid, { z: t.z, minX: t.x, minY: t.y, maxX: t.x, maxY: t.y });

/** Returns the rectangle of all tiles of a level. */
export function matrixRect(grid: GridSet, z: Zoom): TileRect {
  const m = matrixOf(grid, z);
  return asTileRect({ z, minX: 0, minY: 0, maxX: m.matrixWidth - 1, maxY: m.matrixHeight - 1 });
}

/**
 * If the border of an area is this close to a tile's edge, in tiles, it counts as lying on the edge, because arithmetic
 * with 0.28 mm pixels is never exact.
 */
const EDGE = 1e-6;

/**
 * Returns the tiles of a level that an area touches, clamped to the matrix. Undefined if the area touches no tile.
 * Rounds the minima down, and the maxima up minus 1 (GWC's `closestRectangle`).
 */
export function rectOf(grid: GridSet, z: Zoom, area: Extent): TileRect | undefined {
  const m = matrixOf(grid, z);
  const w = grid.tileWidth * m.resolution;
  const h = grid.tileHeight * m.resolution;
  const oy = originY(grid, m);
  const ox = grid.extent.minX;
  const minX = firstOf((area.minX - ox) / w, m.matrixWidth);
  const minY = firstOf((area.minY - oy) / h, m.matrixHeight);
  const found = asTileRect({
    z,
    minX,
    minY,
    maxX: Math.max(minX, Math.ceil((area.maxX - ox) / w - EDGE) - 1),
    maxY: Math.max(minY, Math.ceil((area.maxY - oy) / h - EDGE) - 1),
  });
  return intersectRects(found, matrixRect(grid, z));
}

/**
 * Returns the first tile of an area that begins at `begin`, counted in tiles. A strip along the far edge, however thin,
 * belongs to the last tile.
 */
function firstOf(begin: number, count: number): number {
  const first = Math.floor(begin + EDGE);
  return first === count && begin < count ? count - 1 : first;
}

/**
 * Returns the corner that WMTS calls TopLeftCorner, x first. GWC rounds the corner to whole numbers within 0.5 %; this
 * function does not round.
 */
export function topLeftCorner(grid: GridSet, z: Zoom): { readonly x: number; readonly y: number } {
  const m = matrixOf(grid, z);
  const y = grid.alignTopLeft ? grid.extent.maxY : grid.extent.minY + grid.tileHeight * m.resolution * m.matrixHeight;
  return { x: grid.extent.minX, y };
}

export const extentsOverlap = (a: Extent, b: Extent): boolean =>
  a.minX < b.maxX && b.minX < a.maxX && a.minY < b.maxY && b.minY < a.maxY;

/**
 * Formats a number as a plain decimal with 1 to 16 fraction digits, as GWC prints bounds
 * (`docs/explanation/geowebcache.md`, Grid sets).
 */
export function plainNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return `${value}.0`;
  const text = String(value);
  if (!/e/i.test(text)) {
    const fraction = text.split(".")[1] ?? "";
    return fraction.length <= 16 ? text : trimZeros(value.toFixed(16));
  }
  return trimZeros(value.toFixed(16));
}

function trimZeros(text: string): string {
  const cut = trimEndOf(text, "0");
  return cut.endsWith(".") ? `${cut}0` : cut;
}

export const extentText = (e: Extent): string => [e.minX, e.minY, e.maxX, e.maxY].map(plainNumber).join(",");
