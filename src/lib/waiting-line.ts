/**
 * A queue of waiting calls for one resource, first come, first served. A call leaves the queue when its signal fires.
 */
export class WaitingLine<T> {
  /** The functions that answer the calls, oldest first. */
  readonly #answers = new Set<(value: T) => void>();

  get length(): number {
    return this.#answers.size;
  }

  /**
   * Waits for `answerFirst` or `answerOthers`, and returns the value given there.
   * @throws the signal's reason when it fires before
   */
  wait(signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (value: T) => {
        signal.removeEventListener("abort", leave);
        this.#answers.delete(answer);
        resolve(value);
      };
      const leave = () => {
        this.#answers.delete(answer);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#answers.add(answer);
    });
  }

  /** Answers the oldest call. Returns false when no call waits. */
  answerFirst(value: T): boolean {
    for (const answer of this.#answers) {
      answer(value);
      return true;
    }
    return false;
  }

  /** Answers all calls except the oldest. */
  answerOthers(value: T): void {
    for (const answer of [...this.#answers].slice(1)) answer(value);
  }
}
