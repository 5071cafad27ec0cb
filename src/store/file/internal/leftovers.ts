import { opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, storeError } from "./faults.ts";

/** Temporary files begin with this; then comes what tells one process from another. */
export const TEMPORARY = ".nuthatch-";

/** Removes from a directory what interrupted puts of other processes have left. */
export async function removeLeftovers(directory: string, own: string): Promise<void> {
  try {
    for await (const { name } of await opendir(directory, { bufferSize: 256 }))
      if (isLeftover(name, own)) await rm(join(directory, name), { force: true });
  } catch (error) {
    if (!isAbsent(error)) throw storeError(error, "leftovers cannot be removed");
  }
}

/** Whether a name is that of a temporary file of another process than the one whose files begin with `own`. */
export const isLeftover = (name: string, own: string): boolean => name.startsWith(TEMPORARY) && !name.startsWith(own);
