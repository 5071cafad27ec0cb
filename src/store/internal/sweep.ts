import type { Dirent } from "node:fs";
import { readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";

const PARALLEL_UNLINKS = 4;

/** Removes everything in a directory, a few files in parallel. What cannot be removed stays for the next time. */
export async function sweep(trash: string, signal: AbortSignal): Promise<{ readonly removed: number }> {
  const queue = new PQueue({ concurrency: PARALLEL_UNLINKS });
  let removed = 0;
  const clear = async (directory: string): Promise<void> => {
    for (const entry of await entriesOf(directory)) {
      if (signal.aborted) return;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) await clear(path);
      else {
        await queue.onSizeLessThan(PARALLEL_UNLINKS * 8);
        void queue.add(async () => {
          await unlink(path).catch(() => undefined);
          removed++;
        });
      }
    }
    await queue.onIdle();
    if (!signal.aborted) await rmdir(directory).catch(() => undefined);
  };
  for (const { name } of await entriesOf(trash)) {
    if (signal.aborted) break;
    await clear(join(trash, name));
  }
  await queue.onIdle();
  return { removed };
}

const entriesOf = (directory: string): Promise<Dirent[]> => readdir(directory, { withFileTypes: true }).catch(() => []);
