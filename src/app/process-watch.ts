/** A process answers a question in a millisecond, and in seconds while it works on the largest picture it may have. */
const DEADLINE_MS = 20_000;
const ASK_MS = 5_000;

/**
 * Asks a process that has work whether it is alive, and reports once when it has not answered for `deadlineMs`: one that was
 * stopped, or that waits for a disk for ever, ends no render and no truncation.
 */
export class ProcessWatch {
  readonly #ask: () => Promise<unknown>;
  readonly #hung: (ms: number) => void;
  readonly #askMs: number;
  readonly #deadlineMs: number;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(parts: {
    /** Answered by the process; a rejection says that it has ended. */
    readonly ask: () => Promise<unknown>;
    readonly hung: (ms: number) => void;
    readonly askMs?: number;
    readonly deadlineMs?: number;
  }) {
    this.#ask = parts.ask;
    this.#hung = parts.hung;
    this.#askMs = parts.askMs ?? ASK_MS;
    this.#deadlineMs = parts.deadlineMs ?? DEADLINE_MS;
  }

  /** The process has work from now on, or has work still. */
  begin(): void {
    if (this.#timer !== undefined || this.#deadline !== undefined) return;
    this.#timer = setTimeout(() => this.#question(), this.#askMs);
    this.#timer.unref();
  }

  /** The process has no work, or has ended. */
  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#timer = undefined;
    this.#deadline = undefined;
  }

  #question(): void {
    this.#timer = undefined;
    const deadline = setTimeout(() => this.#hung(this.#deadlineMs), this.#deadlineMs);
    deadline.unref();
    this.#deadline = deadline;
    const answered = (): void => {
      if (this.#deadline !== deadline) return;
      this.end();
      this.begin();
    };
    // One that has ended is told by its exit.
    this.#ask().then(answered, () => this.end());
  }
}
