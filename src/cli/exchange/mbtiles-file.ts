import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { asTileX, asZoom, type TileX, type Zoom } from "../../grid/grid-set.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { isMap } from "../../lib/is-map.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SqliteReadError, SqliteReader, TOO_LONG } from "../../source/archive/sqlite-reader.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { blobOf } from "./blob.ts";

/**
 * A row of `tiles`. The row counts from the bottom. The bytes are undefined if the row has none, or more than
 * `MOST_TILE_BYTES`.
 */
export interface MbtilesTile {
  readonly z: Zoom;
  readonly x: TileX;
  readonly row: number;
  readonly bytes: Uint8Array | undefined;
}

/** The server's limit for one request. Real tiles are far smaller. */
export const MOST_TILE_BYTES = 8 * 1024 * 1024;

/**
 * Values that are not numbers are read as blobs, because libsql ends the process if a text is not UTF-8. Blobs that are
 * too long are not read.
 */
const TILES = `SELECT CAST(zoom_level AS INTEGER) AS z, CAST(tile_column AS INTEGER) AS x, CAST(tile_row AS INTEGER) AS y,
  CASE WHEN length(tile_data) <= ${MOST_TILE_BYTES} THEN CAST(tile_data AS BLOB) END AS data
  FROM tiles ORDER BY zoom_level, tile_column, tile_row`;
const COUNT = "SELECT count(*) AS n FROM tiles";
const FORMAT = "SELECT CAST(substr(value, 1, 100) AS BLOB) AS data FROM metadata WHERE name = 'format' LIMIT 1";

/** The time limit of a query. Sorting the tiles of a large file without an index takes minutes. */
const LIMIT_MS = 300_000;

/**
 * An MBTiles file, open for reading.
 * @throws CommandFailure with the path from all methods
 */
export interface MbtilesFile extends AsyncDisposable {
  /** Returns the format in the metadata. Undefined if the metadata have none, as in files of GeoWebCache. */
  format(): Promise<string | undefined>;
  count(): Promise<number>;
  tiles(): AsyncIterable<MbtilesTile>;
}

/**
 * Opens an MBTiles file. Its queries run in a separate process, with a time limit.
 * @throws CommandFailure with the path if the file is not MBTiles
 */
export async function openMbtilesFile(clock: Clock, path: string, limitMs: number = LIMIT_MS): Promise<MbtilesFile> {
  const fault = (error: unknown): unknown => {
    if (!(error instanceof SqliteReadError)) return error;
    const message =
      error.code === TOO_LONG
        ? `${path} cannot be read: ${error.message}`
        : `${path} is no MBTiles, or is damaged: ${fileFault(error)}`;
    return new CommandFailure(message, EXIT.failure);
  };
  const guarded = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw fault(error);
    });
  const reader = await guarded(SqliteReader.open(clock, path, TILES, limitMs));
  const first = async (sql: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const row = await guarded(reader.first(sql));
    return isMap(row) ? row : undefined;
  };
  return {
    async format() {
      const { n } = (await first("SELECT count(*) AS n FROM sqlite_master WHERE name = 'metadata'")) ?? {};
      const data = n === 0 ? undefined : blobOf((await first(FORMAT))?.["data"]);
      return data === undefined ? undefined : Buffer.from(data).toString("utf8").trim();
    },
    count: async () => Number((await first(COUNT))?.["n"] ?? 0),
    async *tiles() {
      const rows = reader.rows(TILES);
      for (;;) {
        const step = await guarded(rows.next());
        if (step.done === true) return;
        const { z, x, y, data } = isMap(step.value) ? step.value : {};
        yield { z: asZoom(whole(z)), x: asTileX(whole(x)), row: whole(y), bytes: blobOf(data) };
      }
    },
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

const whole = (value: unknown): number => (typeof value === "number" ? value : Number.NaN);

/** The parts of file paths for one tile set in GeoWebCache's MBTiles store. */
export type GwcNames = Readonly<Record<keyof TileSet, string>>;

/** Replaces the characters that GeoWebCache replaces in file names. */
export const inPath = (text: string): string => text.replace(/[\\/:]|\s+/g, "_");

/**
 * Returns the MBTiles files at a path: the file itself, or the files of a tile set in GeoWebCache's MBTiles store,
 * `{layer}/{grid}{format}{params}/{z}_{x}_{y}.sqlite`. The path may be the root of that store, the directory of the
 * layer, or the directory of the files.
 */
export function mbtilesFilesAt(path: string, names: GwcNames): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const own = `${inPath(names.gridSet)}${inPath(names.format)}${names.parametersId || "null"}`;
  const looked = [join(path, inPath(names.layer), own), join(path, own), path];
  for (const directory of looked) {
    const files = existsSync(directory) ? archivesIn(directory) : [];
    if (files.length > 0) return files;
  }
  throw new CommandFailure(`no MBTiles are in ${looked.join(", nor in ")}`, EXIT.failure);
}

const archivesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:sqlite|mbtiles)$/i.test(entry.name))
    .map(({ name }) => join(directory, name))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
