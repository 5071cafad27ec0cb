import { readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Files deleted in parallel. The sweep shares its thread with rendering, and may get only one turn per metatile. */
const UNLINKS_AT_ONCE = 128;

/** Removes everything in a directory. The next sweep tries again what could not be removed. */
export async function sweep(trash: string, signal: AbortSignal): Promise<void> {
  const clear = async (directory: string): Promise<void> => {
    if (signal.aborted) return;
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(directory, entry.name));
    for (const entry of entries) if (entry.isDirectory()) await clear(join(directory, entry.name));
    for (let from = 0; from < files.length && !signal.aborted; from += UNLINKS_AT_ONCE) {
      const some = files.slice(from, from + UNLINKS_AT_ONCE);
      await Promise.all(some.map((path) => unlink(path).catch(() => undefined)));
    }
    if (!signal.aborted && directory !== trash) await rmdir(directory).catch(() => undefined);
  };
  await clear(trash);
}
