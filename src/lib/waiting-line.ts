/** Those who wait for one and the same thing, first come, first served; each may leave by its signal. */
export class WaitingLine<T> {
  /** In the order in which they came. */
  readonly #answers = new Set<(value: T) => void>();

  get length(): number {
    return this.#answers.size;
  }

  /** Resolves with what it is answered. @throws the signal's reason when it fires before */
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

  /** Answers the one who has waited longest. False: nobody waits. */
  answerFirst(value: T): boolean {
    for (const answer of this.#answers) {
      answer(value);
      return true;
    }
    return false;
  }

  /** Answers all but the one who has waited longest. */
  answerOthers(value: T): void {
    for (const answer of [...this.#answers].slice(1)) answer(value);
  }
}
