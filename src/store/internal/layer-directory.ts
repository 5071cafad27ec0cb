import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { statOf } from "./directories.ts";
import { isAbsent, storeError } from "./faults.ts";

/** What the store owns of an entry in a layer's directory: all of it, or the names in it that are listed. */
export type Owned = "all" | readonly string[];

/**
 * Returns the names that a truncation of a layer moves away, relative to the root: the layer's directory, by one rename
 * whatever it holds. If it holds foreign files too, only the store's own entries: a layer may have the name of a
 * directory that was there before the store.
 * `ownedOf` tells what the store owns of an entry that is neither a temporary nor a parameters file.
 * @throws StoreError
 */
export function planLayer(root: string, directory: string, ownedOf: (entry: Dirent) => Owned): readonly string[] {
  const path = join(root, directory);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  // A link can be moved even if its volume is not mounted.
  if (found.isSymbolicLink())
    return statOf(path, "a directory of the store cannot be read")?.isDirectory() === false ? [] : [directory];
  if (!found.isDirectory()) return [];
  const entries = entriesIn(path).map((entry) => ({
    name: entry.name,
    owned: isStoreFile(entry.name) ? "all" : ownedOf(entry),
  }));
  if (entries.every(({ owned }) => owned === "all")) return [directory];
  return entries.flatMap(({ name, owned }) => {
    const own = `${directory}/${name}`;
    return owned === "all" ? [own] : owned.map((inner) => `${own}/${inner}`);
  });
}

/** A file that is a store's wherever it is: temporary, about rows or parameters, or GeoWebCache's about a layer. */
const STORE_FILE = /^(?:\.nuthatch-.*|parameters-.*\.properties|metadata\.properties)$/s;
const isStoreFile = (name: string): boolean => STORE_FILE.test(name);

/** Returns the entries of a directory; none if it has gone. @throws StoreError */
function entriesIn(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw storeError(error, "a directory cannot be listed");
  }
}

/** Whether an entry can be a directory of tiles. A link may lead to one. */
export const mayBeDirectory = (entry: Dirent): boolean => entry.isDirectory() || entry.isSymbolicLink();

/** Returns which entries of a directory belong to the store: its own files, and the entries that `isOwn` accepts. */
export function ownedIn(directory: string, isOwn: (entry: Dirent) => boolean): Owned {
  const inner = entriesIn(directory);
  const own = inner.filter((entry) => isStoreFile(entry.name) || isOwn(entry));
  return own.length === inner.length ? "all" : own.map(({ name }) => name);
}
