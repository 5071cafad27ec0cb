import type { Clock } from "./clock.ts";
import { pause } from "./sleep.ts";

/**
 * `unlessLate` sleeps its time in this many parts. When its thread was blocked, such as by a wait for a remote
 * database, only one part counts as over, so that an answer that has arrived is not reported as late.
 */
const PARTS = 8;

export const LATE = Symbol("late");

/** Returns an answer, or `LATE` if it did not arrive within `ms`. A late question is not cancelled. */
export async function unlessLate<T>(clock: Clock, answer: Promise<T>, ms: number): Promise<T | typeof LATE> {
  const over = new AbortController();
  try {
    return await Promise.race([answer, partByPart(clock, ms, over.signal)]);
  } finally {
    over.abort();
  }
}

async function partByPart(clock: Clock, ms: number, signal: AbortSignal): Promise<typeof LATE> {
  for (let part = 0; part < PARTS && !signal.aborted; part++) await pause(clock, ms / PARTS, signal);
  return LATE;
}
