import { type FileHandle, open } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compression, Header, PMTiles, Source as PmtilesSource } from "pmtiles";
import { formatOfExtension } from "../../layer/format.ts";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import { isMap } from "../../lib/is-map.ts";
import { SourceError } from "../source.ts";
import { ARCHIVE_READ_LIMIT, type Archive, type ArchiveFacts, damaged, unreadable, unreadableFile } from "./archive.ts";
import { areLevels, attributionOf, boundsOf, vectorLayersOf } from "./archive-metadata.ts";
import { pictureSide } from "./picture-header.ts";

/**
 * The size limit in bytes of an uncompressed directory. Directories of the largest archives have less than half of it.
 */
const DIRECTORY_LIMIT = 1024 * 1024;
/** The bytes of a directory entry in memory, and the fewest bytes of an entry in the file. */
const ENTRY_BYTES = 96;
const PACKED_ENTRY_BYTES = 4;
/** The most bytes of directories that each renderer caches per archive. */
const CACHED_BYTES = 32 * 1024 * 1024;
/** The library numbers tiles with doubles, which are exact up to this level. */
const LAST_LEVEL = 26;

/**
 * Opens a file of PMTiles 3. Does not trust the positions and sizes in the file: reads neither beyond the end of the
 * file nor an amount that is far too large.
 */
export async function openPmtiles(path: string): Promise<Archive> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw unreadableFile(error);
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw unreadable("it is no file");
    const { PMTiles, ResolvedValueCache, tileTypeExt } = await import("pmtiles");
    const unpackDirectory = unpacking(DIRECTORY_LIMIT);
    /**
     * Caches directories up to a number of bytes. A limit on their number would not limit memory, because a directory
     * may have any size.
     */
    class Directories extends ResolvedValueCache {
      override prune(): void {
        const bytesOf = (data: unknown): number => (Array.isArray(data) ? data.length * ENTRY_BYTES : 0);
        let bytes = [...this.cache.values()].reduce((sum, { data }) => sum + bytesOf(data), 0);
        const oldestFirst = [...this.cache].sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
        for (const [key, { data }] of oldestFirst) {
          if (bytes <= CACHED_BYTES) return;
          if (bytesOf(data) > 0) this.cache.delete(key);
          bytes -= bytesOf(data);
        }
      }
    }
    const archive = new PMTiles(
      sourceOf(file, path),
      new Directories(0, false, async (packed, compression) =>
        checkedDirectory(await unpackDirectory(packed, compression)),
      ),
      unpacking(ARCHIVE_READ_LIMIT),
    );
    return {
      facts: () =>
        guarded(async () => {
          const header = await archive.getHeader();
          return factsOf(header, tileTypeExt(header.tileType), {
            metadata: () => archive.getMetadata(),
            tile: () => firstTile(archive, header),
          });
        }),
      tile: ({ z, x, fromTop }) =>
        guarded(async () => {
          const answer = z > LAST_LEVEL ? undefined : await archive.getZxy(z, x, fromTop);
          return answer === undefined ? undefined : new Uint8Array(answer.data);
        }),
      async [Symbol.asyncDispose]() {
        await file.close();
      },
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function sourceOf(file: FileHandle, key: string): PmtilesSource {
  return {
    getKey: () => key,
    async getBytes(offset, length) {
      if (!Number.isSafeInteger(offset) || offset < 0) throw damaged("a part of it lies outside of the file");
      if (length > ARCHIVE_READ_LIMIT)
        throw new SourceError("too_large", `a part of the archive is larger than ${ARCHIVE_READ_LIMIT} bytes`);
      const bytes = new Uint8Array(length);
      let size = 0;
      while (size < length) {
        const { bytesRead } = await file.read(bytes, size, length - size, offset + size).catch((error: unknown) => {
          throw unreadableFile(error);
        });
        if (bytesRead === 0) break;
        size += bytesRead;
      }
      // The first read, of header and root directory, requests 16 KiB; a small file has less.
      if (size < length && offset > 0) throw damaged("it ends before its end");
      return { data: size === length ? bytes.buffer : bytes.buffer.slice(0, size) };
    },
  };
}

/**
 * Uncompresses data, with the compression of the header, up to a limit: the library has no limit. The specification
 * numbers the compressions (PMTiles 3, 3.1).
 */
const unpacking =
  (limit: number) =>
  async (packed: ArrayBuffer, compression: Compression): Promise<ArrayBuffer> => {
    switch (Number(compression)) {
      case 0:
      case 1:
        if (packed.byteLength > limit) throw tooLarge(limit);
        return packed;
      case 2:
        return unpacked(limit, () => gunzipSync(packed, { maxOutputLength: limit }));
      case 3:
        return unpacked(limit, () => brotliDecompressSync(packed, { maxOutputLength: limit }));
      default:
        throw damaged(`its compression is unknown (${compression})`);
    }
  };

/**
 * Returns a directory.
 * @throws SourceError if the directory is too short for the number of entries at its beginning (PMTiles 3, 4.2)
 */
function checkedDirectory(directory: ArrayBuffer): ArrayBuffer {
  let count = 0;
  for (const [i, byte] of new Uint8Array(directory, 0, Math.min(10, directory.byteLength)).entries()) {
    count += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) break;
  }
  if (count * PACKED_ENTRY_BYTES > directory.byteLength) throw damaged("a directory has fewer entries than it says");
  return directory;
}

const tooLarge = (limit: number, cause?: unknown): SourceError =>
  new SourceError("too_large", `a part of the archive unpacks to more than ${limit} bytes`, { cause });

function unpacked(limit: number, work: () => Uint8Array): ArrayBuffer {
  try {
    return new Uint8Array(work()).buffer;
  } catch (error) {
    if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limit, error);
    throw damaged("its compressed data cannot be unpacked", error);
  }
}

/**
 * Returns the tile in the middle of the archive, on the first level that has such a tile. Undefined if no level has
 * one.
 */
async function firstTile(archive: PMTiles, { minZoom, maxZoom, minLon, maxLon, minLat, maxLat }: Header) {
  const { x, y } = toWebMercatorShare((minLon + maxLon) / 2, (minLat + maxLat) / 2);
  for (let z = minZoom; z <= Math.min(maxZoom, LAST_LEVEL); z++) {
    const side = 2 ** z;
    const at = (share: number): number => Math.min(side - 1, Math.max(0, Math.floor(share * side)));
    const tile = await archive.getZxy(z, at(x), at(y));
    if (tile !== undefined && tile.data.byteLength > 0) return new Uint8Array(tile.data);
  }
  return undefined;
}

/** Returns the position of a point in the web mercator map, from 0 to 1 in each direction. */
function toWebMercatorShare(longitude: number, latitude: number): { readonly x: number; readonly y: number } {
  const sine = Math.sin((latitude * Math.PI) / 180);
  return { x: (longitude + 180) / 360, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) };
}

async function factsOf(
  header: Header,
  extension: string,
  read: { readonly metadata: () => Promise<unknown>; readonly tile: () => Promise<Uint8Array | undefined> },
): Promise<ArchiveFacts> {
  const { specVersion, minZoom, maxZoom, tileCompression } = header;
  if (specVersion !== 3) throw damaged(`it is of version ${specVersion}, not 3`);
  const format = formatOfExtension(extension.slice(1));
  if (format === undefined) throw damaged(`its header names a type of tiles that is not known, ${header.tileType}`);
  if (!areLevels(minZoom, maxZoom)) throw damaged(`its levels are ${minZoom} to ${maxZoom}`);
  if (Number(tileCompression) > 3) throw damaged("the compression of its tiles is unknown");
  const metadata = await read.metadata();
  const attribution = attributionOf(isMap(metadata) ? metadata["attribution"] : undefined);
  const sample = format.kind === "image" ? await read.tile() : undefined;
  return {
    format,
    tileSize: sample === undefined ? undefined : pictureSide(sample),
    minZoom,
    maxZoom,
    bounds: boundsOf([header.minLon, header.minLat, header.maxLon, header.maxLat]),
    // Only vector tiles have layers.
    vectorLayers: format.kind === "data" ? vectorLayersOf(metadata) : undefined,
    ...(attribution === undefined ? {} : { attribution }),
  };
}

/** Converts an error of the library to a `SourceError` for a damaged archive. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    // The message of a SyntaxError quotes the file, so it is replaced.
    throw damaged(error instanceof SyntaxError ? "its metadata are no JSON" : errorMessage(error), error);
  }
}
