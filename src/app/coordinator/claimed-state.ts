import { rmSync } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../../lib/time/iso-time.ts";
import { lockDataDirectory, secureDataDirectory } from "../../state/data-directory.ts";
import type { Database } from "../../state/database.ts";
import { DiskReserve } from "../../state/disk-reserve.ts";
import { openDatabase } from "../../state/embedded-database.ts";
import type { PostgresTarget } from "../../state/postgres/postgres-url.ts";
import type { SessionUse } from "../../state/postgres/session.ts";
import { RunningMark, type StateLoss } from "../../state/running-mark.ts";
import { copiedAtMs, raiseIds } from "../../state/state-copies.ts";
import { probeOf } from "./file-probe.ts";

/** The data directory, locked for this process, with the state database open. */
export interface ClaimedState {
  readonly db: Database;
  /** Connects to the database, if it is not in a file. @throws StateError */
  connect(): void;
  /** Returns why the state cannot be used; undefined: it can. */
  trouble(): Promise<string | undefined>;
  /**
   * Makes the reserve of the database's disk again when there is space for it. Returns whether the disk has too little
   * space for the database. Called on a timer.
   */
  lookAtDisk(): boolean;
  /** The part of the last server's state that is missing; undefined: no part is missing. */
  readonly loss: StateLoss | undefined;
  /**
   * Makes a restored copy the database of this server. Called when the checks for changes that the copy may lack have
   * been planned.
   */
  adopted(): void;
  /** Marks the data directory as in use, after the first transaction has been committed. */
  begun(): void;
  release(): void;
}

/**
 * Locks the data directory and opens the state database.
 * @throws StateError, and errors of the database
 */
export function claimState(dataDir: string): ClaimedState {
  secureDataDirectory(dataDir);
  const lock = lockDataDirectory(dataDir, join(dataDir, "lock.db"));
  const file = join(dataDir, "state.db");
  const mark = new RunningMark(dataDir);
  const copiedMs = copiedAtMs(file);
  const loss = copiedMs === undefined ? mark.loss() : restored(file, copiedMs);
  const reserve = new DiskReserve(join(dataDir, "reserve"));
  const db = openDatabase(file, { access: "exclusive", reserve });
  if (copiedMs !== undefined) db.transaction(() => db.exec(raiseIds(copiedMs, Date.now())));
  const probe = probeOf(file, "the state database");
  return {
    db,
    loss,
    connect() {},
    adopted() {
      if (copiedMs === undefined) return;
      // The stamp must leave the file itself: the next start would take a stamped file with a log for another copy.
      db.exec("PRAGMA user_version = 0");
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    begun: () => mark.begun(),
    async trouble() {
      // A lost disk cannot report its free space.
      return (await probe()) ?? reserve.shortage;
    },
    lookAtDisk() {
      reserve.look();
      return reserve.shortage !== undefined;
    },
    release() {
      try {
        mark.ended();
      } finally {
        db.close();
        lock.release();
      }
    },
  };
}

/** Removes the write-ahead log of the database that a copy has replaced, and returns what the start reports. */
function restored(file: string, copiedMs: number): StateLoss {
  for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
  return { file, reason: `it is a copy of ${isoTime(copiedMs)} that was put in place` };
}

export interface PostgresState {
  readonly target: PostgresTarget;
  readonly use: SessionUse;
  /** Called when the database differs from what this server wrote last. */
  readonly diverged: (reason: string) => void;
}

/**
 * Prepares the connection to a state database in PostgreSQL. Locks the data directory, unless a node of a cluster, which
 * holds the lock, has started this process.
 * @throws StateError
 */
export async function claimPostgres(dataDir: string, { target, use, diverged }: PostgresState): Promise<ClaimedState> {
  const lock = use === "lead" ? undefined : lockTilesDirectory(dataDir);
  // Not loaded by a server whose state is in a file.
  const { openPostgres } = await import("../../state/postgres/postgres-database.ts");
  const db = openPostgres(target, { use, diverged });
  return {
    db,
    // A database that lacks tiles of the store has no record of their tile sets: they are counted as an older cache.
    loss: undefined,
    // The disk of PostgreSQL is not this machine's to look after.
    lookAtDisk: () => false,
    connect: () => db.connect(),
    adopted() {},
    begun() {},
    trouble: async () => db.trouble(),
    release() {
      try {
        db.close();
      } finally {
        lock?.release();
      }
    },
  };
}

/** Locks the data directory of a server whose state is elsewhere. @throws StateError */
export function lockTilesDirectory(dataDir: string): ReturnType<typeof lockDataDirectory> {
  secureDataDirectory(dataDir, ["lock.db"]);
  return lockDataDirectory(dataDir, join(dataDir, "lock.db"));
}
