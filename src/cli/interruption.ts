const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Aborts its signal when the user interrupts the program, so that no unfinished file stays on the disk. When disposed
 * after an interruption, ends the program as the unhandled signal would.
 */
export class Interruption implements Disposable {
  readonly #abort = new AbortController();
  #by: NodeJS.Signals | undefined;
  readonly #interrupt = (by: NodeJS.Signals): void => {
    this.#by = by;
    this.#abort.abort();
  };

  constructor() {
    for (const signal of SIGNALS) process.once(signal, this.#interrupt);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupt);
    if (this.#by !== undefined) process.kill(process.pid, this.#by);
  }
}
