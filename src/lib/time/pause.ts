import { setTimeout as sleep } from "node:timers/promises";

/** Waits `ms`, or until the signal fires if that is earlier. The wait does not keep the process alive. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // The only error of a timer is that of its signal.
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
