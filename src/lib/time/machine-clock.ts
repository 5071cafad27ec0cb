import type { Clock, Timer } from "./clock.ts";

const ORIGIN_MS = performance.timeOrigin;

class MachineTimer implements Timer {
  readonly #timeout: NodeJS.Timeout;

  constructor(timeout: NodeJS.Timeout) {
    this.#timeout = timeout;
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  unref(): this {
    this.#timeout.unref();
    return this;
  }
}

/** The clock and the timers of the machine. */
export const machineClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => ORIGIN_MS + performance.now(),
  machineNow: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  after: (ms, work) => new MachineTimer(setTimeout(work, ms)),
  every: (ms, work) => new MachineTimer(setInterval(work, ms)),
  soon: (work) => void setImmediate(work),
};
