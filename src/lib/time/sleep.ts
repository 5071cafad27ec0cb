import type { Clock } from "./clock.ts";

/**
 * Waits `ms` milliseconds. Keeps the process alive.
 * @throws the reason of the signal, as soon as the signal fires
 */
export async function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  await wait(clock, ms, signal, false);
  signal?.throwIfAborted();
}

/** Waits `ms` milliseconds, or until the signal fires if that is earlier. Does not keep the process alive. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return wait(clock, ms, signal, true);
}

/** Resolves in a later turn of the event loop, after the input and output that waits. */
export function turn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}

function wait(clock: Clock, ms: number, signal: AbortSignal | undefined, mayEnd: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const over = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = clock.after(ms, over);
    if (mayEnd) timer.unref();
    signal?.addEventListener("abort", over, { once: true });
  });
}
