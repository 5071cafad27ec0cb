import { type FileHandle, open } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compression, Header, Source as PmtilesSource } from "pmtiles";
import { formatOfExtension } from "../../layer/format.ts";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import { SourceError } from "../source.ts";
import { ARCHIVE_READ_LIMIT, type Archive, type ArchiveFacts, damaged, unreadable, unreadableFile } from "./archive.ts";
import { areLevels, boundsOf, vectorLayersOf } from "./archive-metadata.ts";

/**
 * The limit of an unpacked directory. Those of the largest archives have a tenth of it. In memory each byte may become
 * an entry of 60 bytes.
 */
const DIRECTORY_LIMIT = 4 * 1024 * 1024;
/** The most directories that each renderer caches; the directories of the whole world take about 3 MB each. */
const MOST_DIRECTORIES = 32;
/** The library counts tiles in numbers, which are exact up to here. */
const LAST_LEVEL = 26;

/**
 * Opens a file of PMTiles 3. Does not trust the positions and sizes in the file: reads nothing beyond its end, and
 * nothing that is far too long.
 */
export async function openPmtiles(path: string): Promise<Archive> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw unreadableFile(error);
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw unreadable("it is no file");
    const { PMTiles, ResolvedValueCache, tileTypeExt } = await import("pmtiles");
    const archive = new PMTiles(
      sourceOf(file, path),
      new ResolvedValueCache(MOST_DIRECTORIES, false, unpacking(DIRECTORY_LIMIT)),
      unpacking(ARCHIVE_READ_LIMIT),
    );
    return {
      facts: () =>
        guarded(async () => {
          const header = await archive.getHeader();
          return factsOf(header, tileTypeExt(header.tileType), () => archive.getMetadata());
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
      if (!Number.isSafeInteger(offset) || offset < 0) throw damaged("something lies outside of the file");
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
      // The first read, of header and root directory, asks for 16 KiB: a small file has less.
      if (size < length && offset > 0) throw damaged("it ends before its end");
      return { data: size === length ? bytes.buffer : bytes.buffer.slice(0, size) };
    },
  };
}

/**
 * Unpacks data by the compression of the header, up to a limit: the library itself has no limit. The numbers of the
 * compressions are those of the specification (PMTiles 3, 3.1).
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
        throw damaged(`it is compressed in a way that is not known here (${compression})`);
    }
  };

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

async function factsOf(header: Header, extension: string, readMetadata: () => Promise<unknown>): Promise<ArchiveFacts> {
  const { specVersion, minZoom, maxZoom, tileCompression } = header;
  if (specVersion !== 3) throw damaged(`it is of version ${specVersion}, not 3`);
  const format = formatOfExtension(extension.slice(1));
  if (format === undefined) throw damaged(`its header names a type of tiles that is not known, ${header.tileType}`);
  if (!areLevels(minZoom, maxZoom)) throw damaged(`its levels are ${minZoom} to ${maxZoom}`);
  if (Number(tileCompression) > 3) throw damaged("its tiles are compressed in a way that is not known here");
  return {
    format,
    minZoom,
    maxZoom,
    bounds: boundsOf([header.minLon, header.minLat, header.maxLon, header.maxLat]),
    // Only vector tiles have layers.
    vectorLayers: format.kind === "data" ? vectorLayersOf(await readMetadata()) : undefined,
  };
}

/** Turns an error of the library into a `SourceError` for a damaged archive. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    // The words of the error would be those of the file.
    throw damaged(error instanceof SyntaxError ? "its metadata are no JSON" : errorMessage(error), error);
  }
}
