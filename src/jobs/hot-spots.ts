import { groupsIn } from "../grid/metatile.ts";
import { indexOf } from "../grid/selection.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Slices } from "../lib/slices.ts";
import type { CountedJobs } from "./count-planned.ts";
import type { JobRequest } from "./job.ts";
import { nextChosen, walksOf } from "./job-walk.ts";

/** Groups of metatiles that one job remembers as hot, and all jobs of one request. */
const MOST_GROUPS = 2 ** 15;
const MOST_IN_ALL = 2 ** 20;

/** Takes down for jobs of the order `hot` what is used as they are made: so it is the same after a restart. */
export async function withHotSpots(
  jobs: CountedJobs["jobs"],
  ledger: Pick<Ledger, "usedCells">,
): Promise<CountedJobs["jobs"]> {
  const most = Math.min(MOST_GROUPS, Math.floor(MOST_IN_ALL / jobs.length));
  const made: CountedJobs["jobs"][number][] = [];
  for (const { request, progress } of jobs) {
    const hot = request.order === "hot" ? await hotSpots(request, ledger, most) : undefined;
    made.push({ request: hot === undefined || hot.length === 0 ? request : { ...request, hot }, progress });
  }
  return made;
}

/** What is used is looked for in the blocks of the ledger that lie in the range, in slices. */
async function hotSpots(
  request: JobRequest,
  ledger: Pick<Ledger, "usedCells">,
  most: number,
): Promise<BigUint64Array | undefined> {
  const { metatile, selection } = request;
  if (metatile === undefined) return undefined;
  const hottest = new Hottest(most);
  const slices = new Slices();
  for (const at of walksOf(request, metatile, selection === undefined ? undefined : indexOf(selection))) {
    const { tileSet, walk, offset } = at;
    for (const page of ledger.usedCells(tileSet, walk.rect)) {
      for (const { rect, heat } of page)
        for (const { first, end } of groupsIn(walk, rect))
          if (nextChosen(at, first) < end) hottest.add(offset + first, heat);
      if (slices.isOver) await slices.next();
    }
  }
  return hottest.numbers();
}

/** Some numbers with the most heat, of any number that are looked at. */
class Hottest {
  readonly #most: number;
  readonly #heats = new Map<bigint, number>();

  constructor(most: number) {
    this.#most = most;
  }

  add(number: bigint, heat: number): void {
    const before = this.#heats.get(number);
    if (before !== undefined && before >= heat) return;
    this.#heats.set(number, heat);
    // Seldom, and never more than twice as many are held.
    if (this.#heats.size > 2 * this.#most) this.#letGo();
  }

  /** Of those that are as hot as the last that stays, the later ones. */
  #letGo(): void {
    const excess = this.#heats.size - this.#most;
    if (excess <= 0) return;
    const heats = Float64Array.from(this.#heats.values()).sort();
    const least = heats[excess] ?? 0;
    let places = this.#most - heats.filter((heat) => heat > least).length;
    for (const [number, heat] of this.#heats)
      if (heat < least || (heat === least && places-- <= 0)) this.#heats.delete(number);
  }

  numbers(): BigUint64Array {
    this.#letGo();
    const sorted = [...this.#heats].sort(([a, heatOfA], [b, heatOfB]) => heatOfB - heatOfA || (a < b ? -1 : 1));
    return BigUint64Array.from(sorted, ([number]) => number);
  }
}
