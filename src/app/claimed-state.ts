import { join } from "node:path";
import { lockDataDirectory, secureDataDirectory } from "../state/data-directory.ts";
import { type Database, openDatabase } from "../state/database.ts";
import { DiskReserve } from "../state/disk-reserve.ts";
import { RunningMark, type StateLoss } from "../state/running-mark.ts";
import { DirectoryProbe } from "./place-probe.ts";

/** The data directory, locked for this process, with the state database open. */
export interface ClaimedState {
  readonly db: Database;
  /** Returns why the state or the store cannot be used; undefined: they can. Called on a timer. */
  trouble(): Promise<string | undefined>;
  /** The part of the last server's state that is missing; undefined: no part is missing. */
  readonly loss: StateLoss | undefined;
  /** Marks the data directory as in use, after the first transaction has been committed. */
  begun(): void;
  release(): void;
}

/**
 * Locks the data directory and opens the state database.
 * @throws StateError, and errors of the database
 */
export function claimState(dataDir: string, storeRoot: string): ClaimedState {
  secureDataDirectory(dataDir);
  const lock = lockDataDirectory(dataDir, join(dataDir, "lock.db"));
  const file = join(dataDir, "state.db");
  const mark = new RunningMark(dataDir);
  const loss = mark.loss();
  const reserve = new DiskReserve(join(dataDir, "reserve"));
  const db = openDatabase(file, { access: "exclusive", reserve });
  const probes = [new DirectoryProbe(file, "the state database"), new DirectoryProbe(storeRoot, "the store")];
  return {
    db,
    loss,
    begun: () => mark.begun(),
    async trouble() {
      const found = await Promise.all(probes.map((probe) => probe.look()));
      const lost = found.find((reason) => reason !== undefined);
      // A lost disk cannot report its free space.
      if (lost !== undefined) return lost;
      reserve.look();
      return reserve.shortage;
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
