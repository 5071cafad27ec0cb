import { dirname } from "node:path";
import type { Disk } from "../lib/file/disk.ts";
import type { Random } from "../lib/random/random.ts";

const MIB = 2 ** 20;
/**
 * The size of the reserve: a write-ahead log of full size (SQLite restarts the log after 4 MiB), and as much for the
 * database.
 */
const RESERVE_BYTES = 8 * MIB;
/** A transaction may not fit when less space than this is free. */
const NEEDED_BYTES = MIB;
/** The number of calls of `look` that are skipped after a fault. */
const LOOKS_AFTER_FAULT = 30;

/** The operations of a disk that the reserve uses. */
interface ReserveDisk extends Pick<Disk, "rmSync" | "statSync" | "writeFileSync"> {
  statfsSync(directory: string): { readonly bavail: number; readonly bsize: number };
}

/** Whether the disk has space for the next transaction. `freed`: the reserve was removed since the previous call. */
export type SpaceForWrite = "enough" | "freed" | "short";

/**
 * Reserves space on the disk of the state database with a file. When the disk is full, the file is removed, so that the
 * transactions fit by which an operator frees space (truncations, kills, a lower quota). The file is created again when
 * the disk has space for it.
 */
export class DiskReserve {
  readonly #file: string;
  readonly #disk: ReserveDisk;
  readonly #random: Random;
  #isHeld: boolean;
  #wasFreed = false;
  #fault: string | undefined;
  #looksToSkip = 0;

  constructor(file: string, disk: ReserveDisk, random: Random) {
    this.#file = file;
    this.#disk = disk;
    this.#random = random;
    this.#isHeld = disk.statSync(file, { throwIfNoEntry: false })?.size === RESERVE_BYTES;
    this.#freeIfShort();
    this.look();
  }

  /**
   * Removes the reserve when the next transaction may not fit without it. This happens before the transaction, because
   * a transaction cannot be run twice.
   */
  beforeWrite(): SpaceForWrite {
    const isShort = this.#freeIfShort();
    if (!this.#wasFreed) return isShort ? "short" : "enough";
    this.#wasFreed = false;
    return "freed";
  }

  /** Returns the free bytes on the disk of the reserve. */
  #freeBytes(): number {
    const { bavail, bsize } = this.#disk.statfsSync(dirname(this.#file));
    return bavail * bsize;
  }

  /** Returns whether space is short, with or without the reserve. */
  #freeIfShort(): boolean {
    const isShort = this.#freeBytes() < NEEDED_BYTES;
    if (isShort && this.#isHeld) this.giveUp();
    return isShort;
  }

  /** Removes the reserve, which frees its space. */
  giveUp(): void {
    this.#disk.rmSync(this.#file, { force: true });
    this.#wasFreed ||= this.#isHeld;
    this.#isHeld = false;
  }

  /** Creates the reserve again once there is space. A timer calls this. */
  look(): void {
    if (this.#isHeld || this.#looksToSkip-- > 0) return;
    this.#looksToSkip = 0;
    if (this.#freeBytes() < RESERVE_BYTES + 2 * NEEDED_BYTES) return;
    try {
      // Random bytes, because a file system with compression would reserve no space for zeros.
      this.#disk.writeFileSync(this.#file, this.#random.bytes(RESERVE_BYTES), { mode: 0o600 });
      this.#isHeld = true;
      this.#wasFreed = false;
      this.#fault = undefined;
    } catch (error) {
      this.giveUp();
      this.#fault = String(error);
      this.#looksToSkip = LOOKS_AFTER_FAULT;
    }
  }

  /**
   * Returns why changes may fail: the reserve does not exist, or the next write will remove it. Undefined while the
   * disk has enough space. Reads the free space, because a server without work writes nothing for up to a minute.
   */
  get shortage(): string | undefined {
    const freeBytes = this.#freeBytes();
    if (this.#isHeld && freeBytes >= NEEDED_BYTES) return undefined;
    const needed = (this.#isHeld ? NEEDED_BYTES : RESERVE_BYTES + 2 * NEEDED_BYTES) / MIB;
    const why = this.#fault === undefined ? "" : ` (${this.#fault})`;
    return `the disk of the data directory is full: ${(freeBytes / MIB).toFixed(1)} MiB are free, and the state database needs ${needed} MiB${why}`;
  }
}
