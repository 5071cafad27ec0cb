import type { Clock, Timer } from "./clock.ts";

/** Waits for work, but at most `ms` milliseconds. The work continues after that time. */
export async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  let timer: Timer | undefined;
  const late = new Promise<void>((resolve) => {
    timer = clock.after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    timer?.cancel();
  }
}
