import type { Clock } from "./clock.ts";

/** Returns a signal that fires after `ms` milliseconds with a TimeoutError, as `AbortSignal.timeout` does. */
export function deadline(clock: Clock, ms: number): AbortSignal {
  const over = new AbortController();
  const expired = (): void => over.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  clock.after(ms, expired).unref();
  return over.signal;
}
