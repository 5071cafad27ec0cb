import { constants, lstatSync, readdirSync, rmdirSync, type Stats, statSync } from "node:fs";
import { access, mkdir, statfs } from "node:fs/promises";
import { relative } from "node:path";
import type { LayerName } from "../../layer/tile-set.ts";
import { codeOf } from "../../lib/error-code.ts";
import { directoryName } from "../file/file-layout.ts";
import { type DiskSpace, StoreError } from "../tile-store.ts";
import { isAbsent, storeError } from "./faults.ts";

/** Returns the names in a directory; empty if the directory does not exist. @throws StoreError */
export function namesIn(directory: string): string[] {
  // Checked first: most layers of a large configuration have no directory, and throwing an error takes far longer than
  // this check.
  if (statOf(directory, "a directory cannot be listed") === undefined) return [];
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw storeError(error, "a directory cannot be listed");
  }
}

/**
 * Returns the layers that have a directory in the root of a store, by one listing of the root.
 * @throws StoreError when the root is unavailable: without a root no layer would seem to have tiles
 */
export function layersIn(
  { root, expectRoot }: { readonly root: string; readonly expectRoot: () => void },
  layers: readonly LayerName[],
): readonly LayerName[] {
  expectRoot();
  const names = new Set(namesIn(root));
  return layers.filter((layer) => names.has(directoryName(layer)));
}

/** Returns the status of a path. Undefined if nothing exists there. @throws StoreError */
export function statOf(path: string, what: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError(error, what);
  }
}

/**
 * Checks that a directory is either present or absent. A link to a volume that is not mounted, or a file in place of
 * the directory, does not mean that there are no tiles.
 * @throws StoreError when something else has the directory's name
 */
export function expectPresent(root: string, directory: string): void {
  if (statOf(directory, "a directory of the store cannot be read")?.isDirectory() === true) return;
  if (lstatSync(directory, { throwIfNoEntry: false }) !== undefined)
    throw new StoreError("unavailable", `${relative(root, directory)} is away from the store`, undefined);
}

/**
 * Returns a check that a store's directory exists and is on the same file system as now. If the check fails, a layer
 * without a directory is not empty: the volume of the store is not mounted.
 * @param name the name of the store in messages
 */
export function rootCheck(root: string, name = "the store"): () => void {
  const { dev } = statSync(root);
  const away = (cause?: unknown): StoreError => {
    const code = codeOf(cause);
    return new StoreError("unavailable", `the directory of ${name} is away${code === "" ? "" : `: ${code}`}`, cause);
  };
  return () => {
    let found: Stats | undefined;
    try {
      found = statSync(root, { throwIfNoEntry: false });
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
export async function checkWritable(directory: string, expectRoot: () => void): Promise<void> {
  expectRoot();
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw storeError(error, "a tile cannot be written");
  }
}

/**
 * Removes an empty directory. The system refuses to remove a directory that contains a file, so a writer loses nothing.
 * @returns false if the directory still exists: it contains something, is a link, or cannot be removed
 */
export function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
}

/** Returns a name of the disk that contains a directory, with the system's device number. */
export const diskOf = (directory: string): string => `disk ${statSync(directory).dev}`;

/**
 * Returns the free and total space on the disk of a store's directory.
 * @throws StoreError
 */
export async function diskSpaceOf(directory: string, expectRoot: () => void): Promise<DiskSpace> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(directory).catch((error: unknown) => {
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
