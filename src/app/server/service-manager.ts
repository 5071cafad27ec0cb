import { execFile } from "node:child_process";
import { errorMessage } from "../../lib/error-code.ts";

/**
 * Reports the life of the server to systemd, for a unit of `Type=notify`. Node has no sockets of datagrams on paths, so
 * that the program `systemd-notify`, which is part of systemd, sends the reports. The unit needs `NotifyAccess=all`.
 */
export interface ServiceManager {
  /** Reports that the server serves, from the start on or again after a reload. */
  ready(status: string): Promise<void>;
  reloading(): Promise<void>;
  stopping(): Promise<void>;
}

type Variables = Record<string, string | undefined>;

/**
 * Takes the service manager of this process out of the variables; undefined: there is none. The processes that the
 * server starts do not see it. With a watchdog, the manager hears from this process as long as its event loop turns.
 * `report` is called with each failure.
 */
export function takeServiceManager(env: Variables, report: (failure: string) => void): ServiceManager | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog, WATCHDOG_PID: watched } = env;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) Reflect.deleteProperty(env, name);
  if (socket === undefined || socket === "") return undefined;
  let last = Promise.resolve();
  /** Sends one report after the other: their order counts. */
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
    // The manager expects a sign within the time; a third of it leaves room for a busy machine.
    setInterval(() => void send("WATCHDOG=1"), watchdogMs / 3).unref();
  return {
    ready: (status) => send("READY=1", `STATUS=${status}`),
    reloading: () => send("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
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
