import type { Logger } from "../lib/logger.ts";
import { type Database, int } from "./database.ts";

/** The free pages that the file keeps for later writes: 4 MiB. */
const SPARE_PAGES = 1024;
/** 1 MiB takes 4 ms; a checkpoint, which is due after 1000 pages, takes 20 ms. */
const PAGES_AT_ONCE = 256;
/** The value of `PRAGMA auto_vacuum` with which the file gives back free pages on request. */
const INCREMENTAL = 2;

/** Returns the unused part of the database file to the file system, in small slices. PostgreSQL needs no such help. */
export class FreeSpace {
  readonly #db: Database;
  #hasMore = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Whether free pages remained after the latest slice. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Gives back one slice. Must not be called inside a transaction. */
  giveBackSome(): void {
    if (this.#db.dialect.engine !== "sqlite") return;
    const free = this.#sparePages();
    if (free > 0) {
      const pages = Math.min(free, PAGES_AT_ONCE);
      // A loss of power undoes only this slice.
      this.#db.unsynced(() => this.#db.exec(`PRAGMA incremental_vacuum(${pages})`));
    } else if (this.#hasMore) {
      // Only a checkpoint shortens the file, and the next automatic one may be hours away.
      this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    }
    // A database that could not be rewritten by `makeShrinkable` gives back nothing.
    this.#hasMore = free > 0 && this.#sparePages() < free;
  }

  #sparePages(): number {
    return int(this.#db.prepare("PRAGMA freelist_count").get() ?? {}, "freelist_count") - SPARE_PAGES;
  }
}

/**
 * Rewrites a database of an older version once, before any other use, so that it can give back free pages. A database
 * that cannot be rewritten, such as on a full disk, works as before, and the next start tries again.
 */
export function makeShrinkable(db: Database, log: Logger): void {
  if (db.dialect.engine !== "sqlite") return;
  const mode = int(db.prepare("PRAGMA auto_vacuum").get() ?? {}, "auto_vacuum");
  if (mode === INCREMENTAL) return;
  const beganMs = performance.now();
  try {
    db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    db.exec("VACUUM");
    log.info("the state database has been rewritten, so that it can give back space", {
      ms: Math.round(performance.now() - beganMs),
    });
  } catch (error) {
    log.warn("the state database cannot be rewritten, and does not give back space: the next start tries again", {
      error: String(error),
    });
  }
}
