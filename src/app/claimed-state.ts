import { rmSync, statSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../lib/error-code.ts";
import { isoTime } from "../lib/iso-time.ts";
import { lockDataDirectory, secureDataDirectory } from "../state/data-directory.ts";
import { type Database, openDatabase } from "../state/database.ts";
import { DiskReserve } from "../state/disk-reserve.ts";
import { RunningMark, type StateLoss } from "../state/running-mark.ts";
import { copiedAtMs, raiseIds } from "../state/state-copies.ts";
import { DEFAULT_STORE, directoryOf, type StoreOptions } from "../store/store-options.ts";

/** A file system that does not answer for this time counts as lost. A caller of a probe waits no longer. */
const LONGEST_WAIT_MS = 2_000;

/** The data directory, locked for this process, with the state database open. */
export interface ClaimedState {
  readonly db: Database;
  /** Returns why the state or the store cannot be used; undefined: they can. Called on a timer. */
  trouble(): Promise<string | undefined>;
  /** Whether the disk has too little space for the database, by the last call of `trouble`. */
  readonly isDiskFull: boolean;
  /** The part of the last server's state that is missing; undefined: no part is missing. */
  readonly loss: StateLoss | undefined;
  /** Makes a copy that was put in place the database of this server, after all that it may lack has been planned. */
  adopted(): void;
  /** Marks the data directory as in use, after the first transaction has been committed. */
  begun(): void;
  release(): void;
}

/**
 * Locks the data directory and opens the state database.
 * @throws StateError, and errors of the database
 */
export function claimState(dataDir: string, stores: readonly StoreOptions[]): ClaimedState {
  secureDataDirectory(dataDir);
  const lock = lockDataDirectory(dataDir, join(dataDir, "lock.db"));
  const file = join(dataDir, "state.db");
  const mark = new RunningMark(dataDir);
  const copiedMs = copiedAtMs(file);
  const loss = copiedMs === undefined ? mark.loss() : restored(file, copiedMs);
  const reserve = new DiskReserve(join(dataDir, "reserve"));
  const db = openDatabase(file, { access: "exclusive", reserve });
  if (copiedMs !== undefined) db.transaction(() => db.exec(raiseIds(copiedMs, Date.now())));
  let isDiskFull = false;
  const probes = [
    probeOf(file, "the state database"),
    ...stores.flatMap((store) => {
      const directory = directoryOf(store);
      const name = store.id === DEFAULT_STORE ? "the store" : `the store ${JSON.stringify(store.id)}`;
      return directory === undefined ? [] : [probeOf(directory, name)];
    }),
  ];
  return {
    db,
    loss,
    adopted() {
      if (copiedMs === undefined) return;
      // The stamp must leave the file itself: the next start would take a stamped file with a log for another copy.
      db.exec("PRAGMA user_version = 0");
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    begun: () => mark.begun(),
    async trouble() {
      const found = await Promise.all(probes.map((probe) => probe()));
      const lost = found.find((reason) => reason !== undefined);
      // A lost disk cannot report its free space.
      if (lost !== undefined) return lost;
      reserve.look();
      const { shortage } = reserve;
      isDiskFull = shortage !== undefined;
      return shortage;
    },
    get isDiskFull() {
      return isDiskFull;
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

/**
 * Returns a probe of a file or a directory. The probe returns why the file or directory cannot be used; undefined: it is
 * the same as at the start, and can be written. A directory may have been created again on the same file system. A
 * directory on another file system means that its volume is not mounted. Only one request to the file system runs at a
 * time. `name`: such as "the store".
 * @throws Error when the file or directory does not exist
 */
function probeOf(path: string, name: string): () => Promise<string | undefined> {
  const first = statSync(path);
  const lost = `${name} (${path}) is lost`;
  let looking: Promise<string | undefined> | undefined;
  const look = async (): Promise<string | undefined> => {
    try {
      const now = await stat(path);
      const isSame = now.dev === first.dev && (now.isDirectory() || now.ino === first.ino);
      if (!isSame || now.isDirectory() !== first.isDirectory())
        return `${lost}: another one is in its place since the start; put it back, or restart the server`;
      await access(path, constants.R_OK | constants.W_OK | (now.isDirectory() ? constants.X_OK : 0));
      return undefined;
    } catch (error) {
      return `${lost}: ${codeOf(error) || String(error)}`;
    }
  };
  return async () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    const waited = new AbortController();
    const late = sleep(LONGEST_WAIT_MS, "late", { signal: waited.signal, ref: false }).catch(() => "late");
    try {
      const found = await Promise.race([looking, late]);
      return found === "late" ? `${lost}: the file system does not answer` : found;
    } finally {
      waited.abort();
    }
  };
}
