import { execFile } from "node:child_process";
import { errorMessage } from "../../lib/error-code.ts";
import type { Clock } from "../../lib/time/clock.ts";

/**
 * Reports the state of the server to systemd, for a unit of `Type=notify`. Node lacks datagram sockets with paths, so
 * the program `systemd-notify` sends the reports. The unit needs `NotifyAccess=all`.
 */
export interface ServiceManager {
  /** Reports that the server is serving, after the start or after a reload. */
  ready(status: string): Promise<void>;
  reloading(): Promise<void>;
  stopping(): Promise<void>;
}

type Variables = Record<string, string | undefined>;

/**
 * Removes the variables of the service manager from `env`, so that child processes do not see them. With a watchdog,
 * sends a sign of life as long as the event loop turns.
 * @param report called with each failure
 * @returns undefined without a service manager
 */
export function takeServiceManager(
  env: Variables,
  clock: Clock,
  report: (failure: string) => void,
): ServiceManager | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog, WATCHDOG_PID: watched } = env;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) Reflect.deleteProperty(env, name);
  if (socket === undefined || socket === "") return undefined;
  let last = Promise.resolve();
  /** Sends the reports one after the other, because their order counts. */
  const send = (...lines: readonly string[]): Promise<void> => {
    last = last
      .then(() => notify({ ...env, NOTIFY_SOCKET: socket }, lines))
      .catch((error: unknown) => {
        report(`systemd-notify has failed: ${errorMessage(error)}`);
      });
    return last;
  };
  const watchdogMs = Number(watchdog) / 1000;
  if (watchdogMs > 0 && (watched === undefined || watched === String(process.pid)))
    // The manager expects a sign of life within the time. A third of it leaves a margin for a busy machine.
    clock.every(watchdogMs / 3, () => void send("WATCHDOG=1")).unref();
  return {
    ready: (status) => send("READY=1", `STATUS=${status}`),
    reloading: () => send("RELOADING=1", `MONOTONIC_USEC=${Math.round(clock.machineNow() * 1_000)}`),
    stopping: () => send("STOPPING=1", "STATUS=finishing tiles in flight"),
  };
}

function notify(env: Variables, lines: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("systemd-notify", lines, { env, timeout: 10_000 }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
