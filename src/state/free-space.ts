import { type Database, int } from "./database.ts";

/** The free pages that stay in the file for later writes: 4 MiB. */
const SPARE_PAGES = 1024;
/** Giving back 1 MiB takes 4 ms. A checkpoint, which is due after 1000 pages, takes 20 ms. */
const PAGES_AT_ONCE = 256;

/** Returns the unused part of the database file to the file system, in small slices. Does nothing for PostgreSQL. */
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

  /** Gives back one slice of free pages. Must not be called inside a transaction. */
  giveBackSome(): void {
    if (this.#db.dialect.engine !== "sqlite") return;
    const free = this.#sparePages();
    if (free > 0) {
      const pages = Math.min(free, PAGES_AT_ONCE);
      // A loss of power undoes only this slice, so it needs no sync.
      this.#db.unsynced(() => this.#db.exec(`PRAGMA incremental_vacuum(${pages})`));
    } else if (this.#hasMore) {
      // Only a checkpoint shortens the file, and the next automatic one may be hours away.
      this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    }
    // Another program may have rewritten the file in a way that makes it give back nothing.
    this.#hasMore = free > 0 && this.#sparePages() < free;
  }

  #sparePages(): number {
    return int(this.#db.prepare("PRAGMA freelist_count").get() ?? {}, "freelist_count") - SPARE_PAGES;
  }
}
