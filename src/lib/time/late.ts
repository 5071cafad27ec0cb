import { pause } from "./pause.ts";

/**
 * A time is waited for in so many parts. A thread that sleeps, such as one that waits for a database on another machine,
 * passes only one part meanwhile, and does not blame what it has asked.
 */
const PARTS = 8;

export const LATE = Symbol("late");

/** Returns an answer, or `LATE` when there is none in time. The question goes on. */
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
