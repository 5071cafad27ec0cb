import { HALF_WORLD } from "../../grid/crs/web-mercator.ts";
import { asZoom, type GridSet, matrixOf, sameSrs } from "../../grid/grid-set.ts";
import type { TileFormat } from "../../layer/format.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { pmtilesType } from "./pmtiles-target.ts";

export type ArchiveKind = "mbtiles" | "pmtiles";

/** The side of tiles in archives of web maps. */
const TILE_PIXELS = 256;
/** The most by which GeoWebCache's extent of web mercator differs from the OGC's, in metres. */
const TOLERANCE = 1;
/** Up to this zoom the ids of PMTiles are exact numbers. */
const LAST_PMTILES_LEVEL = 26;

/** @throws CommandFailure if an archive cannot contain the tiles of a grid set and a format */
export function requireArchivable(
  kind: ArchiveKind,
  ...tiles: [grid: GridSet, format: TileFormat, maxZoom: number]
): void {
  const fault = archiveFault(kind, ...tiles);
  if (fault !== undefined) throw new CommandFailure(fault, EXIT.usage);
}

/** Returns why an archive cannot contain the tiles of a grid set and a format. Undefined if it can. */
export function archiveFault(
  kind: ArchiveKind,
  grid: GridSet,
  format: TileFormat,
  maxZoom: number,
): string | undefined {
  const name = kind === "mbtiles" ? "MBTiles" : "PMTiles";
  const directory = "export into a directory instead: --to DIR";
  if (!isWebGrid(grid, maxZoom))
    return `${name} has only web mercator in tiles of 256 x 256, unlike the grid set ${grid.id}: name a grid set such as EPSG:900913 with --grid-set, or ${directory}`;
  const isMixed = format.kind === "image" && format.contentType === undefined;
  const isJson = format.kind === "data" && format.content === "json";
  if (isMixed || isJson || (kind === "pmtiles" && pmtilesType(format) === undefined))
    return `${name} has no tiles in ${format.mimeType}; ${directory}`;
  if (kind === "pmtiles" && maxZoom > LAST_PMTILES_LEVEL)
    return `PMTiles has no level ${maxZoom}: --zoom up to ${LAST_PMTILES_LEVEL}, or ${directory}`;
  return undefined;
}

/** Returns whether the tiles of a grid set up to a zoom equal the tiles of web maps, with the same numbers. */
export function isWebGrid(grid: GridSet, maxZoom: number): boolean {
  const { minX, minY, maxX, maxY } = grid.extent;
  const isWorld = [-minX, -minY, maxX, maxY].every((side) => Math.abs(side - HALF_WORLD) < TOLERANCE);
  if (!isWorld || !sameSrs(grid.srs, 3857)) return false;
  if (grid.tileWidth !== TILE_PIXELS || grid.tileHeight !== TILE_PIXELS) return false;
  const levels = Array.from({ length: Math.min(maxZoom + 1, grid.matrices.length) }, (_, z) =>
    matrixOf(grid, asZoom(z)),
  );
  return levels.every(({ matrixWidth, matrixHeight }, z) => matrixWidth === 2 ** z && matrixHeight === 2 ** z);
}
