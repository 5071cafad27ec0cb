/** A process answers in a millisecond, or within seconds while it works on the largest possible picture. */
const DEADLINE_MS = 20_000;
const PING_MS = 5_000;

export interface ProcessWatchParts {
  /** Sends a ping to the process. A rejection means that the process has ended. */
  readonly ping: () => Promise<unknown>;
  readonly hung: (ms: number) => void;
  readonly pingMs?: number;
  readonly deadlineMs?: number;
}

/**
 * Asks a process that has work whether it is alive, and reports once when the process has not answered for
 * `deadlineMs`. Without the watch, a stopped process, or one that waits for a disk for ever, would block its renders
 * and truncations.
 */
export class ProcessWatch {
  readonly #parts: ProcessWatchParts;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #pingedMs: number | undefined;

  constructor(parts: ProcessWatchParts) {
    this.#parts = parts;
  }

  /** For how long the process has not answered, in ms. */
  get silentMs(): number {
    return this.#pingedMs === undefined ? 0 : performance.now() - this.#pingedMs;
  }

  /** Starts to watch the process, because it has work. Does nothing if the process is already watched. */
  begin(): void {
    if (this.#timer !== undefined || this.#deadline !== undefined) return;
    this.#timer = setTimeout(() => this.#sendPing(), this.#parts.pingMs ?? PING_MS);
    this.#timer.unref();
  }

  /** Stops watching the process, because it has no work or has ended. */
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
    // A process that has ended is reported by its exit event.
    ping().then(answered, () => this.end());
  }
}
