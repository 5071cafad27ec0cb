import type { Clock } from "./clock.ts";
import { sleep } from "./sleep.ts";

/** Waits until `leftMs()` returns 0 or less. The remaining time, in ms, may grow during the wait. */
export async function waitOut(clock: Clock, leftMs: () => number): Promise<void> {
  for (let ms = leftMs(); ms > 0; ms = leftMs()) await sleep(clock, ms);
}
