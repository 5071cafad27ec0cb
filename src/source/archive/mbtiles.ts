import { stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { formatOf, formatOfExtension, type TileFormat } from "../../layer/format.ts";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import { SourceError } from "../source.ts";
import { ARCHIVE_READ_LIMIT, type Archive, type ArchiveFacts, damaged, unreadable, unreadableFile } from "./archive.ts";
import { areLevels, boundsOf, vectorLayersOf } from "./archive-metadata.ts";

/** Formats by their names in the MBTiles specification, and by other names that are in use. */
const FORMATS: ReadonlySet<string> = new Set(["png", "jpg", "jpeg", "webp", "avif", "gif", "pbf", "mvt"]);

/**
 * Reads the length first, so that no value that is far too long is read. Reads every value that is not a number as a
 * blob: libsql ends the process when a text is not UTF-8.
 */
const bounded = (column: string): string =>
  `CASE WHEN length(${column}) <= ${ARCHIVE_READ_LIMIT} THEN CAST(${column} AS BLOB) END`;
const TILE = `SELECT CAST(length(tile_data) AS INTEGER) AS size, ${bounded("tile_data")} AS data
  FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ? LIMIT 1`;
const metadataOf = (name: string): string =>
  `SELECT ${bounded("value")} AS data FROM metadata WHERE name = '${name}' LIMIT 1`;
const levelOf = (which: "min" | "max"): string => `SELECT CAST(${which}(zoom_level) AS INTEGER) AS z FROM tiles`;

const read = (row: unknown, column: string): unknown =>
  typeof row === "object" && row !== null ? Object.getOwnPropertyDescriptor(row, column)?.value : undefined;

/**
 * Opens an archive of MBTiles 1.0 to 1.3, with any tables behind its `tiles`. Opens the file read only, by a URI:
 * libsql has no other way to do so, and would create a missing file.
 */
export async function openMbtiles(file: string): Promise<Archive> {
  const found = await stat(file).catch((error: unknown) => {
    throw unreadableFile(error);
  });
  if (!found.isFile()) throw unreadable("it is no file");
  const { default: Sqlite } = await import("libsql");
  const db = guarded(() => new Sqlite(`${pathToFileURL(file).href}?mode=ro`));
  try {
    return guarded(() => {
      // Views of a file from elsewhere shall call nothing.
      db.exec("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cache_size = -8192");
      const tile = db.prepare(TILE);
      return {
        facts: async () => guarded(() => factsOf((sql) => db.prepare(sql).get([]))),
        tile: async ({ z, x, fromBottom }) => guarded(() => bytesOf(tile.get([z, x, fromBottom]))),
        /** The file is closed when the statements are collected. */
        async [Symbol.asyncDispose]() {
          db.close();
        },
      };
    });
  } catch (error) {
    db.close();
    throw error;
  }
}

function bytesOf(row: unknown): Uint8Array | undefined {
  if (row === undefined) return undefined;
  const data = read(row, "data");
  if (data instanceof Uint8Array) return data;
  const size = read(row, "size");
  if (typeof size === "number" && size > ARCHIVE_READ_LIMIT)
    throw new SourceError("too_large", `the tile is larger than ${ARCHIVE_READ_LIMIT} bytes`);
  // The row has neither data nor a size: the archive has no such tile.
  return undefined;
}

/** `first`: the first row of a query. */
function factsOf(first: (sql: string) => unknown): ArchiveFacts {
  const metadata = (name: string): string | undefined => {
    const value = read(first(metadataOf(name)), "data");
    return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : undefined;
  };
  const { minZoom, maxZoom } = levelsOf(metadata, first);
  return {
    name: metadata("name")?.trim() || undefined,
    format: formatNamed(metadata("format")),
    minZoom,
    maxZoom,
    bounds: boundsOf((metadata("bounds") ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)))),
    vectorLayers: vectorLayersOf(parsed(metadata("json"))),
  };
}

function formatNamed(name: string | undefined): TileFormat {
  if (name === undefined) throw damaged("its metadata names no format");
  const short = name.trim().toLowerCase();
  const format = FORMATS.has(short) ? formatOfExtension(short) : formatOf(name);
  if (format === undefined)
    throw damaged(`its metadata names a format that is not known, ${JSON.stringify(name.slice(0, 100))}`);
  return format;
}

/**
 * Returns the levels from the metadata. Archives before 1.3 may lack them there; then the levels come from the tiles.
 */
function levelsOf(metadata: (name: string) => string | undefined, first: (sql: string) => unknown) {
  const [lowest, highest] = ["minzoom", "maxzoom"].map((name) => Number(metadata(name) || Number.NaN));
  if (lowest !== undefined && highest !== undefined && areLevels(lowest, highest))
    return { minZoom: lowest, maxZoom: highest };
  // One by one each is a look into the index.
  const minZoom = read(first(levelOf("min")), "z");
  const maxZoom = read(first(levelOf("max")), "z");
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
 * Turns errors of SQLite into a `SourceError`. Leaves out the message of an error of opening, as it contains the path.
 */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const code = codeOf(error);
    if (/^SQLITE_(NOTADB|CORRUPT|ERROR|FORMAT|SCHEMA|MISMATCH)/.test(code)) throw damaged(errorMessage(error), error);
    throw unreadable(code === "" ? "it cannot be opened" : code, error);
  }
}
