import { join } from "node:path";
import type { Disk } from "../lib/file/disk.ts";

/** A part of the state that the last server left is missing. */
export interface StateLoss {
  readonly file: string;
  /** A sentence that describes the loss. */
  readonly reason: string;
}

/** Both words have the same length: the mark is overwritten in place, which needs no space on a full disk. */
const RUNNING = "running\n";
const STOPPED = "stopped\n";

/**
 * Maintains a file of the data directory that records whether the last server ended in order. The file exists as soon
 * as a server has written its state. SQLite treats a database of 0 bytes as new, and ignores a missing or damaged
 * write-ahead log. With the mark, a start can distinguish a lost file from one that never existed.
 */
export class RunningMark {
  readonly #file: string;
  readonly #database: string;
  readonly #disk: Disk;

  constructor(dataDir: string, disk: Disk) {
    this.#disk = disk;
    this.#file = join(dataDir, "running");
    this.#database = join(dataDir, "state.db");
  }

  /** Returns the lost file of the state. Undefined if no file is lost. Must be called before the database is opened. */
  loss(): StateLoss | undefined {
    if (!this.#disk.existsSync(this.#file)) return undefined;
    const size = this.#disk.statSync(this.#database, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0)
      return { file: this.#database, reason: "it is missing or empty, though a server has written its state to it" };
    const wasRunning = this.#disk.readFileSync(this.#file, "utf8") === RUNNING;
    const log = `${this.#database}-wal`;
    if (!wasRunning || isWriteAheadLog(log, this.#disk)) return undefined;
    return { file: log, reason: "it is missing or damaged, though the last server did not end in order" };
  }

  /** Records that the write-ahead log contains changes. Called after the first transaction. */
  begun(): void {
    this.#write(RUNNING);
  }

  /**
   * Records an orderly end. Called before the write-ahead log is moved into the database. If the mark cannot be written,
   * removes it: the next start would otherwise take the log for lost.
   */
  ended(): void {
    if (!this.#disk.existsSync(this.#file)) return;
    try {
      this.#write(STOPPED);
    } catch {
      this.#disk.rmSync(this.#file, { force: true });
    }
  }

  #write(word: string): void {
    const disk = this.#disk;
    const file = disk.openSync(this.#file, disk.existsSync(this.#file) ? "r+" : "w", 0o600);
    try {
      disk.writeSync(file, word, 0);
      // "stopped" must be on the disk before the log is removed.
      disk.fsyncSync(file);
    } finally {
      disk.closeSync(file);
    }
  }
}

const HEADER_BYTES = 32;
const SUMMED_BYTES = 24;
const MAGIC = 0x377f0682;

/**
 * Returns whether a file begins as a write-ahead log of SQLite, with the right checksum (SQLite's file format, section
 * 4.1).
 */
export function isWriteAheadLog(path: string, disk: Disk): boolean {
  if (!disk.existsSync(path)) return false;
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  const file = disk.openSync(path, "r");
  try {
    if (disk.readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false;
  } finally {
    disk.closeSync(file);
  }
  const magic = header.getUint32(0);
  if (magic !== MAGIC && magic !== MAGIC + 1) return false;
  const isLittleEndian = magic === MAGIC;
  let [a, b] = [0, 0];
  for (let at = 0; at < SUMMED_BYTES; at += 8) {
    a = (a + header.getUint32(at, isLittleEndian) + b) >>> 0;
    b = (b + header.getUint32(at + 4, isLittleEndian) + a) >>> 0;
  }
  return header.getUint32(24) === a && header.getUint32(28) === b;
}
