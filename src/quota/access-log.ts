import { SAMPLE_ALL, type SampledRead, type UseReport } from "../cache/use-recorder.ts";
import { type TileSet, tileSetKey } from "../layer/tile-set.ts";
import { bytes, type Database, int, type Migrations, type Row, text } from "../state/database.ts";

export const accessLogMigrations: Migrations = {
  module: "access log",
  steps: [
    `CREATE TABLE access_batch (
       id INTEGER PRIMARY KEY,
       at_ms INTEGER NOT NULL,
       sampled_below INTEGER NOT NULL,
       reads INTEGER NOT NULL,
       tile_sets TEXT NOT NULL,
       records BLOB NOT NULL);`,
  ],
};

/** Reads within at most one minute, in order. */
export interface AccessBatch {
  readonly atMs: number;
  readonly sampledBelow: number;
  readonly reads: readonly SampledRead[];
}

const BATCH_MS = 60_000;
const BATCH_READS = 4_096;
/** The most reads that are stored (the newest ones), and the longest time for which they are stored. */
const MOST_READS = 500_000;
const STORED_MS = 14 * 86_400_000;
/** The bytes of a record: tile set, zoom, x and y. x and y can exceed 2^32; as doubles they are exact. */
const RECORD_BYTES = 2 + 1 + 8 + 8;

/**
 * Stores the sampled reads of the last days for simulations, as addresses only. A crash loses the reads of about a
 * minute, which is harmless.
 */
export class AccessLog {
  readonly #db: Database;
  #reads: SampledRead[] = [];
  #sampledBelow = SAMPLE_ALL;
  #sinceMs = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  add({ reads, sampledBelow }: UseReport, nowMs: number): void {
    if (reads.length === 0) return;
    if (this.#reads.length === 0) {
      this.#sinceMs = nowMs;
      this.#sampledBelow = sampledBelow;
    }
    this.#sampledBelow = Math.min(this.#sampledBelow, sampledBelow);
    if (this.#reads.length < 2 * BATCH_READS) this.#reads.push(...reads);
  }

  isDue(nowMs: number): boolean {
    return this.#reads.length >= BATCH_READS || (this.#reads.length > 0 && nowMs - this.#sinceMs >= BATCH_MS);
  }

  /** Writes the reads. Runs inside the caller's transaction. */
  write(nowMs: number): void {
    const reads = this.#reads;
    if (reads.length === 0) return;
    const tileSets = new Map<string, { readonly n: number; readonly tileSet: TileSet }>();
    const records = Buffer.allocUnsafe(reads.length * RECORD_BYTES);
    for (const [i, { tileSet, x, y, z }] of reads.entries()) {
      const key = tileSetKey(tileSet);
      const known = tileSets.get(key) ?? { n: tileSets.size, tileSet };
      tileSets.set(key, known);
      const offset = records.writeUInt8(z, records.writeUInt16LE(known.n, i * RECORD_BYTES));
      records.writeDoubleLE(y, records.writeDoubleLE(x, offset));
    }
    this.#db
      .prepare("INSERT INTO access_batch (at_ms, sampled_below, reads, tile_sets, records) VALUES (?, ?, ?, ?, ?)")
      .run(
        nowMs,
        this.#sampledBelow,
        reads.length,
        JSON.stringify([...tileSets.values()].map(({ tileSet }) => tileSet)),
        records,
      );
    this.#db.prepare("DELETE FROM access_batch WHERE at_ms < ?").run(nowMs - STORED_MS);
    this.#db
      .prepare(
        `DELETE FROM access_batch WHERE id <=
           (SELECT MAX(id) FROM (SELECT id, SUM(reads) OVER (ORDER BY id DESC) AS newer FROM access_batch) AS batch
             WHERE newer > ?)`,
      )
      .run(MOST_READS);
    this.#db.onRollback(() => this.#reads.unshift(...reads));
    this.#reads = [];
  }

  /** Yields the batches one at a time, beginning with the oldest. */
  *batches(): Generator<AccessBatch> {
    const next = this.#db.prepare("SELECT * FROM access_batch WHERE id > ? ORDER BY id LIMIT 1");
    for (let row = next.get(-1); row !== undefined; row = next.get(int(row, "id"))) yield batchOf(row);
    if (this.#reads.length > 0)
      yield { atMs: this.#sinceMs, sampledBelow: this.#sampledBelow, reads: [...this.#reads] };
  }
}

function batchOf(row: Row): AccessBatch {
  const tileSets: TileSet[] = JSON.parse(text(row, "tile_sets"));
  const blob = bytes(row, "records");
  const records = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  const reads: SampledRead[] = [];
  for (let offset = 0; offset + RECORD_BYTES <= records.byteLength; offset += RECORD_BYTES) {
    const tileSet = tileSets[records.readUInt16LE(offset)];
    if (tileSet === undefined) continue;
    reads.push({
      tileSet,
      z: records.readUInt8(offset + 2),
      x: records.readDoubleLE(offset + 3),
      y: records.readDoubleLE(offset + 11),
    });
  }
  return { atMs: int(row, "at_ms"), sampledBelow: int(row, "sampled_below"), reads };
}
