import type { Clock, Timer } from "../../../lib/time/clock.ts";

/**
 * A process counts as hung after this time. It responds in a millisecond, or in seconds while it processes the largest
 * picture.
 */
const DEADLINE_MS = 20_000;
const PING_MS = 5_000;

export interface ProcessWatchParts {
  /** Sends a ping to the process. Rejects if the process has ended. */
  readonly ping: () => Promise<unknown>;
  readonly hung: (ms: number) => void;
  readonly clock: Clock;
  readonly pingMs?: number;
  readonly deadlineMs?: number;
}

/**
 * Pings a process that has work, and reports once if the process has not responded for `deadlineMs`. Otherwise a
 * stopped process, or one that waits for a disk for ever, would block its renders and truncations.
 */
export class ProcessWatch {
  readonly #parts: ProcessWatchParts;
  #timer: Timer | undefined;
  #deadline: Timer | undefined;
  #pingedMs: number | undefined;

  constructor(parts: ProcessWatchParts) {
    this.#parts = parts;
  }

  /** How long the process has not responded, ms. */
  get silentMs(): number {
    return this.#pingedMs === undefined ? 0 : this.#parts.clock.monotonicNow() - this.#pingedMs;
  }

  /** Starts to watch the process because it has work. Does nothing if the process is already watched. */
  begin(): void {
    if (this.#timer !== undefined || this.#deadline !== undefined) return;
    this.#timer = this.#parts.clock.after(this.#parts.pingMs ?? PING_MS, () => this.#sendPing());
    this.#timer.unref();
  }

  /** Stops watching the process because it has no work or has ended. */
  end(): void {
    this.#timer?.cancel();
    this.#deadline?.cancel();
    this.#timer = undefined;
    this.#deadline = undefined;
    this.#pingedMs = undefined;
  }

  #sendPing(): void {
    this.#timer = undefined;
    const { ping, hung, deadlineMs = DEADLINE_MS } = this.#parts;
    const deadline = this.#parts.clock.after(deadlineMs, () => hung(deadlineMs));
    deadline.unref();
    this.#deadline = deadline;
    this.#pingedMs = this.#parts.clock.monotonicNow();
    const answered = (): void => {
      if (this.#deadline !== deadline) return;
      this.end();
      this.begin();
    };
    // The exit event reports a process that has ended.
    ping().then(answered, () => this.end());
  }
}
