import type { TileX, Zoom } from "../../grid/grid-set.ts";

/**
 * Returns the path of a tile in the layout of TileCache, such as `09/001/234/567/087/654/321`, without an extension.
 */
export const tileCachePath = (z: Zoom, x: TileX, row: number): string =>
  `${padded(z, 2)}/${pathParts(x, 3, 3)}/${pathParts(row, 3, 3)}`;

/**
 * Returns the path of a tile in an exploded cache of ArcGIS, such as `L09/R05397fb1/C0012d687`, without an extension.
 */
export const arcgisPath = (z: Zoom, x: TileX, row: number): string =>
  `L${padded(z, 2)}/R${padded(row, 8, 16)}/C${padded(x, 8, 16)}`;

export const padded = (n: number, digits: number, base = 10): string => n.toString(base).padStart(digits, "0");

/** Returns a number as `count` directories of `digits` digits each, the most significant part first. */
export function pathParts(n: number, count: number, digits: number): string {
  const base = 10 ** digits;
  return Array.from({ length: count }, (_, i) => padded(Math.floor(n / base ** (count - 1 - i)) % base, digits)).join(
    "/",
  );
}
