import Sqlite from "libsql";
import type { Machine } from "../../../lib/machine.ts";
import { isBusy } from "../../../state/data-directory.ts";
import { storeError } from "../../internal/faults.ts";
import { StoreError } from "../../tile-store.ts";

/** The longest wait for the lock. A holder only writes the tiles of a metatile, or renames a few directories. */
const LONGEST_WAIT_MS = 10_000;
const PAUSE_MS = 0.2;

interface Opened {
  readonly db: InstanceType<typeof Sqlite>;
  readonly begin: { run(): unknown };
  readonly end: { run(): unknown };
  /** The lock is valid only while its file is at its path, because a user may empty the directory of the store. */
  readonly inode: number;
}

/**
 * A lock that one process, or one thread, holds at a time. It is a write transaction on an empty database: the lock of
 * a killed process ends with the process, so no stale lock file can remain.
 */
export class StoreLock {
  readonly #machine: Pick<Machine, "clock" | "disk">;
  readonly #file: string;
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  #opened: Opened | undefined;
  #release: (() => void) | undefined;

  constructor(machine: Pick<Machine, "clock" | "disk">, file: string) {
    this.#machine = machine;
    this.#file = file;
  }

  /**
   * Blocks the thread until it has the lock. The thread holds the lock until its current turn of the event loop ends,
   * because acquiring the lock costs more than writing a tile. Does nothing if the thread already holds the lock.
   * @param ending is called right before the lock is released, and must not throw
   * @throws StoreError when the lock cannot be acquired
   */
  take(ending: () => void): void {
    if (this.#release !== undefined) return;
    const { clock } = this.#machine;
    const untilMs = clock.monotonicNow() + LONGEST_WAIT_MS;
    let release = this.tryAcquire();
    while (release === undefined) {
      if (clock.monotonicNow() > untilMs)
        throw new StoreError("unavailable", "another process has locked the store for writing for too long", undefined);
      Atomics.wait(this.#pause, 0, 0, PAUSE_MS);
      release = this.tryAcquire();
    }
    const acquired = release;
    this.#release = () => {
      this.#release = undefined;
      ending();
      acquired();
    };
    clock.soon(() => this.#release?.());
  }

  /**
   * Returns the function that releases the lock. Undefined if another process or thread holds the lock.
   * @throws StoreError when the lock is unusable
   */
  tryAcquire(): (() => void) | undefined {
    try {
      this.#opened ??= this.#open();
      const { begin, end, inode } = this.#opened;
      begin.run();
      if (this.#machine.disk.statSync(this.#file, { throwIfNoEntry: false })?.ino === inode)
        return () => void end.run();
      this.#closeFile();
    } catch (error) {
      if (isBusy(error)) return undefined;
      // Otherwise the transaction would stay open, and no process could write any more.
      this.#closeFile();
      throw storeError(error, "the store cannot be locked for writing");
    }
    return undefined;
  }

  #open(): Opened {
    const db = new Sqlite(this.#file);
    try {
      const begin = db.prepare("BEGIN IMMEDIATE");
      const end = db.prepare("ROLLBACK");
      // SQLite creates the file with the first lock.
      begin.run();
      end.run();
      return { db, begin, end, inode: this.#machine.disk.statSync(this.#file).ino };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Releases the lock, and closes its file. */
  close(): void {
    this.#release?.();
    this.#closeFile();
  }

  #closeFile(): void {
    // A database that is closed within a transaction keeps its lock.
    if (this.#opened?.db.inTransaction === true) this.#opened.end.run();
    this.#opened?.db.close();
    this.#opened = undefined;
  }
}
