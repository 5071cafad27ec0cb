import { IntervalSet } from "../../lib/interval-set.ts";
import type { WalkPosition } from "../../plan/order/job-walk.ts";
import type { JobNumbers } from "../../plan/order/metatile-numbers.ts";

/** The most times that `take` skips to the next metatile that may be wanted before it returns one. */
const MOST_LEAPS = 8;

/** The most metatiles that a task takes at once. */
const MOST_AT_ONCE = 32;

/** The metatiles of a job by number: which are finished, which were given back, and which is next. */
export class MetatileQueue {
  readonly #numbers: JobNumbers;
  readonly #finished: IntervalSet;
  readonly #returned: bigint[] = [];
  /** No metatile at or after this number has been taken. */
  #cursor = 0n;

  /** @param finished intervals, as the getter `finished` returns them */
  constructor(numbers: JobNumbers, finished: readonly (readonly [string, string])[]) {
    this.#numbers = numbers;
    this.#finished = IntervalSet.from(finished);
  }

  get count(): bigint {
    return this.#numbers.count;
  }

  /** Whether there may be a metatile for a task to take. */
  get hasNext(): boolean {
    return this.#returned.length > 0 || this.#nextWanted() < this.count;
  }

  /** The finished metatiles as intervals. */
  get finished(): readonly (readonly [string, string])[] {
    return this.#finished.toJSON();
  }

  locate(n: bigint): WalkPosition {
    return this.#numbers.positionOf(n);
  }

  /** Takes the next metatile that no task has taken. Undefined if no metatile is left. */
  take(): bigint | undefined {
    const returned = this.#returned.shift();
    if (returned !== undefined) return returned;
    const next = this.#nextWanted();
    if (next >= this.count) {
      this.#cursor = this.count;
      return undefined;
    }
    this.#cursor = next + 1n;
    return next;
  }

  /**
   * Returns the next metatile at or after the cursor. Marks the metatiles that it skips as finished, so that `finished`
   * stays a few intervals. After `MOST_LEAPS` skips it returns a metatile in which nothing may be wanted, so that the
   * search does not block other jobs.
   */
  #nextWanted(): bigint {
    let next = this.#finished.nextMissing(this.#cursor);
    for (let leaps = 0; next < this.count && leaps < MOST_LEAPS; leaps++) {
      const wanted = this.#numbers.next(next);
      if (wanted === next) break;
      this.#finished.addRange(next, wanted);
      next = this.#finished.nextMissing(wanted);
    }
    return next;
  }

  giveBack(metatiles: readonly bigint[]): void {
    this.#returned.push(...metatiles);
  }

  /**
   * Takes a metatile that was given back and that no task has taken since. Returns false if this metatile was not given
   * back.
   */
  takeBack(n: bigint): boolean {
    const at = this.#returned.indexOf(n);
    if (at >= 0) this.#returned.splice(at, 1);
    return at >= 0;
  }

  finish(n: bigint): void {
    this.#finished.add(n);
  }

  /**
   * Returns how many metatiles each of `tasks` takes at once: few when little work is left, so that all tasks have
   * work.
   */
  shareOf(tasks: number): number {
    const left = this.count - this.#cursor + BigInt(this.#returned.length);
    const share = left / BigInt(Math.max(1, tasks) * 4);
    return share > BigInt(MOST_AT_ONCE) ? MOST_AT_ONCE : share < 1n ? 1 : Number(share);
  }
}
