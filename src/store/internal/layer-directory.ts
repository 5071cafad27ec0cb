import type { Dirent } from "node:fs";
import { join } from "node:path";
import type { Disk } from "../../lib/file/disk.ts";
import { entryAt, statOf } from "./directories.ts";
import { isAbsent, storeError } from "./faults.ts";

/** The part of an entry in a layer's directory that the store owns: all of it, or the listed names in it. */
export type Owned = "all" | readonly string[];

/**
 * Returns the names that a truncation of a layer moves away, relative to the root. If the layer's directory contains
 * only the store's entries, this is the directory itself, moved by one rename. If it also contains foreign files, these
 * are the store's entries in it: a layer may have the name of a directory that existed before the store.
 * @param ownedOf returns the store's part of an entry that is neither a temporary nor a parameters file
 * @throws StoreError
 */
export function planLayer(
  { disk, root }: { readonly disk: Disk; readonly root: string },
  directory: string,
  ownedOf: (entry: Dirent) => Owned,
): readonly string[] {
  const path = join(root, directory);
  const what = "a directory of the store cannot be read";
  const found = entryAt(disk, path, what);
  if (found === undefined) return [];
  // A link can be moved even if its volume is not mounted.
  if (found.isSymbolicLink()) return statOf(disk, path, what)?.isDirectory() === false ? [] : [directory];
  if (!found.isDirectory()) return [];
  const entries = entriesIn(disk, path).map((entry) => ({
    name: entry.name,
    owned: isStoreFile(entry.name) ? "all" : ownedOf(entry),
  }));
  if (entries.every(({ owned }) => owned === "all")) return [directory];
  return entries.flatMap(({ name, owned }) => {
    const own = `${directory}/${name}`;
    return owned === "all" ? [own] : owned.map((inner) => `${own}/${inner}`);
  });
}

/**
 * Matches files that always belong to the store: temporary files, files about rows or parameters, and GeoWebCache's
 * file about a layer.
 */
const STORE_FILE = /^(?:\.nuthatch-.*|parameters-.*\.properties|metadata\.properties)$/s;
const isStoreFile = (name: string): boolean => STORE_FILE.test(name);

/** Returns the entries of a directory; empty if the directory does not exist. @throws StoreError */
function entriesIn(disk: Disk, directory: string): readonly Dirent[] {
  try {
    return disk.readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw storeError(error, "a directory cannot be listed");
  }
}

/** Returns whether an entry can be a directory of tiles. A link may lead to such a directory. */
export const mayBeDirectory = (entry: Dirent): boolean => entry.isDirectory() || entry.isSymbolicLink();

/**
 * Returns the entries of a directory that belong to the store: files that always do, and entries that `isOwn` accepts.
 */
export function ownedIn(disk: Disk, directory: string, isOwn: (entry: Dirent) => boolean): Owned {
  const inner = entriesIn(disk, directory);
  const own = inner.filter((entry) => isStoreFile(entry.name) || isOwn(entry));
  return own.length === inner.length ? "all" : own.map(({ name }) => name);
}
