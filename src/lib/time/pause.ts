import { setTimeout as sleep } from "node:timers/promises";

/** Waits `ms` milliseconds, or until the signal fires if that is earlier. The wait does not keep the process alive. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // A timer rejects only when its signal fires.
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
