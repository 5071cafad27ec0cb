import { join } from "node:path";
import { type GridSet, matrixOf, type TileIndex, type TileX, type Zoom } from "../../grid/grid-set.ts";
import type { DiskLayout, TilesOnDisk } from "../../layer/tiles-on-disk.ts";
import { codeOf } from "../../lib/error-code.ts";
import { openToRead } from "../local-file.ts";
import { SourceError } from "../source.ts";
import { arcgisPath, padded, pathParts, tileCachePath } from "../tiles/layout-path.ts";
import { quadkey } from "../tiles/quadkey.ts";
import type { UpstreamTile } from "../tiles/tile-template.ts";

/** The size limit in bytes of a file that is read as a tile. */
const READ_LIMIT = 32 * 1024 * 1024;

/**
 * Returns the path of a tile's file.
 * @param extension without a dot
 */
export function diskTilePath(
  { path, layout, rows }: Pick<TilesOnDisk, "path" | "layout" | "rows">,
  tile: UpstreamTile,
  extension: string,
): string {
  const { z, x, fromTop, fromBottom } = tile;
  if (layout === undefined)
    return path.replace(/\{(z|x|-?y)\}/g, (_, name) =>
      String(name === "z" ? z : name === "x" ? x : name === "y" ? fromTop : fromBottom),
    );
  return join(path, layoutPath(layout, z, x, rows === "top" ? fromTop : fromBottom, extension));
}

function layoutPath(layout: DiskLayout, z: Zoom, x: TileX, row: number, extension: string): string {
  switch (layout) {
    case "tc":
      return `${tileCachePath(z, x, row)}.${extension}`;
    case "mp":
      return `${padded(z, 2)}/${pathParts(x, 2, 4)}/${pathParts(row, 2, 4)}.${extension}`;
    case "tms":
      return `${z}/${x}/${row}.${extension}`;
    case "reverse_tms":
      return `${row}/${x}/${z}.${extension}`;
    case "quadkey":
      return `${quadkey(x, row, z)}.${extension}`;
    case "arcgis":
      return `${arcgisPath(z, x, row)}.${extension}`;
    case "worldwind":
      return `${z}/${padded(row, 4)}/${padded(row, 4)}_${padded(x, 4)}.${extension}`;
  }
}

/**
 * Returns the bytes of a tile that another program has written. Undefined if the file is missing or empty, or was
 * written before `sinceMs` (ms since 1970).
 * @throws SourceError if the file cannot be read
 */
export async function readDiskTile(
  tiles: TilesOnDisk,
  gridSet: GridSet,
  { x, y, z }: TileIndex,
  extension: string,
  sinceMs: number,
): Promise<Uint8Array | undefined> {
  const fromTop = matrixOf(gridSet, z).matrixHeight - 1 - y;
  return readTileFile(diskTilePath(tiles, { z, x, fromTop, fromBottom: y }, extension), sinceMs);
}

/** Returns the bytes of a file, or undefined like `readDiskTile`. @throws SourceError if the file cannot be read */
export async function readTileFile(path: string, sinceMs: number): Promise<Uint8Array | undefined> {
  try {
    await using file = await openToRead(path);
    const { size, mtimeMs } = await file.stat();
    if (size === 0 || mtimeMs < sinceMs) return undefined;
    if (size > READ_LIMIT) throw new SourceError("too_large", `a tile on the disk is larger than ${READ_LIMIT} bytes`);
    return await file.readFile();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const code = codeOf(error);
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(code)) return undefined;
    // Messages of renders reach users, so this message omits the path.
    throw new SourceError("refused", `a tile on the disk cannot be read: ${code}`, { cause: error });
  }
}
