import type { FileHandle } from "node:fs/promises";
import { codeOf } from "../../lib/error-code.ts";
import { openToRead } from "../local-file.ts";
import { SourceError } from "../source.ts";

/*
 * Bundles of ArcGIS's compact caches, with 128 x 128 tiles each and rows from the top. All numbers are little endian.
 *
 * Version 1 (ArcGIS 10.0 to 10.2): NAME.bundlx has a header of 16 bytes and then, column by column, the position of
 * each tile in 5 bytes. NAME.bundle has at this position the size of the tile in 4 bytes, and then the tile.
 *
 * Version 2 (https://github.com/Esri/raster-tiles-compactcache/blob/master/CompactCacheV2.md): NAME.bundle has a header
 * of 64 bytes and then, row by row, the position of each tile in 5 bytes and its size in 3.
 */

const SIDE = 128;
/** A bundle of version 1 has no tiles before this position. */
const HEADER_BYTES = 60;
/** The size limit of a tile. */
export const TILE_LIMIT = 32 * 1024 * 1024;

/** A tile of a level, with its row counted from the top. */
interface LevelTile {
  readonly row: number;
  readonly column: number;
}

/**
 * Returns a tile of a compact cache. Undefined if the cache has no such tile.
 * @param level the path of the level's directory
 * @throws SourceError when the bundle cannot be read or is damaged
 */
export async function readBundleTile(
  level: string,
  { row, column }: LevelTile,
  version: 1 | 2,
): Promise<Uint8Array | undefined> {
  const [inRow, inColumn] = [row % SIDE, column % SIDE];
  const name = `${level}/R${hex(row - inRow)}C${hex(column - inColumn)}`;
  try {
    await using bundle = await opened(`${name}.bundle`);
    if (bundle === undefined) return undefined;
    if (version === 2) {
      const entry = await readBytes(bundle, 64 + 8 * (SIDE * inRow + inColumn), 8);
      return await readTile(bundle, entry.readUIntLE(0, 5), entry.readUIntLE(5, 3));
    }
    await using index = await opened(`${name}.bundlx`);
    if (index === undefined) return undefined;
    const entry = await readBytes(index, 16 + 5 * (SIDE * inColumn + inRow), 5);
    const position = entry.readUIntLE(0, 5);
    if (position < HEADER_BYTES) return undefined;
    const size = await readBytes(bundle, position, 4);
    return await readTile(bundle, position + 4, size.readUInt32LE(0));
  } catch (error) {
    if (error instanceof SourceError) throw error;
    // Messages of renders reach users, so this message omits the path.
    throw new SourceError("refused", `the cache cannot be read: ${codeOf(error)}`, { cause: error });
  }
}

const hex = (n: number): string => n.toString(16).padStart(4, "0");

async function opened(path: string): Promise<FileHandle | undefined> {
  try {
    return await openToRead(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** Reads a tile. Undefined if its size is 0, because then there is no tile. */
async function readTile(bundle: FileHandle, position: number, size: number): Promise<Uint8Array | undefined> {
  if (size === 0) return undefined;
  if (size > TILE_LIMIT) throw new SourceError("too_large", `a tile of the cache is larger than ${TILE_LIMIT} bytes`);
  return readBytes(bundle, position, size);
}

/** @throws SourceError when the file ends before `length` bytes */
async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(bytes, read, length - read, position + read);
    if (bytesRead === 0)
      throw new SourceError("wrong_type", "the cache is damaged: a bundle ends before one of its tiles");
    read += bytesRead;
  }
  return bytes;
}
