import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import { ServerRefusal, ServerUnreachable } from "./server-client.ts";

/**
 * Longer than a restart of the server: jobs survive a restart, so a command that waits for them must survive it too.
 */
const LIMIT_MS = 120_000;
/** An export or an import may take hours, and must survive an outage of the server's database or store, as jobs do. */
export const LONG_LIMIT_MS = 3_600_000;
const PAUSE_MS = 1_000;
/** Statuses of a proxy whose server is down, and of a server that is starting. */
const AWAY = [502, 503, 504];

/**
 * Repeats a request until the server answers, for about two minutes or `limitMs`. Passes each failure to `report`. The
 * signal ends the repetition.
 */
export async function retryWhileBusy<T>(
  clock: Clock,
  request: () => Promise<T>,
  report: (text: string) => void,
  signal?: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<T> {
  const sinceMs = clock.monotonicNow();
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const isAway =
        error instanceof ServerUnreachable || (error instanceof ServerRefusal && AWAY.includes(error.status));
      if (!isAway || signal?.aborted === true || clock.monotonicNow() - sinceMs > limitMs) throw error;
      report(`${error.message}; waiting for the server`);
    }
    await sleep(clock, PAUSE_MS, signal);
  }
}
