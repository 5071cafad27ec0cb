import { pause } from "./pause.ts";

/**
 * `unlessLate` sleeps its time in this many parts. When its thread was blocked, such as by a wait for a remote
 * database, only one part counts as over, so that an answer that has arrived is not reported as late.
 */
const PARTS = 8;

export const LATE = Symbol("late");

/** Returns an answer, or `LATE` if it did not arrive within `ms`. A late question is not cancelled. */
export async function unlessLate<T>(answer: Promise<T>, ms: number): Promise<T | typeof LATE> {
  const over = new AbortController();
  try {
    return await Promise.race([answer, partByPart(ms, over.signal)]);
  } finally {
    over.abort();
  }
}

async function partByPart(ms: number, signal: AbortSignal): Promise<typeof LATE> {
  for (let part = 0; part < PARTS && !signal.aborted; part++) await pause(ms / PARTS, signal);
  return LATE;
}
