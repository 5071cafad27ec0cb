/** A process answers in a millisecond, or within seconds while it works on the largest possible picture. */
const DEADLINE_MS = 20_000;
const ASK_MS = 5_000;

/**
 * Asks a process that has work whether it is alive, and reports once when the process has not answered for
 * `deadlineMs`. A stopped process, or one that waits for a disk for ever, would block its renders and truncations.
 */
export class ProcessWatch {
  readonly #ask: () => Promise<unknown>;
  readonly #hung: (ms: number) => void;
  readonly #askMs: number;
  readonly #deadlineMs: number;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(parts: {
    /** Asks the process. A rejection means that the process has ended. */
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

  /** Starts to watch the process, because it has work. Does nothing if the process is already watched. */
  begin(): void {
    if (this.#timer !== undefined || this.#deadline !== undefined) return;
    this.#timer = setTimeout(() => this.#question(), this.#askMs);
    this.#timer.unref();
  }

  /** Stops watching the process, because it has no work or has ended. */
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
    // A process that has ended is reported by its exit event.
    this.#ask().then(answered, () => this.end());
  }
}
