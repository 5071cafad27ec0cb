import { statSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../lib/error-code.ts";

/** A file system that does not answer for this time counts as lost. A caller of a probe waits no longer. */
const LONGEST_WAIT_MS = 2_000;
/**
 * The time is waited for in so many parts. The coordinator sleeps while a database on another machine does not answer:
 * only one part passes then, and the file system is not blamed.
 */
const PARTS = 8;

/**
 * Returns a probe of a file or a directory. The probe returns why the file or directory cannot be used; undefined: it is
 * the same as at the start, and can be written. A directory may have been created again on the same file system. A
 * directory on another file system means that its volume is not mounted. Only one request to the file system runs at a
 * time. `name`: such as "the store".
 * @throws Error when the file or directory does not exist
 */
export function probeOf(path: string, name: string): () => Promise<string | undefined> {
  const first = statSync(path);
  const lost = `${name} (${path}) is lost`;
  let looking: Promise<string | undefined> | undefined;
  const look = async (): Promise<string | undefined> => {
    try {
      const now = await stat(path);
      const isSame = now.dev === first.dev && (now.isDirectory() || now.ino === first.ino);
      if (!isSame || now.isDirectory() !== first.isDirectory())
        return `${lost}: another one is in its place since the start; put it back, or restart the server`;
      await access(path, constants.R_OK | constants.W_OK | (now.isDirectory() ? constants.X_OK : 0));
      return undefined;
    } catch (error) {
      return `${lost}: ${codeOf(error) || String(error)}`;
    }
  };
  return async () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    const waited = new AbortController();
    const late = partByPart(waited.signal);
    try {
      const found = await Promise.race([looking, late]);
      return found === "late" ? `${lost}: the file system does not answer` : found;
    } finally {
      waited.abort();
    }
  };
}

async function partByPart(signal: AbortSignal): Promise<"late"> {
  for (let part = 0; part < PARTS && !signal.aborted; part++)
    await sleep(LONGEST_WAIT_MS / PARTS, undefined, { signal, ref: false }).catch(() => undefined);
  return "late";
}
