import {
  asTileX,
  asTileY,
  asZoom,
  type GridSetName,
  type TileRect,
  type TileX,
  type TileY,
  type Zoom,
} from "../../grid/grid-set.ts";
import { asParametersId, type ParametersId } from "../../layer/tile-set.ts";
import type { StoredPyramid } from "../inventory-store.ts";

/*
 * GWC's default layout (`docs/explanation/geowebcache.md`, Files), so that existing caches fit:
 *   LAYER/GRIDSET_ZZ[_PARAMETERSID]/BX_BY/X_Y.EXT
 */

/**
 * Returns a name as part of a path: `:` and space become `_` as in GWC. A slash, which GWC leaves unescaped, is
 * escaped. Otherwise the directory of a layer could lie inside the directory of another layer, which is truncated by
 * one rename.
 */
export function directoryName(name: string): string {
  const plain = name.replace(/[: ]/g, "_").replaceAll("/", "%2F").replaceAll("\0", "%00");
  return plain === "." || plain === ".." ? plain.replaceAll(".", "%2E") : plain;
}

/**
 * Pads a number with zeros as GWC does. GWC counts the digits by `ceil(log10(n) - 0.001)`, so numbers just above a
 * power of ten get one zero too many.
 */
export function pad(n: number, order: number): string {
  const digits = n <= 9 ? 1 : n <= 11 ? 2 : Math.ceil(Math.log10(n) - 0.001);
  return "0".repeat(Math.max(0, order - digits)) + String(n);
}

/** Returns the tiles per side of a bucket directory at a zoom, and the number of digits in the directory's name. */
export function bucketOf(z: Zoom): { readonly half: number; readonly digits: number } {
  const half = 2 * 2 ** Math.floor(z / 2);
  return { half, digits: half > 10 ? Math.floor(Math.log10(half)) + 1 : 1 };
}

export const zoomDirectory = (gridSet: GridSetName, z: Zoom, parametersId: ParametersId): string =>
  `${directoryName(gridSet)}_${pad(z, 2)}${parametersId === "" ? "" : `_${parametersId}`}`;

export function bucketDirectory(x: TileX, y: TileY, z: Zoom): string {
  const { half, digits } = bucketOf(z);
  return `${pad(Math.floor(x / half), digits)}_${pad(Math.floor(y / half), digits)}`;
}

/** Yields the names of the bucket directories that a rectangle of tiles overlaps. */
export function* bucketsOfRect({ z, minX, minY, maxX, maxY }: TileRect): Generator<string> {
  const { half } = bucketOf(z);
  for (let y = minY; y <= maxY; y = asTileY((Math.floor(y / half) + 1) * half))
    for (let x = minX; x <= maxX; x = asTileX((Math.floor(x / half) + 1) * half)) yield bucketDirectory(x, y, z);
}

export function tileFile(x: TileX, y: TileY, z: Zoom, extension: string): string {
  const { digits } = bucketOf(z);
  return `${pad(x, 2 * digits)}_${pad(y, 2 * digits)}.${extension}`;
}

/** Returns the numbers and the extension in a tile's or bucket's name. Undefined if the name has a different form. */
export function parsePair(
  name: string,
): { readonly x: TileX; readonly y: TileY; readonly extension: string } | undefined {
  const found = /^(\d+)_(\d+)(?:\.([\w-]+))?$/.exec(name);
  return found === null
    ? undefined
    : { x: asTileX(Number(found[1])), y: asTileY(Number(found[2])), extension: found[3] ?? "" };
}

/**
 * Parses the name of a zoom directory. Returns the grid set in the directory's spelling. Undefined if the name has a
 * different form.
 */
export function parseZoomDirectory(
  name: string,
): { readonly gridSetDirectory: string; readonly z: Zoom; readonly parametersId: ParametersId } | undefined {
  const found = /^(.+)_(\d{2,})_([0-9a-f]{40})$/.exec(name) ?? /^(.+)_(\d{2,})$/.exec(name);
  const [, gridSetDirectory, z, parametersId] = found ?? [];
  return gridSetDirectory === undefined
    ? undefined
    : { gridSetDirectory, z: asZoom(Number(z)), parametersId: asParametersId(parametersId ?? "") };
}

/** Returns the name of a pyramid's directory in the layer's directory: `GRIDSET[_PARAMETERSID]`. */
export const pyramidDirectory = ({ gridSet, parametersId }: Pick<StoredPyramid, "gridSet" | "parametersId">): string =>
  `${directoryName(gridSet)}${parametersId === "" ? "" : `_${parametersId}`}`;

/** Parses the name of a pyramid's directory. Undefined if the name belongs to another file of the layer. */
export function parsePyramidDirectory(
  name: string,
): { readonly gridSetDirectory: string; readonly parametersId: ParametersId } | undefined {
  if (/^parameters-.*\.properties$/.test(name) || name.startsWith(".")) return undefined;
  const [, gridSetDirectory = name, parametersId = ""] = /^(.+)_([0-9a-f]{40})$/.exec(name) ?? [];
  return { gridSetDirectory, parametersId: asParametersId(parametersId) };
}

/** Returns a key of the pyramid that a zoom directory belongs to. */
export const directoryPyramid = (parsed: {
  readonly gridSetDirectory: string;
  readonly parametersId: ParametersId;
}): string => `${parsed.gridSetDirectory}\n${parsed.parametersId}`;

/**
 * Returns the key of a pyramid. It is equal to the result of `directoryPyramid` for each of the pyramid's zoom
 * directories.
 */
export const pyramidName = ({ gridSet, parametersId }: Pick<StoredPyramid, "gridSet" | "parametersId">): string =>
  directoryPyramid({ gridSetDirectory: directoryName(gridSet), parametersId });

/** Returns whether the bucket directory with this name may contain tiles of a rectangle. */
export function bucketTouches(name: string, rect: TileRect): boolean {
  const bucket = parsePair(name);
  if (bucket === undefined) return false;
  const { half } = bucketOf(rect.z);
  return (
    bucket.x >= Math.floor(rect.minX / half) &&
    bucket.x <= Math.floor(rect.maxX / half) &&
    bucket.y >= Math.floor(rect.minY / half) &&
    bucket.y <= Math.floor(rect.maxY / half)
  );
}
