import { join } from "node:path";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { machineRandom } from "../../lib/random/machine-random.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
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
export function claimState(dataDir: string): ClaimedState {
  secureDataDirectory(dataDir, machineDisk);
  const lock = lockDataDirectory(dataDir, join(dataDir, "lock.db"), machineDisk);
  const file = join(dataDir, "state.db");
  const mark = new RunningMark(dataDir, machineDisk);
  const copiedMs = copiedAtMs(file, machineDisk);
  const loss = copiedMs === undefined ? mark.loss() : restored(file, copiedMs);
  const reserve = new DiskReserve(join(dataDir, "reserve"), machineDisk, machineRandom);
  const db = openDatabase(file, machineDisk, { access: "exclusive", reserve });
  if (copiedMs !== undefined) db.transaction(() => db.exec(raiseIds(copiedMs, machineClock.now())));
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

/** Removes the write-ahead log of the database that a copy has replaced. Returns the loss that the start reports. */
function restored(file: string, copiedMs: number): StateLoss {
  for (const suffix of ["-wal", "-shm"]) machineDisk.rmSync(file + suffix, { force: true });
  return { file, reason: `it is a copy of ${isoTime(copiedMs)} that was put in place` };
}

export interface PostgresState {
  readonly target: PostgresTarget;
  readonly use: SessionUse;
  /** Called if the database differs from the last state that this server wrote. */
  readonly diverged: (reason: string) => void;
}

/**
 * Prepares the connection to a state database in PostgreSQL. Locks the data directory, unless this process was started
 * by a node of a cluster, which holds the lock.
 * @throws StateError
 */
export async function claimPostgres(dataDir: string, { target, use, diverged }: PostgresState): Promise<ClaimedState> {
  const lock = use === "lead" ? undefined : lockTilesDirectory(dataDir);
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
export function lockTilesDirectory(dataDir: string): ReturnType<typeof lockDataDirectory> {
  secureDataDirectory(dataDir, machineDisk, ["lock.db"]);
  return lockDataDirectory(dataDir, join(dataDir, "lock.db"), machineDisk);
}
