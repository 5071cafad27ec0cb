import { constants, type Dirent, type Stats } from "node:fs";
import { relative } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { Machine } from "../../lib/machine.ts";
import { type DiskSpace, StoreError } from "../tile-store.ts";
import { isAbsent, storeError } from "./faults.ts";

/** Returns the names in a directory; empty if the directory does not exist. @throws StoreError */
export function namesIn(disk: Disk, directory: string): string[] {
  // Checked first: most layers of a large configuration have no directory, and throwing an error takes far longer than
  // this check.
  if (statOf(disk, directory, "a directory cannot be listed") === undefined) return [];
  try {
    return disk.readdirSync(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw storeError(error, "a directory cannot be listed");
  }
}

/** Returns the status of a path. Undefined if nothing exists there. @throws StoreError */
export function statOf(disk: Disk, path: string, what: string): Stats | undefined {
  try {
    return disk.statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError(error, what);
  }
}

/** Returns the status of a path, and for a link the status of the link itself. Undefined if nothing exists there. @throws StoreError */
export function entryAt(disk: Disk, path: string, what: string): Stats | undefined {
  try {
    return disk.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError(error, what);
  }
}

/** The number of names read between two turns of the event loop. */
const READ_AHEAD = 256;

/** Yields the entries of a directory. Yields no entries if the directory does not exist. */
export async function* entriesOf(disk: Disk, path: string): AsyncGenerator<Dirent> {
  let directory: Awaited<ReturnType<Disk["opendir"]>>;
  try {
    directory = await disk.opendir(path, { bufferSize: READ_AHEAD });
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  yield* directory;
}

/** Returns the change time of a file or a directory in ms; 0 if it does not exist any more. */
export const changedMs = (disk: Disk, path: string): Promise<number> =>
  disk.stat(path).then(
    ({ ctimeMs }) => ctimeMs,
    () => 0,
  );

/** The resolution of a file system's clock. The clock may belong to a different machine. */
export const CLOCK_STEP_MS = 1_000;

/**
 * Returns the change time of a directory. Undefined if the time is so recent that the next change may leave it the
 * same.
 */
export async function settledMs(
  { disk, clock }: Pick<Machine, "disk" | "clock">,
  path: string,
): Promise<number | undefined> {
  const ms = await changedMs(disk, path);
  return ms <= clock.now() - CLOCK_STEP_MS ? ms : undefined;
}

/**
 * Checks that a directory is either present or absent. A link to a volume that is not mounted, or a file in place of
 * the directory, does not mean that there are no tiles.
 * @throws StoreError when something else has the directory's name
 */
export function expectPresent(disk: Disk, root: string, directory: string): void {
  const what = "a directory of the store cannot be read";
  if (statOf(disk, directory, what)?.isDirectory() === true) return;
  if (entryAt(disk, directory, what) !== undefined)
    throw new StoreError("unavailable", `${relative(root, directory)} is away from the store`, undefined);
}

/**
 * Returns a check that a store's directory exists and is on the same file system as now. If the check fails, a layer
 * without a directory is not empty: the volume of the store is not mounted.
 * @param name the name of the store in messages
 */
export function rootCheck(disk: Disk, root: string, name = "the store"): () => void {
  const { dev } = disk.statSync(root);
  const away = (cause?: unknown): StoreError => {
    const code = codeOf(cause);
    return new StoreError("unavailable", `the directory of ${name} is away${code === "" ? "" : `: ${code}`}`, cause);
  };
  return () => {
    let found: Stats | undefined;
    try {
      found = disk.statSync(root, { throwIfNoEntry: false });
    } catch (error) {
      throw away(error);
    }
    if (found?.isDirectory() !== true || found.dev !== dev) throw away();
  };
}

/**
 * Creates a directory below the store's directory, if it is missing, and checks that tiles can be written there. Does
 * not create the store's directory itself, because a volume may be mounted there again.
 * @throws StoreError
 */
export async function checkWritable(disk: Disk, directory: string, expectRoot: () => void): Promise<void> {
  expectRoot();
  try {
    await disk.mkdir(directory, { recursive: true });
    await disk.access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw storeError(error, "a tile cannot be written");
  }
}

/**
 * Removes an empty directory. The system refuses to remove a directory that contains a file, so a writer loses nothing.
 * @returns false if the directory still exists: it contains something, is a link, or cannot be removed
 */
export function removeIfEmpty(disk: Disk, directory: string): boolean {
  try {
    disk.rmdirSync(directory);
    return true;
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
}

/** Returns a name for the disk that contains a directory, made of the system's device number. */
export const diskOf = (disk: Disk, directory: string): string => `disk ${disk.statSync(directory).dev}`;

/**
 * Returns the free and total space on the disk of a store's directory.
 * @throws StoreError
 */
export async function diskSpaceOf(disk: Disk, directory: string, expectRoot: () => void): Promise<DiskSpace> {
  const { bavail, blocks, bsize, ffree, files } = await disk.statfs(directory).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") expectRoot();
    throw storeError(error, "the free space of the store's file system cannot be read");
  });
  const uncounted = files === 0;
  return {
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    freeInodes: uncounted ? Number.POSITIVE_INFINITY : ffree,
    totalInodes: uncounted ? Number.POSITIVE_INFINITY : files,
  };
}
