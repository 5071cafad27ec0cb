import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { zxyToTileId } from "pmtiles";
import type { TileFormat } from "../../layer/format.ts";
import { isMap } from "../../lib/is-map.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { turn } from "../../lib/time/sleep.ts";
import { blobOf } from "./blob.ts";
import type { ExportFacts, ExportTarget } from "./export-target.ts";
import { type ArchiveOptions, packedFor, unfinishedName } from "./mbtiles-target.ts";
import { HEADER_BYTES, type PmtilesEntry, ROOT_END, writeDirectories } from "./pmtiles-directory.ts";
import { encodeHeader } from "./pmtiles-header.ts";
import { isShared, type Sql, StagedTiles } from "./staged-tiles.ts";

/** The types of tiles (PMTiles 3, 3.3). */
const TILE_TYPES: ReadonlyMap<string, number> = new Map([
  ["application/vnd.mapbox-vector-tile", 1],
  ["image/png", 2],
  ["image/jpeg", 3],
  ["image/webp", 4],
  ["image/avif", 5],
]);

/** Returns the number of a format in PMTiles. Undefined if PMTiles lacks it. */
export const pmtilesType = (format: TileFormat): number | undefined =>
  TILE_TYPES.get(format.contentType ?? format.mimeType);

/**
 * Writes an archive of PMTiles 3: first all tiles to a database beside it, then, in the order of their ids, to the
 * archive. So the archive is clustered, and stores equal tiles once. Memory does not grow with the archive.
 */
export function pmtilesTarget({ to, format, purpose, isContinued }: ArchiveOptions, clock: Clock): ExportTarget {
  const staged = new StagedTiles({ file: unfinishedName(to), purpose, isContinued });
  const put = staged.db.prepare("INSERT OR REPLACE INTO nuthatch_hilbert VALUES (?, ?)");
  const archive = `${to}.tmp`;
  let isFinished = false;
  return {
    begun: staged.begun,
    add(tiles, progress) {
      staged.page(progress, (image) => {
        for (const { z, x, fromTop, bytes } of tiles)
          put.run([BigInt(zxyToTileId(z, x, fromTop)), image(packedFor(format, bytes))]);
      });
    },
    async finish(facts, signal) {
      try {
        await writeArchive(archive, staged.db, { facts, format, signal, clock });
      } catch (error) {
        rmSync(archive, { force: true });
        throw error;
      }
      renameSync(archive, to);
      isFinished = true;
    },
    close(unfinished) {
      staged.close();
      if (unfinished === "remove" || isFinished) staged.remove();
    },
  };
}

interface ArchiveContent {
  readonly facts: ExportFacts;
  readonly format: TileFormat;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Writes header and root directory into the first 16 KiB, then tiles, leaf directories and metadata. */
async function writeArchive(path: string, db: Sql, { facts, format, signal, clock }: ArchiveContent): Promise<void> {
  const file = openSync(path, "w", 0o666);
  const write = (bytes: Uint8Array, at: number): void => {
    for (let done = 0; done < bytes.byteLength; )
      done += writeSync(file, bytes, done, bytes.byteLength - done, at + done);
  };
  try {
    const data = await writeTiles(db, (bytes, at) => write(bytes, ROOT_END + at), signal, clock);
    const leavesAt = ROOT_END + data.length;
    const { root, leavesLength } = writeDirectories(data.entries, entryReader(db), (bytes, at) =>
      write(bytes, leavesAt + at),
    );
    const { name, description, vectorLayers } = facts;
    const about = { name, description, ...(vectorLayers === undefined ? {} : { vector_layers: vectorLayers }) };
    const metadata = gzipSync(JSON.stringify(about));
    const metadataAt = leavesAt + leavesLength;
    write(metadata, metadataAt);
    write(root, HEADER_BYTES);
    const header = encodeHeader(
      {
        root: { offset: HEADER_BYTES, length: root.byteLength },
        metadata: { offset: metadataAt, length: metadata.byteLength },
        leaves: { offset: leavesAt, length: leavesLength },
        data: { offset: ROOT_END, length: data.length },
        addressed: data.addressed,
        entries: data.entries,
        contents: data.contents,
        tileType: pmtilesType(format) ?? 0,
        isPacked: format.kind === "data",
      },
      facts,
    );
    write(header, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

interface WrittenData {
  readonly length: number;
  readonly addressed: number;
  readonly entries: number;
  readonly contents: number;
}

/** Tiles that are written in one turn of the event loop. Between turns a signal can arrive. */
const TILES_PER_TURN = 500;

/** Writes the tiles in the order of their ids, and records the entries of the directories in the database. */
async function writeTiles(
  db: Sql,
  write: (bytes: Uint8Array, at: number) => void,
  signal: AbortSignal,
  clock: Clock,
): Promise<WrittenData> {
  db.exec(`DROP TABLE IF EXISTS nuthatch_entry; DROP TABLE IF EXISTS nuthatch_placed;
    CREATE TABLE nuthatch_entry (n INTEGER PRIMARY KEY, id INTEGER, at INTEGER, size INTEGER, run INTEGER);
    CREATE TABLE nuthatch_placed (tile_id INTEGER PRIMARY KEY, at INTEGER)`);
  const next = db.prepare(`SELECT id, images.tile_id AS image, tile_data AS data FROM nuthatch_hilbert
    JOIN images ON images.tile_id = nuthatch_hilbert.tile_id WHERE id > ? ORDER BY id LIMIT ${TILES_PER_TURN}`);
  const find = db.prepare("SELECT at FROM nuthatch_placed WHERE tile_id = ?");
  const place = db.prepare("INSERT INTO nuthatch_placed VALUES (?, ?)");
  const addEntry = db.prepare("INSERT INTO nuthatch_entry VALUES (?, ?, ?, ?, ?)");
  let [length, addressed, entries, contents, last] = [0, 0, 0, 0, -1];
  let open: PmtilesEntry | undefined;
  const closeOpen = (): void => {
    if (open === undefined) return;
    addEntry.run([entries++, BigInt(open.id), BigInt(open.offset), open.length, open.runLength]);
  };
  const positionOf = (image: number, bytes: Uint8Array): number => {
    const found: unknown = isShared(bytes.byteLength) ? find.get([image]) : undefined;
    if (isMap(found)) return Number(found["at"]);
    const at = length;
    write(bytes, at);
    length += bytes.byteLength;
    contents++;
    if (isShared(bytes.byteLength)) place.run([image, BigInt(at)]);
    return at;
  };
  for (;;) {
    signal.throwIfAborted();
    const rows: readonly unknown[] = next.all([BigInt(last)]);
    if (rows.length === 0) break;
    db.exec("BEGIN");
    for (const row of rows) {
      const { id, image, data } = hilbertRow(row);
      const offset = positionOf(image, data);
      if (open !== undefined && open.offset === offset && id === open.id + open.runLength)
        open = { ...open, runLength: open.runLength + 1 };
      else {
        closeOpen();
        open = { id, offset, length: data.byteLength, runLength: 1 };
      }
      addressed++;
      last = id;
    }
    db.exec("COMMIT");
    await turn(clock);
  }
  closeOpen();
  return { length, addressed, entries, contents };
}

function hilbertRow(row: unknown): { readonly id: number; readonly image: number; readonly data: Uint8Array } {
  const { id, image, data } = isMap(row) ? row : {};
  const bytes = blobOf(data);
  if (bytes === undefined) throw new TypeError("the unfinished export is damaged: a tile has no bytes");
  return { id: Number(id), image: Number(image), data: bytes };
}

/** Returns a function that reads the recorded entries in order. */
function entryReader(db: Sql): (from: number, most: number) => readonly PmtilesEntry[] {
  const read = db.prepare("SELECT id, at, size, run FROM nuthatch_entry WHERE n >= ? ORDER BY n LIMIT ?");
  return (from, most) =>
    read.all([from, most]).map((row: unknown) => {
      const { id, at, size, run } = isMap(row) ? row : {};
      return { id: Number(id), offset: Number(at), length: Number(size), runLength: Number(run) };
    });
}
