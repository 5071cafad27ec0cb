import type { Logger } from "../lib/logger.ts";
import { type Database, int } from "./database.ts";

/** Free pages that the file keeps for what is written next: 4 MiB. */
const SPARE_PAGES = 1024;
/** 1 MiB takes 4 ms; a checkpoint, which is due after 1000 pages, takes 20 ms. */
const PAGES_AT_ONCE = 256;
/** `PRAGMA auto_vacuum`: the file gives back free pages when it is asked to. */
const INCREMENTAL = 2;

/** The part of the database's file that holds nothing any more, which goes back to the file system in small slices. */
export class FreeSpace {
  readonly #db: Database;
  #hasMore = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The last slice was not all that is free. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Gives back one slice. Outside of transactions. */
  giveBackSome(): void {
    const free = this.#sparePages();
    if (free > 0) {
      const pages = Math.min(free, PAGES_AT_ONCE);
      // A loss of power undoes the slice, and nothing else.
      this.#db.unsynced(() => this.#db.exec(`PRAGMA incremental_vacuum(${pages})`));
    } else if (this.#hasMore) {
      // Only a checkpoint shortens the file: the next one by itself may be hours away.
      this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    }
    // A database that could not be rewritten gives back nothing.
    this.#hasMore = free > 0 && this.#sparePages() < free;
  }

  #sparePages(): number {
    return int(this.#db.prepare("PRAGMA freelist_count").get() ?? {}, "freelist_count") - SPARE_PAGES;
  }
}

/**
 * Rewrites a database that an older version made, so that it can give back free pages: once, before anything else is done
 * with it. A database that cannot be rewritten, such as on a full disk, works as before, and the next start tries again.
 */
export function makeShrinkable(db: Database, log: Logger): void {
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
