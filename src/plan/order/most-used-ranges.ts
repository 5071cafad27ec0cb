import { groupsIn } from "../../grid/metatile.ts";
import { indexInSteps } from "../../grid/selection.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { CountedJobs } from "../count-planned.ts";
import type { JobRequest } from "../job/job-request.ts";
import { nextChosen, walksOf } from "./job-walk.ts";

/** The most groups of metatiles that are stored for one job, and for all jobs of one request. */
const MOST_GROUPS = 2 ** 15;
const MOST_IN_ALL = 2 ** 20;

/**
 * Adds the most-used ranges to jobs of the order `hot` when they are accepted, so that the order is the same after a
 * restart.
 */
export async function withMostUsedRanges(
  jobs: CountedJobs["jobs"],
  ledger: Pick<Ledger, "usedCells" | "clock">,
): Promise<CountedJobs["jobs"]> {
  const most = Math.min(MOST_GROUPS, Math.floor(MOST_IN_ALL / jobs.length));
  const made: CountedJobs["jobs"][number][] = [];
  for (const { request, progress } of jobs) {
    const hot = request.order === "hot" ? await mostUsedRanges(request, ledger, most) : undefined;
    made.push({ request: hot === undefined || hot.length === 0 ? request : { ...request, hot }, progress });
  }
  return made;
}

/** Finds the most-used groups in the ledger's blocks within the range, in slices. Empty if no group was used. */
async function mostUsedRanges(
  request: JobRequest,
  ledger: Pick<Ledger, "usedCells" | "clock">,
  most: number,
): Promise<BigUint64Array | undefined> {
  const { selection } = request;
  const mostUsed = new MostUsedRanges(most);
  const slices = new Slices(ledger.clock);
  const index = selection === undefined ? undefined : await slices.run(indexInSteps(selection));
  for (const at of walksOf(request, index)) {
    const { tileSet, walk, offset } = at;
    for (const page of ledger.usedCells(tileSet, walk.rect)) {
      for (const { rect, frequency } of page)
        for (const { first, end } of groupsIn(walk, rect))
          if (nextChosen(at, first) < end) mostUsed.add(offset + first, frequency);
      if (slices.isOver) await slices.next();
    }
  }
  return mostUsed.numbers();
}

/** Collects the numbers with the highest access frequency from any number of candidates. */
class MostUsedRanges {
  readonly #most: number;
  readonly #frequencies = new Map<bigint, number>();

  constructor(most: number) {
    this.#most = most;
  }

  add(number: bigint, frequency: number): void {
    const before = this.#frequencies.get(number);
    if (before !== undefined && before >= frequency) return;
    this.#frequencies.set(number, frequency);
    // Trims seldom, but never holds more than twice the number.
    if (this.#frequencies.size > 2 * this.#most) this.#trim();
  }

  /**
   * Trims to the numbers with the highest frequency. Among numbers with the lowest remaining frequency, deletes those
   * that were added last.
   */
  #trim(): void {
    const excess = this.#frequencies.size - this.#most;
    if (excess <= 0) return;
    const frequencies = Float64Array.from(this.#frequencies.values()).sort();
    const least = frequencies[excess] ?? 0;
    let left = this.#most - frequencies.filter((frequency) => frequency > least).length;
    for (const [number, frequency] of this.#frequencies)
      if (frequency < least || (frequency === least && left-- <= 0)) this.#frequencies.delete(number);
  }

  numbers(): BigUint64Array {
    this.#trim();
    const sorted = [...this.#frequencies].sort(
      ([a, frequencyOfA], [b, frequencyOfB]) => frequencyOfB - frequencyOfA || (a < b ? -1 : 1),
    );
    return BigUint64Array.from(sorted, ([number]) => number);
  }
}
