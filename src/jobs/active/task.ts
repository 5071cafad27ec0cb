/**
 * One of a job's parallel workers, which is a row of the classic task list. `ActiveJob` begins and stops its tasks, and
 * the job's work adds to their progress through `ActiveJob`.
 */
export class Task {
  readonly id: number;
  #status: 0 | 1 = 0;
  #processed: bigint;
  #savedProcessed: bigint;
  #claim: bigint[] = [];
  #abort: AbortController | undefined;
  #loop: Promise<void> | undefined;

  constructor({ id, processed }: { readonly id: number; readonly processed: bigint }) {
    this.id = id;
    this.#processed = processed;
    this.#savedProcessed = processed;
  }

  /** 1 if the task is listed as running, 0 if as pending. */
  get status(): 0 | 1 {
    return this.#status;
  }

  /** The number of tiles that this task has finished. */
  get processed(): bigint {
    return this.#processed;
  }

  /** The numbers of the metatiles that the task has taken and not finished. */
  get claim(): readonly bigint[] {
    return this.#claim;
  }

  get isAtWork(): boolean {
    return this.#loop !== undefined;
  }

  /** Resolves when the task's loop has ended. Undefined if the task is not working. */
  get stopped(): Promise<void> | undefined {
    return this.#loop;
  }

  begin(loop: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    this.#abort = abort;
    this.#status = 1;
    this.#loop = loop(abort.signal);
  }

  /** Aborts the loop. Does nothing if the task is not working. */
  abort(reason: Error): void {
    this.#abort?.abort(reason);
  }

  /**
   * Records that the loop has ended.
   * @param status how the task is listed from now on
   */
  stop(status: 0 | 1): void {
    this.#loop = undefined;
    this.#abort = undefined;
    this.#status = status;
  }

  take(metatile: bigint): void {
    this.#claim.push(metatile);
  }

  /**
   * Removes metatiles from the claim.
   * @returns the removed metatiles
   */
  release(metatiles: readonly bigint[]): readonly bigint[] {
    const released = metatiles.filter((n) => this.#claim.includes(n));
    this.#claim = this.#claim.filter((n) => !metatiles.includes(n));
    return released;
  }

  addProcessed(tiles: bigint): void {
    this.#processed += tiles;
  }

  /**
   * Marks the current progress as saved.
   * @returns a function that undoes the mark if the transaction is rolled back; undefined if the progress was already
   * saved
   */
  markSaved(): (() => void) | undefined {
    const before = this.#savedProcessed;
    if (before === this.#processed) return undefined;
    this.#savedProcessed = this.#processed;
    return () => {
      this.#savedProcessed = before;
    };
  }
}
