import { asTileRect, asTileY, intersectRects, rectCount, type TileRect, type TileX, type TileY } from "./grid-set.ts";

/**
 * The metatiles of a rectangle of tiles, numbered from 0 to N-1 by arithmetic, without a list of them. A metatile
 * begins at a multiple of its factors, counted from the grid's origin, so that users and jobs request the same
 * metatiles. The numbers run through bands of `BAND` metatile rows, within a band through groups of `BAND` columns, and
 * within a group row by row. Neighbours have near numbers, so that a range of numbers touches few cells of the ledger.
 */
export interface MetatileWalk {
  readonly rect: TileRect;
  /** The number of tiles per metatile, across and up. */
  readonly factorX: number;
  readonly factorY: number;
  /** The number of metatiles, across and up. */
  readonly columns: number;
  readonly rows: number;
  readonly count: bigint;
}

/** The number of metatile rows in a band, and of metatile columns in a group. */
export const BAND = 4;

export function metatileWalk(rect: TileRect, factors: readonly [number, number]): MetatileWalk {
  const [factorX, factorY] = factors;
  const columns = Math.floor(rect.maxX / factorX) - Math.floor(rect.minX / factorX) + 1;
  const rows = Math.floor(rect.maxY / factorY) - Math.floor(rect.minY / factorY) + 1;
  return { rect, factorX, factorY, columns, rows, count: BigInt(columns) * BigInt(rows) };
}

/**
 * Returns the band and group of metatile number `n` (0 ≤ n < count), its number within the group (row by row), and the
 * group's width in columns.
 */
export function bandOf(
  walk: MetatileWalk,
  n: bigint,
): { readonly band: number; readonly group: number; readonly inGroup: number; readonly width: number } {
  const bandSize = BigInt(walk.columns) * BigInt(BAND);
  const band = Number(n / bandSize);
  const height = Math.min(BAND, walk.rows - band * BAND);
  const inBand = Number(n - BigInt(band) * bandSize);
  const group = Math.floor(inBand / (height * BAND));
  const width = Math.min(BAND, walk.columns - group * BAND);
  return { band, group, inGroup: inBand - group * height * BAND, width };
}

/** Returns the number of the first metatile of a group. */
export function numberAt(walk: MetatileWalk, band: number, group: number): bigint {
  const height = Math.min(BAND, walk.rows - band * BAND);
  return BigInt(band) * BigInt(walk.columns) * BigInt(BAND) + BigInt(group * height * BAND);
}

/** Returns the number after the last metatile of a group. */
export function groupEnd(walk: MetatileWalk, band: number, group: number): bigint {
  const height = Math.min(BAND, walk.rows - band * BAND);
  const width = Math.min(BAND, walk.columns - group * BAND);
  return numberAt(walk, band, group) + BigInt(width * height);
}

/** Yields the groups that overlap a part of the walk's rectangle, as ranges of numbers from `first` to before `end`. */
export function* groupsIn(
  walk: MetatileWalk,
  part: TileRect,
): Generator<{ readonly first: bigint; readonly end: bigint }> {
  const { rect, factorX, factorY } = walk;
  const groupOf = (tile: number, first: number, factor: number): number =>
    Math.floor((Math.floor(tile / factor) - Math.floor(first / factor)) / BAND);
  const inside = intersectRects(part, rect);
  if (inside === undefined) return;
  const lastBand = groupOf(inside.maxY, rect.minY, factorY);
  const lastGroup = groupOf(inside.maxX, rect.minX, factorX);
  for (let band = groupOf(inside.minY, rect.minY, factorY); band <= lastBand; band++)
    for (let group = groupOf(inside.minX, rect.minX, factorX); group <= lastGroup; group++)
      yield { first: numberAt(walk, band, group), end: groupEnd(walk, band, group) };
}

/** Returns the lowest tile row of a metatile row. The metatile rows of the walk are counted from 0. */
export const metatileRow = ({ rect, factorY }: MetatileWalk, row: number): TileY =>
  asTileY((Math.floor(rect.minY / factorY) + row) * factorY);

/** The position of a metatile in its walk, counted from the lower left. */
export interface MetatilePosition {
  readonly column: number;
  readonly row: number;
}

export function positionAt(walk: MetatileWalk, n: bigint): MetatilePosition {
  const { band, group, inGroup, width } = bandOf(walk, n);
  return { column: group * BAND + (inGroup % width), row: band * BAND + Math.floor(inGroup / width) };
}

/** Returns the number of a metatile: the inverse of `positionAt`. */
export function numberOf(walk: MetatileWalk, { column, row }: MetatilePosition): bigint {
  const band = Math.floor(row / BAND);
  const group = Math.floor(column / BAND);
  const width = Math.min(BAND, walk.columns - group * BAND);
  return numberAt(walk, band, group) + BigInt((row - band * BAND) * width + (column - group * BAND));
}

/** Returns metatile number `n` (0 ≤ n < count) in full, not clipped to the walk's rectangle. */
export function metatileAt(walk: MetatileWalk, n: bigint): TileRect {
  const { column, row } = positionAt(walk, n);
  const minX = (Math.floor(walk.rect.minX / walk.factorX) + column) * walk.factorX;
  const minY = metatileRow(walk, row);
  return asTileRect({ z: walk.rect.z, minX, minY, maxX: minX + walk.factorX - 1, maxY: minY + walk.factorY - 1 });
}

/** Returns the number of the metatile that contains a tile of the walk's rectangle: the inverse of `metatileAt`. */
export function metatileNumber(walk: MetatileWalk, x: TileX, y: TileY): bigint {
  const column = Math.floor(x / walk.factorX) - Math.floor(walk.rect.minX / walk.factorX);
  const row = Math.floor(y / walk.factorY) - Math.floor(walk.rect.minY / walk.factorY);
  return numberOf(walk, { column, row });
}

/**
 * Returns the metatile that contains a tile, clipped to the tiles that may be rendered. Undefined if no tile of it may
 * be rendered.
 */
export function metatileOf(
  x: TileX,
  y: TileY,
  factors: readonly [number, number],
  coverage: TileRect,
): TileRect | undefined {
  const minX = Math.floor(x / factors[0]) * factors[0];
  const minY = Math.floor(y / factors[1]) * factors[1];
  return intersectRects(
    asTileRect({ z: coverage.z, minX, minY, maxX: minX + factors[0] - 1, maxY: minY + factors[1] - 1 }),
    coverage,
  );
}

/** Returns the tiles of metatile `n` inside the walk's rectangle, which are the tiles that a job counts for it. */
export function countedTiles(walk: MetatileWalk, n: bigint): TileRect {
  const inside = intersectRects(metatileAt(walk, n), walk.rect);
  if (inside === undefined)
    throw new RangeError(`metatile ${n} lies outside its walk of ${rectCount(walk.rect)} tiles`);
  return inside;
}
