import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { StoreError } from "../tile-store.ts";
import { storeError } from "./faults.ts";

/** Some file systems cannot sync a directory. A directory that is gone has no entries to sync. */
const NOT_SYNCED: ReadonlySet<string> = new Set(["EINVAL", "ENOTSUP", "EPERM", "EISDIR", "EACCES", "ENOENT"]);

const whyNotSynced = (error: unknown): StoreError | undefined =>
  NOT_SYNCED.has(codeOf(error)) ? undefined : storeError(error, "a directory cannot be synced");

/**
 * Writes the entries of directories to the disk. Without this, a loss of power can take back a rename or a removal of
 * the last seconds.
 * @throws StoreError
 */
export function syncDirectories(disk: Disk, directories: Iterable<string>): void {
  for (const directory of new Set(directories))
    try {
      const file = disk.openSync(directory, "r");
      try {
        disk.fsyncSync(file);
      } finally {
        disk.closeSync(file);
      }
    } catch (error) {
      const fault = whyNotSynced(error);
      if (fault !== undefined) throw fault;
    }
}

/** As `syncDirectories`, for one directory and without blocking the thread. @throws StoreError */
export async function syncDirectory(disk: Disk, directory: string): Promise<void> {
  try {
    const file = await disk.open(directory, "r");
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    const fault = whyNotSynced(error);
    if (fault !== undefined) throw fault;
  }
}
