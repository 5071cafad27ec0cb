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

/** One of a job's parallel workers: a row of the classic list. */
export interface Task {
  readonly id: number;
  status: 0 | 1;
  processed: bigint;
  /** `processed` as it is on the disk. */
  saved: bigint;
  /** Metatile numbers it has taken and not finished. */
  claim: bigint[];
  abort: AbortController | undefined;
  /** Resolves when the task's loop has left; undefined while it does not run. */
  running: Promise<void> | undefined;
}

/** From one metatile to the next that may be wanted, before somebody looks whether it is. */
const MOST_LEAPS = 8;

/** How often a metatile has been asked for, and whether it is to blame if that fails once more. */
export interface Tries {
  readonly attempts: number;
  readonly lastChance: boolean;
}

/** Where a metatile number leads. */
export interface Located extends Pick<JobWalk, "tileSet" | "combination" | "walk"> {
  readonly local: bigint;
}

/** Kinds of failure that are kept with their first message. */
const ERROR_CLASSES_KEPT = 20;

/**
 * A job that has not ended, in memory.
 *
 * States: pending → running when its first task starts; running → pending at a restart and when it is paused; → done when its last task finds no
 * work; → aborted by kill of its last task, by the failure limit, by its layer's removal, or by an outage that lasts.
 * `JobRunner.#end` alone makes the last move.
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
  /** It ran before a restart or a pause: what is unfinished may have been done in part. */
  resumed: boolean;
  /** What its rectangles are limited to; undefined: nothing. */
  readonly selection: TileSelection | undefined;
  /** What a seed or reseed renders; none: it is a truncate of what is kept. */
  readonly combinations: readonly Combination[];
  readonly #numbers: JobNumbers;
  readonly finished: IntervalSet;
  readonly tasks: Task[];
  startedMs: number | null;
  /** Of a reseed: pictures that were asked for before it are not kept any more. */
  overtaken: Promise<void> | undefined;
  endedMs: number | null = null;
  outcome: JobProgress["outcome"] = null;
  reason: string | null = null;
  abortedBy: string | null = null;
  /** None of its tasks is dealt a place. */
  paused: boolean;
  hold: WindowHold | null;
  terms: JobTerms;
  /** Spreads its renders where it has a rate limit. */
  readonly rateLimiter: RateLimiter<Task>;
  readonly runLength = new RunLength();
  /** Of metatiles that a rate limit has put off between two attempts. */
  readonly tries = new Map<bigint, Tries>();
  readonly counts: JobCounts;
  retries: number;
  readonly errors: Map<string, { count: number; message: string; tile: readonly [number, number, number] | null }>;
  dirty = false;
  /** What webhooks were told of it last. */
  announced: Extract<JobMoment, "pending" | "running" | "paused">;
  /** Its state when its end began, which takes until its tasks have left; undefined: it goes on. */
  endsFrom: "pending" | "running" | undefined;
  /** What was told of it last, and when. */
  told: { readonly renderStatus: string; readonly ms: number } | undefined;
  /** A metatile that the upstream has answered: what a probe of it asks for. */
  lastGood: bigint | undefined;
  outage: Promise<"alive" | "was_down"> | undefined;
  /** All its tasks wait for the store together. */
  storeWait: Promise<void> | undefined;
  /** Since when the store has kept nothing of it, ms. */
  storeAwaySinceMs: number | undefined;
  /** Looks at what it stores, where the layer asks for that. */
  guard: SeedGuard | undefined;
  /** Somebody has resumed it since the start of the server: it is no longer guarded. */
  isLookedAt = false;
  /** Since when there has been no room for its tiles. */
  noRoomSinceMs: number | undefined;
  #cursor = 0n;
  readonly #returned: bigint[] = [];
  readonly #meter = new RateMeter();
  #workedMs: number;
  /** Since when it has been at work; undefined while it is not. */
  #atWorkSinceMs: number | undefined;

  /** `rendering`: called when something is rendered for one that has a rate limit. */
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

  /** Nothing of it is left to do; of a truncate nobody knows. */
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

  /** How it stands with it, in the words of webhooks: a task that yields its place for a moment is at work. */
  get moment(): Extract<JobMoment, "pending" | "running" | "paused"> {
    if (this.paused) return "paused";
    return this.startedMs === null ? "pending" : "running";
  }

  locate(n: bigint): Located {
    const { at, local } = this.#numbers.placeOf(n);
    const { tileSet, combination, walk } = at;
    return { tileSet, combination, walk, local };
  }

  /** The next metatile that nobody has taken, taken. */
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
   * From the cursor on. What lies between is finished as it is: so what is finished stays a few intervals. After some leaps
   * it is a metatile of which nothing may be wanted: whoever looks at it lets others have their turn.
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

  /** Whether something may be rendered now for a task; undefined: for one that has no place yet. */
  mayRender(task: Task | undefined, nowMs: number): boolean {
    return this.rateLimiter.isOpen(this.terms.rateLimit, task, nowMs);
  }

  /** The same; and when nothing is left to take a task has only to learn it. */
  mayWork(task: Task | undefined, nowMs: number): boolean {
    return this.mayRender(task, nowMs) || (this.#returned.length === 0 && this.#nextWanted() >= this.metatiles);
  }

  /** What was measured under another limit says nothing of the time that is left. */
  setTerms(terms: JobTerms): void {
    if (terms.rateLimit !== this.terms.rateLimit) this.#meter.reset();
    this.terms = terms;
    this.dirty = true;
  }

  giveBack(numbers: readonly bigint[]): void {
    this.#returned.push(...numbers);
  }

  /** Takes one that was given back and that nobody has taken since; false: there is no such one. */
  takeBack(n: bigint): boolean {
    const at = this.#returned.indexOf(n);
    if (at >= 0) this.#returned.splice(at, 1);
    return at >= 0;
  }

  /** How many metatiles a task takes at once: few when little is left, so that all tasks have work to the end. */
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

  /** It is paused or has ended. */
  stopClock(nowMs: number): void {
    this.#workedMs = this.#worked(nowMs);
    this.#atWorkSinceMs = undefined;
    this.#meter.reset();
  }

  /** To be told now and then how far it is. */
  sampleRate(nowMs: number): void {
    if (this.#atWorkSinceMs !== undefined) this.#meter.sample(nowMs, this.processed);
  }

  #worked(nowMs: number): number {
    return this.#workedMs + (this.#atWorkSinceMs === undefined ? 0 : nowMs - this.#atWorkSinceMs);
  }

  /** The rows of the live tasks: while all are listed, their totals add up to the job's (`docs/reference/wire-format.md`, Task list). */
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
