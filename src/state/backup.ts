import { basename, dirname, join } from "node:path";
import Sqlite from "libsql";
import { codeOf } from "../lib/error-code.ts";
import type { Disk } from "../lib/file/disk.ts";
import type { Clock } from "../lib/time/clock.ts";
import { sleep } from "../lib/time/sleep.ts";
import { isStateFile, StateError } from "./data-directory.ts";
import { isWriteAheadLog, RunningMark } from "./running-mark.ts";
import { copiedAtMs, MAGIC, stamp } from "./state-copies.ts";

/** A server under load restarts its write-ahead log every few seconds, which makes the copy begin again. */
const MOST_ATTEMPTS = 20;
const PAUSE_MS = 250;
const CHUNK_BYTES = 1024 * 1024;
const LOG_HEADER_BYTES = 32;

export interface BackupOptions {
  readonly dataDir: string;
  readonly target: string;
  /** Whether an existing target is replaced. */
  readonly replace: boolean;
  /** Called after each part of the database, with the copied and the total bytes. */
  readonly progress: (copied: number, total: number) => void;
  /** Ends the backup before the target file appears. */
  readonly signal: AbortSignal;
  readonly disk: Disk;
  readonly clock: Clock;
}

type Copying = Omit<BackupOptions, "dataDir" | "target" | "replace">;

/**
 * Writes a consistent copy of the state database to a file that only the owner can read, and returns the size of the
 * copy in bytes. Reads the database's files and takes no lock, so a server may run on the data directory. The copy gets
 * a time stamp. It appears under its name when it is complete and synced to the disk.
 * @throws StateError, errors of the file system, and the reason of the signal
 */
export async function backUp({ dataDir, target, replace, ...copying }: BackupOptions): Promise<number> {
  const { disk, clock, signal } = copying;
  const source = join(dataDir, "state.db");
  if ((disk.statSync(source, { throwIfNoEntry: false })?.size ?? 0) === 0)
    throw unavailable(
      `there is no state in ${dataDir}: ${disk.existsSync(dataDir) ? "state.db is missing or empty" : "there is no such directory"}`,
    );
  if (!(await isSqlite(source, disk)))
    throw unavailable(`${source} is not a state database of Nuthatch: it does not begin as a database of SQLite`);
  const directory = await directoryOf(target, disk);
  if (directory === (await disk.realpath(dataDir)) && isStateFile(basename(target)))
    throw unavailable(`${target} is a name of a file of the server's state: choose another name or another directory`);
  refuseExisting(target, replace, disk);
  const work = await disk.mkdtemp(join(directory, ".nuthatch-backup-"));
  try {
    const copy = join(work, "state.db");
    await copyConsistently(dataDir, copy, copying);
    complete(copy, source, disk, clock.now());
    await sync(copy, disk);
    signal.throwIfAborted();
    refuseExisting(target, replace, disk);
    await disk.rename(copy, target);
    await sync(directory, disk);
    return disk.statSync(target).size;
  } catch (error) {
    if (codeOf(error) !== "ENOSPC" && codeOf(error) !== "SQLITE_FULL") throw error;
    throw unavailable(
      `the disk of ${target} is full: a backup needs as much room as state.db and state.db-wal together`,
      { cause: error },
    );
  } finally {
    await disk.rm(work, { recursive: true, force: true });
  }
}

const unavailable = (message: string, options: ErrorOptions = {}): StateError =>
  new StateError("unavailable", message, options);

async function directoryOf(target: string, disk: Disk): Promise<string> {
  try {
    return await disk.realpath(dirname(target));
  } catch (error) {
    throw unavailable(`the directory ${dirname(target)} of the backup cannot be used: ${codeOf(error)}`, {
      cause: error,
    });
  }
}

function refuseExisting(target: string, replace: boolean, disk: Disk): void {
  const found = disk.statSync(target, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw unavailable(`${target} is a directory: name a file`);
  if (found !== undefined && !replace)
    throw unavailable(`${target} already exists: --force overwrites it, or name another file`);
}

/**
 * Copies the database and then its write-ahead log. While the server uses one generation of the log, the log contains
 * every page that a checkpoint wrote into the database during the copy. The two copies are then consistent, because
 * SQLite reads these pages from the log. A new generation of the log has a new header: the copy is then repeated.
 */
async function copyConsistently(dataDir: string, copy: string, copying: Copying): Promise<void> {
  const { disk, clock, signal } = copying;
  const source = join(dataDir, "state.db");
  const mark = new RunningMark(dataDir, disk);
  let reason = "";
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    if (attempt > 1) await sleep(clock, PAUSE_MS, signal);
    if (copiedAtMs(source, disk) !== undefined)
      throw unavailable(
        `${source} is a copy that was put in place, and no server has started on it: start the server before the backup`,
      );
    const generation = await generationOf(source, disk);
    const loss = mark.loss();
    if (loss === undefined) {
      await copyFile(source, copy, copying);
      await disk.rm(`${copy}-wal`, { force: true });
      const quiet = { ...copying, progress: () => undefined };
      if (disk.existsSync(`${source}-wal`)) await copyFile(`${source}-wal`, `${copy}-wal`, quiet);
      if ((await generationOf(source, disk)) === generation) return;
    }
    reason =
      loss === undefined ? "the server changed it faster than it could be copied" : `${loss.file}: ${loss.reason}`;
  }
  throw unavailable(
    `the state database ${source} could not be copied in ${MOST_ATTEMPTS} attempts (${reason}): try again when fewer jobs run, or stop the server for the backup`,
  );
}

async function isSqlite(path: string, disk: Disk): Promise<boolean> {
  const file = await disk.open(path, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.toString("latin1") === MAGIC;
  } finally {
    await file.close();
  }
}

/** Returns a text that changes when the write-ahead log restarts or, if there is no log, when the database changes. */
async function generationOf(source: string, disk: Disk): Promise<string> {
  const { ino, size, mtimeNs } = disk.statSync(source, { bigint: true });
  const log = `${source}-wal`;
  if (!isWriteAheadLog(log, disk)) return `${ino} ${size} ${mtimeNs}`;
  const file = await disk.open(log, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(LOG_HEADER_BYTES), 0, LOG_HEADER_BYTES, 0);
    return `${ino} ${buffer.toString("hex")}`;
  } finally {
    await file.close();
  }
}

/** Copies a file to its end. The file may grow or shrink during the copy. */
async function copyFile(from: string, to: string, { progress, signal, disk }: Copying): Promise<void> {
  const source = await disk.open(from, "r");
  try {
    const target = await disk.open(to, "w", 0o600);
    try {
      const { size } = await source.stat();
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (let copied = 0; ; ) {
        signal.throwIfAborted();
        const { bytesRead } = await source.read(buffer, 0, CHUNK_BYTES, copied);
        if (bytesRead === 0) return;
        for (let at = 0; at < bytesRead; )
          at += (await target.write(buffer, at, bytesRead - at, copied + at)).bytesWritten;
        copied += bytesRead;
        progress(copied, size);
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Applies the write-ahead log to the copy, checks the copy and stamps it.
 * @throws StateError when the database is damaged or is not a database of Nuthatch
 */
function complete(copy: string, source: string, disk: Disk, nowMs: number): void {
  try {
    const db = new Sqlite(copy);
    try {
      db.exec("PRAGMA journal_mode = DELETE");
      const found = db.prepare("PRAGMA integrity_check(1)").get();
      if (!JSON.stringify(found).includes('"ok"'))
        throw unavailable(`the state database ${source} is damaged: ${JSON.stringify(found)}`);
      db.prepare("SELECT count(*) FROM schema_version").get();
    } finally {
      db.close();
    }
    stamp(copy, nowMs);
  } catch (error) {
    if (error instanceof StateError || codeOf(error) === "SQLITE_FULL") throw error;
    throw unavailable(`${source} is not a state database of Nuthatch, or is damaged: ${String(error)}`, {
      cause: error,
    });
  }
  // The stamp is readable in the file only if no write-ahead log remains.
  if (copiedAtMs(copy, disk) === undefined) throw unavailable(`the write-ahead log of ${source} could not be merged`);
}

async function sync(path: string, disk: Disk): Promise<void> {
  const file = await disk.open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
