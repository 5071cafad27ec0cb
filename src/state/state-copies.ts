import Sqlite from "libsql";
import type { Disk } from "../lib/file/disk.ts";

const MINUTE_MS = 60_000;

/** Writes a time (ms since 1970) into the `user_version` of a copy, in minutes, because the field has 31 bits. */
export function stamp(copy: string, nowMs: number): void {
  const db = new Sqlite(copy);
  try {
    db.exec(`PRAGMA user_version = ${Math.floor(nowMs / MINUTE_MS)}`);
  } finally {
    db.close();
  }
}

/** The first bytes of a database file, and the byte range of `user_version` (SQLite's file format, section 1.3). */
export const MAGIC = "SQLite format 3\0";
const USER_VERSION = { offset: 60, end: 64 } as const;

/**
 * Returns the time (ms since 1970) at which a state database was copied. Undefined if the file is not a copy. Reads the
 * header without SQLite, which would apply a write-ahead log that belongs to the replaced database.
 */
export function copiedAtMs(file: string, disk: Pick<Disk, "openSync" | "readSync" | "closeSync">): number | undefined {
  const { offset, end } = USER_VERSION;
  const header = Buffer.alloc(end);
  const opened = disk.openSync(file, "r");
  try {
    if (disk.readSync(opened, header, 0, end, 0) < end) return undefined;
  } finally {
    disk.closeSync(opened);
  }
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) return undefined;
  const minutes = header.readUInt32BE(offset);
  return minutes === 0 ? undefined : minutes * MINUTE_MS;
}

/**
 * The most ids that the replaced database may have assigned since the copy: a fixed number, and a number per second.
 */
const IDS_AT_ONCE = 100_000;
const IDS_PER_SECOND = 10;

/**
 * Returns SQL that raises the next id of each table. The replaced database may have assigned ids that the copy does not
 * know, and clients remember these ids.
 */
export function raiseIds(copiedMs: number, nowMs: number): string {
  const ids = IDS_AT_ONCE + IDS_PER_SECOND * Math.ceil(Math.max(0, nowMs - copiedMs) / 1_000);
  return `INSERT INTO sqlite_sequence (name, seq) SELECT name, 0 FROM sqlite_master
      WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence);
    UPDATE sqlite_sequence SET seq = seq + ${ids};`;
}
