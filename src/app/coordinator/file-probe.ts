import { statSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { codeOf } from "../../lib/error-code.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { LATE, unlessLate } from "../../lib/time/late.ts";

/** A file system counts as lost if it does not answer within this time. A probe then resolves. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Returns a probe of a file. The probe resolves to why the file cannot be used; undefined if it is the file of the
 * start and can be written. Only one request to the file system runs at a time.
 * @param name the file in messages, such as "the state database"
 * @throws Error if the file does not exist
 */
export function probeOf(path: string, name: string, clock: Clock): () => Promise<string | undefined> {
  const first = statSync(path);
  const lost = `${name} (${path}) is lost`;
  let looking: Promise<string | undefined> | undefined;
  const look = async (): Promise<string | undefined> => {
    try {
      const now = await stat(path);
      if (now.dev !== first.dev || now.ino !== first.ino)
        return `${lost}: another file is in its place since the start; put the original back, or restart the server`;
      await access(path, constants.R_OK | constants.W_OK);
      return undefined;
    } catch (error) {
      return `${lost}: ${codeOf(error) || String(error)}`;
    }
  };
  return async () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    const found = await unlessLate(clock, looking, LONGEST_WAIT_MS);
    return found === LATE ? `${lost}: the file system does not answer` : found;
  };
}
