import { join } from "node:path";
import Sqlite from "libsql";
import { codeOf } from "../lib/error-code.ts";
import type { Disk } from "../lib/file/disk.ts";

/** The state cannot be used. The message names a remedy. */
export class StateError extends Error {
  override readonly name = "StateError";
  readonly code: "in_use" | "misconfigured" | "other_version" | "unavailable";
  constructor(code: StateError["code"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

export const inUse = (directory: string, cause: unknown): StateError =>
  new StateError("in_use", `the data directory ${directory} is in use by another Nuthatch`, { cause });

const unusable = (lockFile: string, cause: unknown): StateError =>
  new StateError("unavailable", `the lock file ${lockFile} cannot be opened: ${String(cause)}`, { cause });

/** The files of the state. They contain the history and the names of accounts. */
const STATE_FILES = /^(?:state\.db|lock\.db|users|running$|reserve$)/;

/** Returns whether a file of this name in the data directory belongs to the state or is a copy of it. */
export const isStateFile = (name: string): boolean => STATE_FILES.test(name);

/**
 * Creates the data directory, and restricts it and its state files to the owner.
 * @param databases the names of the databases in the directory
 */
export function secureDataDirectory(directory: string, disk: Disk, databases = ["state.db", "lock.db"]): void {
  disk.mkdirSync(directory, { recursive: true, mode: 0o700 });
  restrict(directory, 0o700, disk);
  for (const name of disk.readdirSync(directory)) if (isStateFile(name)) restrict(join(directory, name), 0o600, disk);
  // SQLite creates -wal and -journal files with the mode of the database.
  for (const name of databases) disk.closeSync(disk.openSync(join(directory, name), "a", 0o600));
}

function restrict(path: string, mode: number, disk: Disk): void {
  try {
    disk.chmodSync(path, mode);
  } catch (error) {
    // If a directory belongs to another account but this account can write to it, its owner must restrict it.
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "EROFS" && codeOf(error) !== "ENOENT") throw error;
  }
}

/**
 * Locks the data directory for this process by an open exclusive transaction on a lock database. The lock ends with its
 * process, so no stale pid file can remain. Creates the lock file again if it is not a database. If the file was
 * damaged while a server ran, the lock of the state database keeps the second server out.
 * @throws StateError
 */
export function lockDataDirectory(directory: string, lockFile: string, disk: Disk): { release(): void } {
  try {
    return lock(lockFile);
  } catch (error) {
    if (isBusy(error)) throw inUse(directory, error);
    if (codeOf(error) !== "SQLITE_NOTADB" && codeOf(error) !== "SQLITE_CORRUPT") throw unusable(lockFile, error);
  }
  for (const suffix of ["", "-journal", "-wal", "-shm"]) disk.rmSync(lockFile + suffix, { force: true });
  try {
    return lock(lockFile);
  } catch (error) {
    throw inUse(directory, error);
  }
}

export const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error));

function lock(file: string): { release(): void } {
  const db = new Sqlite(file);
  try {
    db.exec("PRAGMA journal_mode = DELETE");
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    release() {
      db.exec("ROLLBACK");
      db.close();
    },
  };
}
