import { join } from "node:path";
import type { Disk } from "../../lib/file/disk.ts";
import type { Machine } from "../../lib/machine.ts";
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

/** The data directory, locked by this process, with the open state database. */
export interface ClaimedState {
  readonly db: Database;
  /** Connects to a database server. Does nothing for a database in a file. @throws StateError */
  connect(): void;
  /** Returns why the state cannot be used. Undefined if it can. */
  trouble(): Promise<string | undefined>;
  /**
   * Restores the reserve on the database's disk if there is space for it. Returns whether the disk has too little space
   * for the database. Called on a timer.
   */
  lookAtDisk(): boolean;
  /** The part of the last server's state that is missing. Undefined if the state is complete. */
  readonly loss: StateLoss | undefined;
  /**
   * Makes a restored copy the database of this server. Called after the checks for changes that the copy may lack have
   * been planned.
   */
  adopted(): void;
  /** Marks the data directory as in use. Called after the first committed transaction. */
  begun(): void;
  release(): void;
}

/**
 * Locks the data directory and opens the state database.
 * @throws StateError, and errors of the database
 */
export function claimState(dataDir: string, { clock, disk, random }: Machine): ClaimedState {
  secureDataDirectory(dataDir, disk);
  const lock = lockDataDirectory(dataDir, join(dataDir, "lock.db"), disk);
  const file = join(dataDir, "state.db");
  const mark = new RunningMark(dataDir, disk);
  const copiedMs = copiedAtMs(file, disk);
  const loss = copiedMs === undefined ? mark.loss() : restored(file, copiedMs, disk);
  const reserve = new DiskReserve(join(dataDir, "reserve"), disk, random);
  const db = openDatabase(file, disk, { access: "exclusive", reserve });
  if (copiedMs !== undefined) db.transaction(() => db.exec(raiseIds(copiedMs, clock.now())));
  const probe = probeOf(file, "the state database", clock);
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
        // Closing removes the write-ahead log, which the next start would take for lost if the mark is not right.
        db.close();
      } finally {
        lock.release();
      }
    },
  };
}

/** Removes the write-ahead log of the database that a copy has replaced. Returns the loss that the start reports. */
function restored(file: string, copiedMs: number, disk: Disk): StateLoss {
  for (const suffix of ["-wal", "-shm"]) disk.rmSync(file + suffix, { force: true });
  return { file, reason: `it is a copy of ${isoTime(copiedMs)} that was put in place` };
}

export interface PostgresState {
  readonly target: PostgresTarget;
  readonly use: SessionUse;
  readonly disk: Disk;
  /** Called if the database differs from the last state that this server wrote. */
  readonly diverged: (reason: string) => void;
}

/**
 * Prepares the connection to a state database in PostgreSQL. Locks the data directory, unless this process was started
 * by a node of a cluster, which holds the lock.
 * @throws StateError
 */
export async function claimPostgres(
  dataDir: string,
  { target, use, diverged, disk }: PostgresState,
): Promise<ClaimedState> {
  const lock = use === "lead" ? undefined : lockTilesDirectory(dataDir, disk);
  // A server whose state is in a file need not load this code.
  const { openPostgres } = await import("../../state/postgres/postgres-database.ts");
  const db = openPostgres(target, { use, diverged });
  return {
    db,
    // If the database is older than the store, it has no record of some tile sets. They are counted as tiles of an
    // older cache.
    loss: undefined,
    // PostgreSQL's disk is not on this machine.
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

/** Locks the data directory of a server whose state is not there. @throws StateError */
export function lockTilesDirectory(dataDir: string, disk: Disk): ReturnType<typeof lockDataDirectory> {
  secureDataDirectory(dataDir, disk, ["lock.db"]);
  return lockDataDirectory(dataDir, join(dataDir, "lock.db"), disk);
}
