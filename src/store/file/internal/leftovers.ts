import { opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, storeError } from "./faults.ts";

/** The prefix of temporary files. A part that identifies the process follows it. */
export const TEMPORARY = ".nuthatch-";

/** Removes temporary files of other processes' interrupted puts from a directory. */
export async function removeLeftovers(directory: string, own: string): Promise<void> {
  try {
    for await (const { name } of await opendir(directory, { bufferSize: 256 }))
      if (isLeftover(name, own)) await rm(join(directory, name), { force: true });
  } catch (error) {
    if (!isAbsent(error)) throw storeError(error, "leftovers cannot be removed");
  }
}

/** Returns whether a name is a temporary file's of another process than the one whose files begin with `own`. */
export const isLeftover = (name: string, own: string): boolean => name.startsWith(TEMPORARY) && !name.startsWith(own);
