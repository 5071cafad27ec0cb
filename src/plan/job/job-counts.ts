import type { JobType } from "../seed-request.ts";

/** Tiles of a job at one zoom, by outcome. `bytes`: the bytes written for the job. */
export interface Counts {
  readonly total: bigint;
  readonly stored: bigint;
  readonly skipped: bigint;
  /** Rendered, and equal to the stored tile. */
  readonly unchanged: bigint;
  readonly failed: bigint;
  readonly deleted: bigint;
  readonly bytes: bigint;
}

export interface ZoomCounts extends Counts {
  readonly z: number;
}

const NOTHING: Counts = { total: 0n, stored: 0n, skipped: 0n, unchanged: 0n, failed: 0n, deleted: 0n, bytes: 0n };

const added = (to: Counts, change: Partial<Counts>): Counts => ({
  total: to.total + (change.total ?? 0n),
  stored: to.stored + (change.stored ?? 0n),
  skipped: to.skipped + (change.skipped ?? 0n),
  unchanged: to.unchanged + (change.unchanged ?? 0n),
  failed: to.failed + (change.failed ?? 0n),
  deleted: to.deleted + (change.deleted ?? 0n),
  bytes: to.bytes + (change.bytes ?? 0n),
});

const workedOf = ({ stored, skipped, unchanged, failed }: Counts): bigint => stored + skipped + unchanged + failed;

/** Returns the number of tiles that a job has processed. */
export const processedTiles = (type: JobType, counts: Counts): bigint =>
  type === "truncate" ? counts.deleted : workedOf(counts);

/** The counts of a job, by zoom and in total. */
export class JobCounts {
  readonly #zooms = new Map<number, Counts>();
  #sum = NOTHING;

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

  of(z: number): Counts {
    return this.#zooms.get(z) ?? NOTHING;
  }

  add(z: number, change: Partial<Counts>): void {
    this.#add(z, change);
  }

  #add(z: number, change: Partial<Counts>): void {
    this.#zooms.set(z, added(this.#zooms.get(z) ?? NOTHING, change));
    this.#sum = added(this.#sum, change);
  }

  /** Raises the total of a zoom if the job has processed more tiles there than were counted. */
  coverWorked(z: number): void {
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
