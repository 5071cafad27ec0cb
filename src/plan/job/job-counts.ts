import type { Zoom } from "../../grid/grid-set.ts";
import type { JobType } from "../seed-request.ts";

interface JobSum {
  readonly name: string;
  /** The name in the facts of a job on the command line. */
  readonly fact: string;
  /** The heading of the column for the zooms of a job on the command line. */
  readonly column: string;
  /** The description in the OpenAPI document. */
  readonly description?: string;
}

/**
 * The bytes that a job, its zooms and its batch show beside their tiles. This table alone describes them: counting, the
 * database, the documents, OpenAPI and the command line follow from it.
 */
const JOB_SUMS = [
  // Includes the tiles of the job's metatiles beyond its range.
  { name: "bytes", fact: "written", column: "bytes" },
] as const satisfies readonly JobSum[];
type SumName = (typeof JOB_SUMS)[number]["name"];
export type JobSums = Readonly<Record<SumName, bigint>>;
export const jobSums: readonly (JobSum & { readonly name: SumName })[] = JOB_SUMS;

/** Tiles by outcome. `unchanged`: rendered, and equal to the stored tile. */
const TILES = ["total", "stored", "skipped", "unchanged", "failed", "deleted"] as const;
type Counter = (typeof TILES)[number] | SumName;
export const COUNTERS: readonly Counter[] = [...TILES, ...JOB_SUMS.map(({ name }) => name)];

/** The counters of a job at one zoom. */
export type Counts = Readonly<Record<Counter, bigint>>;

export interface ZoomCounts extends Counts {
  readonly z: Zoom;
}

/** Returns a record with the value of each counter. */
function recordOf<N extends Counter>(
  counters: readonly N[],
  countOf: (counter: N) => bigint,
): Readonly<Record<N, bigint>>;
function recordOf(counters: readonly Counter[], countOf: (counter: Counter) => bigint): object {
  return Object.fromEntries(counters.map((counter) => [counter, countOf(counter)]));
}

/** Returns the sums of `JOB_SUMS`. */
export const sumsOf = (countOf: (name: SumName) => bigint): JobSums =>
  recordOf(
    jobSums.map(({ name }) => name),
    countOf,
  );

export const NO_COUNTS: Counts = recordOf(COUNTERS, () => 0n);

function added(to: Counts, change: Partial<Counts>): Counts {
  const sum: Record<Counter, bigint> = { ...to };
  for (const counter of COUNTERS) sum[counter] += change[counter] ?? 0n;
  return sum;
}

const workedOf = ({ stored, skipped, unchanged, failed }: Counts): bigint => stored + skipped + unchanged + failed;

/** Returns the number of tiles that a job has processed. */
export const processedTiles = (type: JobType, counts: Counts): bigint =>
  type === "truncate" ? counts.deleted : workedOf(counts);

/** The counts of a job, by zoom and in total. */
export class JobCounts {
  readonly #zooms = new Map<Zoom, Counts>();
  #sum = NO_COUNTS;

  constructor(zooms: readonly ZoomCounts[] = []) {
    for (const { z, ...counts } of zooms) this.#add(z, counts);
  }

  get sum(): Counts {
    return this.#sum;
  }

  /** The counts by zoom, ascending. */
  get zooms(): ZoomCounts[] {
    return [...this.#zooms].map(([z, counts]) => ({ z, ...counts })).sort((a, b) => a.z - b.z);
  }

  of(z: Zoom): Counts {
    return this.#zooms.get(z) ?? NO_COUNTS;
  }

  add(z: Zoom, change: Partial<Counts>): void {
    this.#add(z, change);
  }

  #add(z: Zoom, change: Partial<Counts>): void {
    this.#zooms.set(z, added(this.#zooms.get(z) ?? NO_COUNTS, change));
    this.#sum = added(this.#sum, change);
  }

  /** Raises the total of a zoom if the job has processed more tiles there than were counted. */
  coverWorked(z: Zoom): void {
    const counts = this.#zooms.get(z);
    const more = counts === undefined ? 0n : workedOf(counts) - counts.total;
    if (more > 0n) this.#add(z, { total: more });
  }

  /**
   * Counts all unprocessed tiles as skipped.
   * @returns the number of these tiles
   */
  skipRest(): bigint {
    let rest = 0n;
    for (const [z, counts] of this.#zooms) {
      const skipped = counts.total - workedOf(counts) - counts.deleted;
      if (skipped <= 0n) continue;
      this.#add(z, { skipped });
      rest += skipped;
    }
    return rest;
  }

  /** Raises the totals if the job has deleted more tiles than were counted. */
  coverDeleted(): void {
    for (const [z, { total, deleted }] of this.#zooms) if (total < deleted) this.#add(z, { total: deleted - total });
  }
}
