import { indexOf } from "../grid/selection.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import { IntervalSet } from "../lib/interval-set.ts";
import { type Combination, combinationsOf } from "../plan/combination.ts";
import { JobCounts } from "../plan/job-counts.ts";
import { countsProgress, type JobProgress } from "../plan/job-progress.ts";
import type { JobError, JobRequest, JobView, TaskRow, WindowHold } from "../plan/job-request.ts";
import type { JobTerms } from "../plan/job-terms.ts";
import { type JobWalk, type StoredMetatilesOf, walksOf } from "../plan/job-walk.ts";
import { type JobNumbers, numbersOf } from "../plan/metatile-numbers.ts";
import { RateMeter, type TimeLeft } from "../plan/rate-meter.ts";
import { LONGEST_RUN, RunLength } from "./batch-size.ts";
import type { JobMoment } from "./job-event.ts";
import type { StoredJob } from "./job-store.ts";
import { viewOf } from "./job-view.ts";
import { limitedTime } from "./limited-time.ts";
import { RateLimiter } from "./rate-limit.ts";
import type { SeedGuard } from "./seed-guard.ts";

/** One of a job's parallel workers: a row of the classic task list. */
export interface Task {
  readonly id: number;
  status: 0 | 1;
  processed: bigint;
  /** `processed` as the database has it. */
  saved: bigint;
  /** Numbers of the metatiles that the task has taken and not finished. */
  claim: bigint[];
  abort: AbortController | undefined;
  /** Resolves when the task's loop has ended. Undefined while the task does not run. */
  running: Promise<void> | undefined;
}

/** The most times that `take` skips to the next metatile that may be wanted before it returns one. */
const MOST_LEAPS = 8;

/** How often a metatile has been requested, and whether the next failure is the metatile's own and not an outage's. */
export interface Tries {
  readonly attempts: number;
  readonly lastChance: boolean;
}

/** What a metatile number stands for: the tile set, the combination, the walk and the number within the walk. */
export interface Located extends Pick<JobWalk, "tileSet" | "combination" | "walk"> {
  readonly local: bigint;
}

/** The number of failure classes of which a job stores the first message. */
const ERROR_CLASSES_KEPT = 20;

/**
 * A job that has not ended, in memory.

 * States: pending → running when the job's first task starts. Running → pending at a restart and when the job is
 * paused. → done when the last task finds no work. → aborted by a kill of the last task, by the failure limit, by the
 * removal of the layer, or by an outage that lasts. `JobRunner.#end` alone sets the outcome.
 */
export class ActiveJob {
  readonly id: number;
  readonly request: JobRequest;
  readonly createdMs: number;
  readonly createdBy: string | null;
  readonly retryOf: number | null;
  readonly schedule: string | null;
  readonly requestedWith: number | null;
  readonly taskIds: readonly number[];
  /** The job ran before a restart or a pause, so an unfinished metatile may have been rendered in part. */
  resumed: boolean;
  /** The area or list of tiles that limits the job. Undefined: no limit. */
  readonly selection: TileSelection | undefined;
  /** The combinations of parameters that a seed or reseed renders. Empty: a truncate of all stored combinations. */
  readonly combinations: readonly Combination[];
  readonly #numbers: JobNumbers;
  readonly finished: IntervalSet;
  readonly tasks: Task[];
  startedMs: number | null;
  /** Set by a reseed: resolves when tiles of renders that began before the reseed can no longer be stored. */
  overtaken: Promise<void> | undefined;
  endedMs: number | null = null;
  outcome: JobProgress["outcome"] = null;
  reason: string | null = null;
  abortedBy: string | null = null;
  /** The fair queue gives no permit to a task of a paused job. */
  paused: boolean;
  hold: WindowHold | null;
  terms: JobTerms;
  /** Spreads the job's renders over time if the job has a rate limit. */
  readonly rateLimiter: RateLimiter<Task>;
  readonly runLength = new RunLength();
  /** The attempts of metatiles that the rate limit has put off between two attempts. */
  readonly tries = new Map<bigint, Tries>();
  readonly counts: JobCounts;
  retries: number;
  readonly errors: Map<string, { count: number; message: string; tile: readonly [number, number, number] | null }>;
  dirty = false;
  /** The moment that was last announced to webhooks. */
  announced: Extract<JobMoment, "pending" | "running" | "paused">;
  /**
   * The state of the job when its end began; the end takes until the tasks have stopped. Undefined: the job goes on.
   */
  endsFrom: "pending" | "running" | undefined;
  /** The status that was last reported, and when. */
  told: { readonly renderStatus: string; readonly ms: number } | undefined;
  /** A metatile that the upstream has rendered. Probes of the upstream request this metatile. */
  lastGood: bigint | undefined;
  outage: Promise<"alive" | "was_down"> | undefined;
  /** The wait for the store that all tasks of the job share. */
  storeWait: Promise<void> | undefined;
  /** Since when the store has failed every write of the job, ms by the monotonic clock. */
  storeAwaySinceMs: number | undefined;
  /** Checks the tiles that the job stores, if the layer has a seed guard. */
  guard: SeedGuard | undefined;
  /** A user has resumed the job since the start of the server, so the seed guard no longer checks the job. */
  isLookedAt = false;
  /** Since when there has been no room for the job's tiles, ms by the monotonic clock. */
  noRoomSinceMs: number | undefined;
  #cursor = 0n;
  readonly #returned: bigint[] = [];
  readonly #meter = new RateMeter();
  #workedMs: number;
  /** Since when the job has been at work, ms by the monotonic clock. Undefined while it is not at work. */
  #atWorkSinceMs: number | undefined;

  /** `drawing`: called when a job with a rate limit begins a render. */
  constructor(
    stored: StoredJob,
    metatileFactors: readonly [number, number],
    resumed: boolean,
    storedMetatiles: StoredMetatilesOf,
    drawing: () => void,
  ) {
    const { progress, request } = stored;
    this.terms = stored.terms;
    this.rateLimiter = new RateLimiter(drawing);
    this.id = stored.id;
    this.request = request;
    this.createdMs = stored.createdMs;
    this.createdBy = stored.createdBy;
    this.retryOf = stored.retryOf;
    this.schedule = stored.schedule;
    this.requestedWith = stored.requestedWith;
    this.paused = stored.paused;
    this.hold = stored.hold;
    this.startedMs = stored.startedMs;
    this.announced = this.moment;
    this.resumed = resumed && stored.startedMs !== null;
    this.taskIds = stored.tasks.map((t) => t.id);
    this.tasks = stored.tasks
      .filter((t) => t.state === "live")
      .map(({ id, processed }) => ({
        id,
        status: 0,
        processed,
        saved: processed,
        claim: [],
        abort: undefined,
        running: undefined,
      }));
    this.selection = request.selection === undefined ? undefined : indexOf(request.selection);
    this.combinations = combinationsOf(request) ?? [];
    const walks = walksOf(request, metatileFactors, this.selection, storedMetatiles);
    this.#numbers = numbersOf(walks, request.order, request.hot);
    this.finished = IntervalSet.from(progress.finished);
    this.counts = JobCounts.from(progress.zooms);
    this.#workedMs = progress.workedMs;
    this.retries = progress.retries;
    this.errors = new Map(progress.errors.map((e) => [e.class, { count: e.count, message: e.message, tile: e.tile }]));
    this.reason = progress.reason;
    this.abortedBy = progress.abortedBy;
  }

  get metatiles(): bigint {
    return this.#numbers.count;
  }

  get processed(): bigint {
    const { deleted, stored, skipped, unchanged, failed } = this.counts.sum;
    return this.request.type === "truncate" ? deleted : stored + skipped + unchanged + failed;
  }

  /** Whether all tiles are processed. Not meaningful for a truncate, whose total is counted only when it starts. */
  get isProcessed(): boolean {
    return this.#left === 0n;
  }

  get #left(): bigint {
    const { total } = this.counts.sum;
    return total > this.processed ? total - this.processed : 0n;
  }

  get state(): "pending" | "running" | "done" | "aborted" {
    if (this.outcome !== null) return this.outcome === "aborted" ? "aborted" : "done";
    return this.endsFrom ?? (this.tasks.some((t) => t.status === 1) ? "running" : "pending");
  }

  /**
   * Returns the state in the words of webhooks. A job whose tasks have given back their permits for a moment is
   * running.
   */
  get moment(): Extract<JobMoment, "pending" | "running" | "paused"> {
    if (this.paused) return "paused";
    return this.startedMs === null ? "pending" : "running";
  }

  locate(n: bigint): Located {
    const { at, local } = this.#numbers.placeOf(n);
    const { tileSet, combination, walk } = at;
    return { tileSet, combination, walk, local };
  }

  /** Takes the next metatile that no task has taken. Undefined: none is left. */
  take(): bigint | undefined {
    const again = this.#returned.shift();
    if (again !== undefined) return again;
    const next = this.#nextWanted();
    if (next >= this.metatiles) {
      this.#cursor = this.metatiles;
      return undefined;
    }
    this.#cursor = next + 1n;
    return next;
  }

  /**
   * Returns the next metatile at or after the cursor. Marks the metatiles that it skips as finished, so that `finished`
   * stays a few intervals. After `MOST_LEAPS` skips it returns a metatile in which nothing may be wanted, so that the
   * search does not block the other jobs.
   */
  #nextWanted(): bigint {
    let next = this.finished.nextMissing(this.#cursor);
    for (let leaps = 0; next < this.metatiles && leaps < MOST_LEAPS; leaps++) {
      const wanted = this.#numbers.next(next);
      if (wanted === next) break;
      this.finished.addRange(next, wanted);
      next = this.finished.nextMissing(wanted);
    }
    return next;
  }

  /** Returns whether the rate limit lets a task begin a render now. `task` undefined: any task without a permit. */
  mayRender(task: Task | undefined, nowMs: number): boolean {
    return this.rateLimiter.isOpen(this.terms.rateLimit, task, nowMs);
  }

  /**
   * Returns whether a task may run now. When no metatile is left, the rate limit does not delay the task, which then
   * only ends.
   */
  mayWork(task: Task | undefined, nowMs: number): boolean {
    return this.mayRender(task, nowMs) || (this.#returned.length === 0 && this.#nextWanted() >= this.metatiles);
  }

  /**
   * Sets the terms. A rate that was measured under another rate limit does not predict the time left, so it is
   * discarded.
   */
  setTerms(terms: JobTerms): void {
    if (terms.rateLimit !== this.terms.rateLimit) this.#meter.reset();
    this.terms = terms;
    this.dirty = true;
  }

  giveBack(numbers: readonly bigint[]): void {
    this.#returned.push(...numbers);
  }

  /** Takes a metatile that was given back and that no task has taken since. Returns false if there is none. */
  takeBack(n: bigint): boolean {
    const at = this.#returned.indexOf(n);
    if (at >= 0) this.#returned.splice(at, 1);
    return at >= 0;
  }

  /**
   * Returns how many metatiles a task takes at once: few when little is left, so that all tasks have work to the end.
   */
  get claimSize(): number {
    const left = this.metatiles - this.#cursor + BigInt(this.#returned.length);
    const share = left / BigInt(Math.max(1, this.tasks.length) * 4);
    return share > BigInt(LONGEST_RUN) ? LONGEST_RUN : share < 1n ? 1 : Number(share);
  }

  noteError(failure: string, message: string, tiles: number, tile: readonly [number, number, number] | null): void {
    const known = this.errors.get(failure);
    if (known !== undefined) known.count += tiles;
    else if (this.errors.size < ERROR_CLASSES_KEPT) this.errors.set(failure, { count: tiles, message, tile });
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

  /** Records the progress for the measured rate. Must be called at intervals. */
  sampleRate(nowMs: number): void {
    if (this.#atWorkSinceMs !== undefined) this.#meter.sample(nowMs, this.processed);
  }

  #worked(nowMs: number): number {
    return this.#workedMs + (this.#atWorkSinceMs === undefined ? 0 : nowMs - this.#atWorkSinceMs);
  }

  /**
   * Returns the rows of the live tasks. While all tasks are listed, their totals add up to the job's total
   * (`docs/reference/wire-format.md`, Task list).
   */
  rows(nowMs: number): TaskRow[] {
    const left = this.#left;
    const live = BigInt(this.tasks.length);
    const remainingSeconds = this.#timeLeft(nowMs)?.seconds ?? -1;
    return this.tasks.map((task, i) => ({
      processed: task.processed,
      total: task.processed + left / live + (BigInt(i) < left % live ? 1n : 0n),
      remainingSeconds,
      id: task.id,
      status: task.status,
      layer: this.request.layer,
      type: this.request.type,
    }));
  }

  progress(nowMs: number): JobProgress {
    return {
      ...countsProgress(this.counts),
      retries: this.retries,
      finished: this.finished.toJSON(),
      errors: this.errorList(),
      reason: this.reason,
      outcome: this.outcome,
      abortedBy: this.abortedBy,
      workedMs: this.#worked(nowMs),
    };
  }

  errorList(): JobError[] {
    return [...this.errors].map(([name, e]) => ({ class: name, ...e }));
  }

  view(nowMs: number): JobView {
    const job = { ...this, state: this.state, progress: this.progress(nowMs) };
    if (this.outcome !== null) return viewOf(job, undefined);
    return viewOf(job, {
      tilesPerSecond: this.#meter.rate(nowMs, this.processed) ?? null,
      timeLeft: this.#timeLeft(nowMs) ?? null,
    });
  }

  #timeLeft(nowMs: number): TimeLeft | undefined {
    const measured = this.#meter.timeLeft(nowMs, this.processed, this.#left);
    const { rateLimit } = this.terms;
    if (rateLimit === null || this.paused) return measured;
    return limitedTime(measured, this.#left, rateLimit, this.request.type === "reseed");
  }
}
