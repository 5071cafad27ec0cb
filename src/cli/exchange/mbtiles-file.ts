import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Sqlite from "libsql";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import { isMap } from "../../lib/is-map.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { blobOf } from "./blob.ts";

/** A row of `tiles`. The row counts from the bottom; undefined bytes: there are none, or more than `MOST_TILE_BYTES`. */
export interface MbtilesTile {
  readonly z: number;
  readonly x: number;
  readonly row: number;
  readonly bytes: Uint8Array | undefined;
}

/** The limit of one request to the server; real tiles are far smaller. */
export const MOST_TILE_BYTES = 8 * 1024 * 1024;

/**
 * Values that are no numbers are read as blobs, because libsql ends the process when a text is not UTF-8. A blob that is
 * far too long is not read.
 */
const TILES = `SELECT CAST(zoom_level AS INTEGER) AS z, CAST(tile_column AS INTEGER) AS x, CAST(tile_row AS INTEGER) AS y,
  CASE WHEN length(tile_data) <= ${MOST_TILE_BYTES} THEN CAST(tile_data AS BLOB) END AS data
  FROM tiles ORDER BY zoom_level, tile_column, tile_row`;
const COUNT = "SELECT count(*) AS n FROM tiles";
const FORMAT = "SELECT CAST(substr(value, 1, 100) AS BLOB) AS data FROM metadata WHERE name = 'format' LIMIT 1";

/** An MBTiles, open for reading. */
export interface MbtilesFile extends Disposable {
  /** Returns the format in the metadata; undefined: there is none, as in the files of GeoWebCache. */
  format(): string | undefined;
  count(): number;
  tiles(): Iterable<MbtilesTile>;
}

/** @throws CommandFailure with the path, if the file is no MBTiles */
export function openMbtilesFile(path: string): MbtilesFile {
  const guarded = <T>(work: () => T): T => {
    let why: string;
    try {
      return work();
    } catch (error) {
      if (!codeOf(error).startsWith("SQLITE_")) throw error;
      why = errorMessage(error);
    }
    throw new CommandFailure(`${path} is no MBTiles, or is damaged: ${why}`, EXIT.failure);
  };
  const db = guarded(() => new Sqlite(`${pathToFileURL(path).href}?mode=ro`));
  const first = (sql: string): Readonly<Record<string, unknown>> | undefined => {
    const row: unknown = guarded(() => db.prepare(sql).get([]));
    return isMap(row) ? row : undefined;
  };
  try {
    // Views of a file from elsewhere shall call nothing.
    guarded(() => db.exec("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cache_size = -16384"));
    guarded(() => db.prepare(TILES));
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    format() {
      const { n } = first("SELECT count(*) AS n FROM sqlite_master WHERE name = 'metadata'") ?? {};
      const data = n === 0 ? undefined : blobOf(first(FORMAT)?.["data"]);
      return data === undefined ? undefined : Buffer.from(data).toString("utf8").trim();
    },
    count: () => Number(first(COUNT)?.["n"] ?? 0),
    *tiles() {
      const rows: Iterator<unknown> = guarded(() => db.prepare(TILES).iterate([]))[Symbol.iterator]();
      for (;;) {
        const step = guarded(() => rows.next());
        if (step.done === true) return;
        const { z, x, y, data } = isMap(step.value) ? step.value : {};
        yield { z: whole(z), x: whole(x), row: whole(y), bytes: blobOf(data) };
      }
    },
    [Symbol.dispose]: () => void db.close(),
  };
}

const whole = (value: unknown): number => (typeof value === "number" ? value : Number.NaN);

/** The parts of the path that GeoWebCache's MBTiles store gives to the files of one tile set. */
export interface GwcNames {
  readonly layer: string;
  readonly gridSet: string;
  readonly format: string;
  /** "": the default parameters. */
  readonly parametersId: string;
}

/** Replaces the characters that GeoWebCache replaces in the names of files. */
export const inPath = (text: string): string => text.replace(/[\\/:]|\s+/g, "_");

/**
 * Returns the MBTiles that a path stands for: the file itself, or the files of a tile set in the directory of
 * GeoWebCache's MBTiles store, `{layer}/{grid}{format}{params}/{z}_{x}_{y}.sqlite`. The path may be the root of that
 * store, the directory of the layer, or the directory of the files.
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
