import { randomFillSync } from "node:crypto";
import { rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const MIB = 2 ** 20;
/** A write-ahead log at its full size (SQLite begins it anew after 4 MiB), and as much for the database itself. */
const RESERVE_BYTES = 8 * MIB;
/** With less room than this a transaction may not fit. */
const NEEDED_BYTES = MIB;
/** After a fault the reserve is not tried again for so many looks. */
const LOOKS_AFTER_FAULT = 30;

/**
 * Room on the disk of the state database: a file that is removed when the disk is full, so that the transactions fit with
 * which an operator makes room (truncations, kills, a lower quota). It is made again when there is room for it.
 */
export class DiskReserve {
  readonly #file: string;
  readonly #freeBytes: () => number;
  #isHeld: boolean;
  #fault: string | undefined;
  #looksToSkip = 0;

  /** `freeBytes`: the room on the disk of the file. */
  constructor(file: string, freeBytes: () => number = () => freeBytesAt(dirname(file))) {
    this.#file = file;
    this.#freeBytes = freeBytes;
    this.#isHeld = statSync(file, { throwIfNoEntry: false })?.size === RESERVE_BYTES;
    this.beforeWrite();
    this.look();
  }

  /** Gives the reserve up where the next transaction may not fit without it. Before, as a transaction cannot be run twice. */
  beforeWrite(): void {
    if (this.#isHeld && this.#freeBytes() < NEEDED_BYTES) this.giveUp();
  }

  /** Frees the room of the reserve. */
  giveUp(): void {
    rmSync(this.#file, { force: true });
    this.#isHeld = false;
  }

  /** Makes the reserve again once there is room. Called on a timer. */
  look(): void {
    if (this.#isHeld || this.#looksToSkip-- > 0) return;
    this.#looksToSkip = 0;
    if (this.#freeBytes() < RESERVE_BYTES + 2 * NEEDED_BYTES) return;
    try {
      // A file system that compresses would keep nothing aside for zeros.
      writeFileSync(this.#file, randomFillSync(Buffer.alloc(RESERVE_BYTES)), { mode: 0o600 });
      this.#isHeld = true;
      this.#fault = undefined;
    } catch (error) {
      this.giveUp();
      this.#fault = String(error);
      this.#looksToSkip = LOOKS_AFTER_FAULT;
    }
  }

  /** Why the reserve is not there; undefined: it is. */
  get shortage(): string | undefined {
    if (this.#isHeld) return undefined;
    const free = (this.#freeBytes() / MIB).toFixed(1);
    const why = this.#fault === undefined ? "" : ` (${this.#fault})`;
    return `the disk of the data directory is full: ${free} MiB are free, and the state database needs ${(RESERVE_BYTES + 2 * NEEDED_BYTES) / MIB} MiB${why}`;
  }
}

function freeBytesAt(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
