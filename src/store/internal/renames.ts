import { dirname, join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { TruncationStore } from "../truncation-store.ts";
import { namesIn } from "./directories.ts";
import { isAbsent, storeError } from "./faults.ts";
import { syncDirectories } from "./sync-directories.ts";

/** GWC's directory for tiles that are to be deleted. */
const TRASH = "_gwc_in_progress_deletes_";
/**
 * The directory for tiles that a truncation has set aside. The name of each part contains the truncation's number and
 * the part's number. A directory per truncation would have to be created while the client waits for the answer.
 */
const ASIDE = "_gwc_set_aside_";
/**
 * The number of files deleted in parallel. The sweep shares its thread with rendering, and may get only one turn per
 * metatile.
 */
const UNLINKS_AT_ONCE = 128;

/** The methods of a truncation store that rename directories under its root. */
export type Renames = Omit<TruncationStore, "plan" | "deleteRange">;

/**
 * Returns the methods of a store whose names are paths of directories, relative to its root.
 * @param expectRoot throws a `StoreError` when the root is unavailable: then a missing name does not mean that its
 * tiles are gone
 */
export function renamesIn({
  disk,
  root,
  expectRoot,
}: {
  readonly disk: Disk;
  readonly root: string;
  readonly expectRoot: () => void;
}): Renames {
  const trash = join(root, TRASH);
  for (const directory of [trash, join(root, ASIDE)]) makeAhead(disk, directory);
  const asideParts = (): string[] => {
    const parts = namesIn(disk, join(root, ASIDE));
    if (parts.length === 0) expectRoot();
    return parts;
  };
  const asideOf = (id: string): string[] => asideParts().filter((part) => part.startsWith(`${id}-`));

  /** Renames a name under the root into a directory under the root. Appends a number if the new name is taken. */
  function moveAway(name: string, directory: string, as: string): void {
    const to = join(root, directory);
    try {
      disk.mkdirSync(to, { recursive: true });
    } catch (error) {
      throw storeError(error, "a directory cannot be made");
    }
    for (let again = 0; ; again++) {
      try {
        disk.renameSync(join(root, name), join(to, `${as}${again === 0 ? "" : `.${again}`}`));
        return;
      } catch (error) {
        if (isAbsent(error)) return;
        if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST")
          throw storeError(error, "the tiles cannot be set aside");
      }
    }
  }

  /** Returns the directories that contain the names. */
  const parentsOf = (names: readonly string[]): readonly string[] => names.map((name) => dirname(join(root, name)));

  function discard(id: string): void {
    for (const part of asideOf(id)) moveAway(join(ASIDE, part), TRASH, `aside-${part}`);
  }

  return {
    truncate(id, names, remains) {
      if (names.length > 0) expectRoot();
      const directory = remains === "keep" ? ASIDE : TRASH;
      for (const [n, name] of names.entries()) moveAway(name, directory, `${id}-${n}`);
      if (names.length > 0) syncDirectories(disk, [join(root, directory), ...parentsOf(names)]);
    },

    restore(id, names) {
      expectRoot();
      const parts = new Set(asideOf(id));
      for (const [n, name] of names.entries()) {
        const part = `${id}-${n}`;
        if (!parts.has(part)) continue;
        moveAway(name, TRASH, `restored-${part}`);
        const live = join(root, name);
        try {
          disk.mkdirSync(dirname(live), { recursive: true });
          disk.renameSync(join(root, ASIDE, part), live);
        } catch (error) {
          throw storeError(error, "truncated tiles cannot be brought back");
        }
      }
      if (parts.size > 0) syncDirectories(disk, [join(root, ASIDE), ...parentsOf(names)]);
      // Parts remain of a truncation that was interrupted and repeated, if a writer stored tiles between the two attempts.
      discard(id);
    },

    discard,
    asideIds: () => [...new Set(asideParts().map((part) => part.split("-", 1)[0] ?? part))],

    needsSweep: () => namesIn(disk, trash).length > 0,
    sweep: (signal) => clear(disk, trash, trash, signal),
    sweepRemote: async () => undefined,
  };
}

/** Creates a directory that truncations need in advance, because a truncation must work on a full disk. */
function makeAhead(disk: Disk, directory: string): void {
  try {
    disk.mkdirSync(directory, { recursive: true });
  } catch (error) {
    // Tiles are readable without the directory. The truncation tries again to create it, and throws if that fails.
    const { code } = storeError(error, "a directory cannot be made");
    if (code !== "full" && code !== "read_only") throw error;
  }
}

/**
 * Removes everything in a directory under the trash. Ignores faults: the next sweep tries again to remove files and
 * directories that could not be listed or removed.
 */
async function clear(disk: Disk, directory: string, trash: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const entries = await disk.readdir(directory, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(directory, entry.name));
  for (const entry of entries) if (entry.isDirectory()) await clear(disk, join(directory, entry.name), trash, signal);
  for (let from = 0; from < files.length && !signal.aborted; from += UNLINKS_AT_ONCE) {
    const some = files.slice(from, from + UNLINKS_AT_ONCE);
    await Promise.all(some.map((path) => disk.unlink(path).catch(() => undefined)));
  }
  if (!signal.aborted && directory !== trash) await disk.rmdir(directory).catch(() => undefined);
}
