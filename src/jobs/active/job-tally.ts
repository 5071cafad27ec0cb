import type { Zoom } from "../../grid/grid-set.ts";
import { type Counts, JobCounts, processedTiles } from "../../plan/job/job-counts.ts";
import type { JobError, TimeLeft } from "../../plan/job/job-documents.ts";
import type { JobProgress } from "../../plan/job/job-progress.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";
import { RateMeter } from "../../plan/rate-meter.ts";

/** The most failure classes of which a job stores the first message. */
const MOST_ERROR_CLASSES = 20;

/** The counts of a job that has not ended, with its failures by class, its working time and its rate. */
export class JobTally extends JobCounts {
  readonly #request: Pick<JobRequest, "type" | "onlyExisting">;
  readonly #errors: Map<string, Omit<JobError, "class">>;
  readonly #meter = new RateMeter();
  readonly #changed: () => void;
  #retries: number;
  #workedMs: number;
  /** The time since which the job has been working, ms of the monotonic clock. Undefined while it is not working. */
  #atWorkSinceMs: number | undefined;

  /** @param changed called when numbers have changed that are saved with the job */
  constructor(request: JobRequest, { zooms, errors, retries, workedMs }: JobProgress, changed: () => void) {
    super(zooms);
    this.#changed = changed;
    this.#request = request;
    this.#errors = new Map(errors.map(({ class: name, ...error }) => [name, error]));
    this.#retries = retries;
    this.#workedMs = workedMs;
  }

  get retries(): number {
    return this.#retries;
  }

  /** The failures by class, each with the message and the address of the first failure of the class. */
  get errors(): readonly JobError[] {
    return [...this.#errors].map(([name, error]) => ({ class: name, ...error }));
  }

  get processed(): bigint {
    return processedTiles(this.#request.type, this.sum);
  }

  /** The number of unprocessed tiles. 0 for a truncate that has not started, because its total is unknown. */
  get left(): bigint {
    const { total } = this.sum;
    return total > this.processed ? total - this.processed : 0n;
  }

  override add(z: Zoom, counts: Partial<Counts>): void {
    super.add(z, counts);
    // There may be more tiles than the ledger contained when the job was accepted.
    if (this.#request.onlyExisting === true) this.coverWorked(z);
    this.#changed();
  }

  override coverDeleted(): void {
    super.coverDeleted();
    this.#changed();
  }

  override skipRest(): bigint {
    const skipped = super.skipRest();
    this.#changed();
    return skipped;
  }

  addRetry(): void {
    this.#retries++;
    this.#changed();
  }

  /**
   * Counts failed tiles.
   * @param tile the address of the first failed tile
   */
  addError(name: string, message: string, tiles: number, tile: JobError["tile"]): void {
    const known = this.#errors.get(name);
    if (known !== undefined) this.#errors.set(name, { ...known, count: known.count + tiles });
    else if (this.#errors.size < MOST_ERROR_CLASSES) this.#errors.set(name, { count: tiles, message, tile });
    this.#changed();
  }

  startClock(nowMs: number): void {
    this.#atWorkSinceMs ??= nowMs;
  }

  /** Stops the clock of working time, when the job is paused or has ended. */
  stopClock(nowMs: number): void {
    this.#workedMs = this.#worked(nowMs);
    this.#atWorkSinceMs = undefined;
    this.#meter.reset();
  }

  /** Discards the measured rate, because it does not predict the time left under a changed rate limit. */
  resetRate(): void {
    this.#meter.reset();
  }

  /** Records the progress for the measured rate. Must be called regularly. */
  sampleRate(nowMs: number): void {
    if (this.#atWorkSinceMs !== undefined) this.#meter.sample(nowMs, this.processed);
  }

  /** Returns the tiles per second. Null if unknown. */
  rate(nowMs: number): number | null {
    return this.#meter.rate(nowMs, this.processed) ?? null;
  }

  /** Returns the time left by the measured rate. Undefined if unknown. */
  timeLeft(nowMs: number): TimeLeft | undefined {
    return this.#meter.timeLeft(nowMs, this);
  }

  #worked(nowMs: number): number {
    return this.#workedMs + (this.#atWorkSinceMs === undefined ? 0 : nowMs - this.#atWorkSinceMs);
  }

  /** Returns the part of the stored progress that the tally contains. */
  progress(nowMs: number): Omit<JobProgress, "finished" | "reason" | "outcome" | "abortedBy"> {
    const { zooms, retries, errors } = this;
    return { zooms, retries, errors, workedMs: this.#worked(nowMs) };
  }
}
