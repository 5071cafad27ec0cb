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
  readonly pingMs?: number;
  readonly deadlineMs?: number;
}

/**
 * Pings a process that has work, and reports once if the process has not responded for `deadlineMs`. Otherwise a
 * stopped process, or one that waits for a disk for ever, would block its renders and truncations.
 */
export class ProcessWatch {
  readonly #parts: ProcessWatchParts;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #pingedMs: number | undefined;

  constructor(parts: ProcessWatchParts) {
    this.#parts = parts;
  }

  /** How long the process has not responded, ms. */
  get silentMs(): number {
    return this.#pingedMs === undefined ? 0 : performance.now() - this.#pingedMs;
  }

  /** Starts to watch the process because it has work. Does nothing if the process is already watched. */
  begin(): void {
    if (this.#timer !== undefined || this.#deadline !== undefined) return;
    this.#timer = setTimeout(() => this.#sendPing(), this.#parts.pingMs ?? PING_MS);
    this.#timer.unref();
  }

  /** Stops watching the process because it has no work or has ended. */
  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#timer = undefined;
    this.#deadline = undefined;
    this.#pingedMs = undefined;
  }

  #sendPing(): void {
    this.#timer = undefined;
    const { ping, hung, deadlineMs = DEADLINE_MS } = this.#parts;
    const deadline = setTimeout(() => hung(deadlineMs), deadlineMs);
    deadline.unref();
    this.#deadline = deadline;
    this.#pingedMs = performance.now();
    const answered = (): void => {
      if (this.#deadline !== deadline) return;
      this.end();
      this.begin();
    };
    // The exit event reports a process that has ended.
    ping().then(answered, () => this.end());
  }
}
