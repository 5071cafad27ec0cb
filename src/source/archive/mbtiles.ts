import { stat } from "node:fs/promises";
import { formatOf, formatOfExtension, PNG, type TileFormat } from "../../layer/format.ts";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SourceError } from "../source.ts";
import { ARCHIVE_READ_LIMIT, type Archive, type ArchiveFacts, damaged, unreadable, unreadableFile } from "./archive.ts";
import { areLevels, attributionOf, boundsOf, vectorLayersOf } from "./archive-metadata.ts";
import { pictureFormat, pictureSide } from "./picture-header.ts";
import { SqliteReader, TOO_LONG } from "./sqlite-reader.ts";

/** Formats by their names in the MBTiles specification, and by further names in use. */
const FORMATS: ReadonlySet<string> = new Set(["png", "jpg", "jpeg", "webp", "avif", "gif", "pbf", "mvt"]);

/**
 * Returns the SQL of a column with a size limit. It reads the length first, so that SQLite does not read a value that
 * is far too long. It reads every value that is not a number as a blob, because libsql ends the process for a text that
 * is not UTF-8.
 */
const bounded = (column: string): string =>
  `CASE WHEN length(${column}) <= ${ARCHIVE_READ_LIMIT} THEN CAST(${column} AS BLOB) END`;
const TILE = `SELECT CAST(length(tile_data) AS INTEGER) AS size, ${bounded("tile_data")} AS data
  FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ? LIMIT 1`;
const metadataOf = (name: string): string =>
  `SELECT ${bounded("value")} AS data FROM metadata WHERE name = '${name}' LIMIT 1`;
/** Reads a sample tile: one that is not empty, among the first rows. */
const SAMPLE = `SELECT CAST(length(tile_data) AS INTEGER) AS size, ${bounded("tile_data")} AS data
  FROM (SELECT tile_data FROM tiles LIMIT 100) WHERE length(tile_data) > 0 LIMIT 1`;
const levelQuery = (which: "min" | "max"): string =>
  `SELECT CAST(${which}(zoom_level) AS INTEGER) AS z, typeof(${which}(zoom_level)) = 'text' AS isText FROM tiles`;
/**
 * Reads the lowest or highest level from a column of type TEXT, which is sorted by characters. The conversion costs a
 * scan.
 */
const textLevelQuery = (which: "min" | "max"): string =>
  `SELECT ${which}(CAST(zoom_level AS INTEGER)) AS z, 0 AS isText FROM tiles`;

const read = (row: unknown, column: string): unknown =>
  typeof row === "object" && row !== null ? Object.getOwnPropertyDescriptor(row, column)?.value : undefined;

/**
 * Opens an archive of MBTiles 1.0 to 1.3, whose `tiles` may be any table or view. Its queries run in a separate process
 * with a time limit.
 */
export async function openMbtiles(clock: Clock, file: string): Promise<Archive> {
  const found = await stat(file).catch((error: unknown) => {
    throw unreadableFile(error);
  });
  if (!found.isFile()) throw unreadable("it is no file");
  const reader = await guarded(SqliteReader.open(clock, file, TILE));
  const first = (sql: string, parameters?: readonly (number | string)[]) => guarded(reader.first(sql, parameters));
  return {
    facts: () => factsOf(first),
    tile: async ({ z, x, fromBottom }) =>
      // A column of type TEXT contains the number as text, which does not equal the number.
      bytesOf((await first(TILE, [z, x, fromBottom])) ?? (await first(TILE, [z, x, fromBottom].map(String)))),
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

function bytesOf(row: unknown): Uint8Array | undefined {
  if (row === undefined) return undefined;
  const data = read(row, "data");
  if (data instanceof Uint8Array) return data;
  const size = read(row, "size");
  if (typeof size === "number" && size > ARCHIVE_READ_LIMIT)
    throw new SourceError("too_large", `the tile is larger than ${ARCHIVE_READ_LIMIT} bytes`);
  // The row has neither data nor a size, so the archive has no such tile.
  return undefined;
}

/** Returns the first row of a query. */
type First = (sql: string) => Promise<unknown>;

async function factsOf(first: First): Promise<ArchiveFacts> {
  const metadata = async (name: string): Promise<string | undefined> => {
    const value = read(await first(metadataOf(name)), "data");
    return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : undefined;
  };
  const { minZoom, maxZoom } = await levelsOf(metadata, first);
  const bounds = ((await metadata("bounds")) ?? "").split(",");
  const named = await metadata("format");
  const sample = bytesOf(await first(SAMPLE));
  const format = named === undefined ? formatOfTile(sample) : formatNamed(named, sample);
  const attribution = attributionOf(await metadata("attribution"));
  return {
    name: (await metadata("name"))?.trim() || undefined,
    format,
    tileSize: format.kind === "image" && sample !== undefined ? pictureSide(sample) : undefined,
    minZoom,
    maxZoom,
    bounds: boundsOf(bounds.map((part) => (part.trim() === "" ? NaN : Number(part)))),
    vectorLayers: vectorLayersOf(parsed(await metadata("json"))),
    ...(attribution === undefined ? {} : { attribution }),
  };
}

function formatNamed(name: string, sample: Uint8Array | undefined): TileFormat {
  const short = name.trim().toLowerCase();
  // Whether a PNG has a palette differs per picture. A hybrid archive has JPEG and PNG.
  if (/^png(?:8|24|32|256)?$/.test(short)) return PNG;
  if (short === "hybrid") return formatOf("image/vnd.jpeg-png") ?? PNG;
  const format = FORMATS.has(short) ? formatOfExtension(short) : formatOf(short);
  const found = format ?? (short === "" ? formatOfTile(sample) : undefined);
  if (found === undefined)
    throw damaged(`its metadata names a format that is not known, ${JSON.stringify(name.slice(0, 100))}`);
  return found;
}

/**
 * Returns the format of an archive by the bytes of one of its tiles. MBTiles 1.0 does not require a format in the
 * metadata.
 */
function formatOfTile(tile: Uint8Array | undefined): TileFormat {
  if (tile === undefined) throw damaged("its metadata names no format, and it has no tile that shows one");
  const picture = pictureFormat(tile);
  const isPacked = tile[0] === 0x1f || tile[0] === 0x78 || tile[0] === 0x1a;
  const format = picture ?? (isPacked ? formatOfExtension("pbf") : undefined);
  if (format === undefined)
    throw damaged("its metadata names no format, and its tiles are neither pictures nor vector tiles that are known");
  return format;
}

/**
 * Returns the levels from the metadata. Archives before 1.3 may lack them there; then the levels are read from the
 * tiles.
 */
async function levelsOf(metadata: (name: string) => Promise<string | undefined>, first: First) {
  const [lowest, highest] = [await metadata("minzoom"), await metadata("maxzoom")].map((text) => Number(text || NaN));
  if (lowest !== undefined && highest !== undefined && areLevels(lowest, highest))
    return { minZoom: lowest, maxZoom: highest };
  // Queried separately, minimum and maximum each need one index lookup.
  const level = async (which: "min" | "max"): Promise<unknown> => {
    const row = await first(levelQuery(which));
    return read(read(row, "isText") === 1 ? await first(textLevelQuery(which)) : row, "z");
  };
  const minZoom = await level("min");
  const maxZoom = await level("max");
  if (typeof minZoom !== "number" || typeof maxZoom !== "number") throw damaged("it holds no tile");
  if (!areLevels(minZoom, maxZoom)) throw damaged(`its levels are ${minZoom} to ${maxZoom}`);
  return { minZoom, maxZoom };
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Converts errors of SQLite to a `SourceError`. Omits the message of an error of opening, because it contains the path.
 */
async function guarded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = codeOf(error);
    if (code === TOO_LONG)
      throw new SourceError("timeout", `the archive cannot be read: ${errorMessage(error)}`, { cause: error });
    if (/^SQLITE_(NOTADB|CORRUPT|ERROR|FORMAT|SCHEMA|MISMATCH)/.test(code)) throw damaged(fileFault(error), error);
    throw unreadable(code === "" ? "it cannot be opened" : fileFault(error), error);
  }
}
