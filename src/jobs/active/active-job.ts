import type { Zoom } from "../../grid/grid-set.ts";
import { indexOf } from "../../grid/selection.ts";
import type { TileSelection } from "../../grid/tile-selection.ts";
import type { Counts } from "../../plan/job/job-counts.ts";
import type { JobView, TimeLeft } from "../../plan/job/job-documents.ts";
import type { JobRequest, TaskRow } from "../../plan/job/job-request.ts";
import type { JobTerms } from "../../plan/job/job-terms.ts";
import { type StoredMetatilesOf, walksOf } from "../../plan/order/job-walk.ts";
import { numbersOf } from "../../plan/order/metatile-numbers.ts";
import { type Combination, combinationsOf } from "../../plan/parameters/combination.ts";
import type { JobMoment } from "../job-event.ts";
import { MetatileQueue } from "../queue/metatile-queue.ts";
import type { JobRecord, StoredJob, StoredTask } from "../record/stored-job.ts";
import { viewOf } from "../view/job-view.ts";
import { limitedTime } from "../wait/limited-time.ts";
import { RateLimiter } from "../wait/rate-limit.ts";
import { JobLife, resultOf, type Undo } from "./job-life.ts";
import { JobTally } from "./job-tally.ts";
import { Task } from "./task.ts";

/** A moment on both clocks: ms since 1970, and ms of the monotonic clock. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * A job that has not ended, in memory. Its state changes as `JobLife` describes. A method that changes the job marks it
 * as changed, so that the next save writes it.
 */
export class ActiveJob {
  readonly id: number;
  readonly request: JobRequest;
  readonly createdMs: number;
  readonly createdBy: string | null;
  readonly schedule: string | null;
  /** The id of the first job of its batch. Null if the request created one job. */
  readonly requestedWith: number | null;
  /** The area or list of tiles that limits the job. Undefined: no limit. */
  readonly selection: TileSelection | undefined;
  /** The combinations of parameters that a seed or reseed renders. Empty for a truncate of all stored combinations. */
  readonly combinations: readonly Combination[];
  readonly metatiles: MetatileQueue;
  /** Spreads the job's renders over time if the job has a rate limit. */
  readonly rateLimiter: RateLimiter<Task>;
  #accepted: Omit<JobRecord, "progress">;
  readonly #tasks: Task[];
  readonly #life: JobLife;
  readonly #tally: JobTally;
  #startedMs: number | null;
  #terms: JobTerms;
  /** Why the work cannot continue at present. Undefined if it can. */
  #waitReason: string | undefined;
  #wasInterrupted: boolean;
  #changedBy: string | null = null;
  #isTrusted = false;
  #isChanged: boolean;
  #announced: JobMoment;

  /**
   * @param resumed whether a start of the server read the job from the database
   * @param rendering called when a job with a rate limit begins a render
   */
  constructor(stored: StoredJob, resumed: boolean, storedMetatiles: StoredMetatilesOf, rendering: () => void) {
    const { progress, ...accepted } = stored;
    const { request } = accepted;
    this.id = stored.id;
    this.request = request;
    this.createdMs = stored.createdMs;
    this.createdBy = stored.createdBy;
    this.schedule = stored.schedule;
    this.requestedWith = stored.requestedWith;
    this.#accepted = accepted;
    this.selection = request.selection === undefined ? undefined : indexOf(request.selection);
    this.combinations = combinationsOf(request) ?? [];
    const walks = walksOf(request, this.selection, storedMetatiles);
    this.metatiles = new MetatileQueue(numbersOf(walks, request.order, request.hot), progress.finished);
    this.rateLimiter = new RateLimiter(rendering);
    this.#tasks = stored.tasks.filter(({ state }) => state === "live").map((task) => new Task(task));
    this.#life = new JobLife(stored.paused, stored.hold, progress.reason);
    this.#tally = new JobTally(request, progress, () => this.touch());
    this.#startedMs = stored.startedMs;
    this.#terms = stored.terms;
    this.#wasInterrupted = resumed && stored.startedMs !== null;
    this.#isChanged = resumed;
    this.#announced = this.moment;
  }

  get tasks(): readonly Task[] {
    return this.#tasks;
  }

  /** The counts of the job. A change of them marks the job as changed. */
  get tally(): Omit<JobTally, "startClock" | "stopClock" | "resetRate"> {
    return this.#tally;
  }

  /** The state of the job. Only this class changes it. */
  get life(): Pick<JobLife, "state" | "outcome" | "isEnding" | "isPaused" | "hold"> {
    return this.#life;
  }

  /** Why the job is paused, cannot continue at present, or has its outcome. Null if the job has no such reason. */
  get reason(): string | null {
    return this.#life.isPaused || this.#life.isEnding ? this.#life.reason : this.waitReason;
  }

  /** Why the job cannot continue at present. Null if it can, is paused, or is ending. */
  get waitReason(): string | null {
    return this.#life.isPaused || this.#life.isEnding ? null : (this.#waitReason ?? null);
  }

  get startedMs(): number | null {
    return this.#startedMs;
  }

  get terms(): JobTerms {
    return this.#terms;
  }

  /**
   * The account that last paused or resumed the job. Null if the job was never paused, the server paused or resumed it,
   * or the server had no users.
   */
  get changedBy(): string | null {
    return this.#changedBy;
  }

  /** Whether the job ran before a restart or a pause, so that an unfinished metatile may have been rendered in part. */
  get wasInterrupted(): boolean {
    return this.#wasInterrupted;
  }

  /** Whether a user has resumed the job since the start of the server, so that the seed guard no longer checks it. */
  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  /** Whether there are changes that are not saved. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** The state in webhook terms. A job whose tasks have only briefly given back their permits counts as running. */
  get moment(): Extract<JobMoment, "pending" | "running" | "paused"> {
    if (this.#life.isPaused) return "paused";
    return this.#startedMs === null ? "pending" : "running";
  }

  /** Begins a task that has a permit. `loop` works until its signal is aborted or the task must stop. */
  begin(task: Task, now: Moment, loop: (signal: AbortSignal) => Promise<void>): void {
    this.#startedMs ??= now.wallMs;
    this.#tally.startClock(now.monotonicMs);
    task.begin(loop);
    this.#listByTasks();
  }

  /**
   * Records that the loop of a task has ended.
   * @param staysListed whether the task is listed as running until it begins again
   */
  stop(task: Task, staysListed: boolean): void {
    task.stop(staysListed || (this.#life.isEnding && this.#life.state === "running") ? 1 : 0);
    this.#listByTasks();
  }

  /**
   * Records a changed number of requested tasks.
   * @param added new tasks, which wait for a permit
   */
  setThreadCount(threadCount: number, added: readonly StoredTask[]): void {
    const { request, tasks } = this.#accepted;
    this.#tasks.push(...added.map((task) => new Task(task)));
    this.#accepted = { ...this.#accepted, request: { ...request, threadCount }, tasks: [...tasks, ...added] };
    this.#isChanged = true;
  }

  /** Removes a task, and gives back its unfinished metatiles. Returns false if the task was already removed. */
  remove(task: Task): boolean {
    const at = this.#tasks.indexOf(task);
    if (at < 0) return false;
    this.#tasks.splice(at, 1);
    this.giveBack(task, task.claim);
    this.#listByTasks();
    return true;
  }

  #listByTasks(): void {
    this.#isChanged = true;
    this.#life.list(this.#tasks.some(({ status }) => status === 1) ? "running" : "pending");
  }

  /**
   * Pauses the job. The caller stops the working tasks, and calls `tasksStopped` when they have stopped.
   * @param hold `held` if a window has closed
   * @param by the account that pauses the job; null: the server pauses it, or has no users
   */
  pause(reason: string, hold: "held" | null, by: string | null = null): Undo {
    const undo = this.#life.pause(reason, hold);
    this.#changedBy = by;
    this.#isChanged = true;
    return undo;
  }

  /** Records that all tasks of the paused job have stopped. */
  tasksStopped(nowMs: number): void {
    this.#waitReason = undefined;
    this.#wasInterrupted ||= this.#startedMs !== null;
    this.#tally.stopClock(nowMs);
    this.#isChanged = true;
  }

  /**
   * Resumes the job.
   * @param hold `released` if a window is closed that must not pause the job again
   * @param by the account that resumes the job; null: the server resumes it, or has no users
   */
  resume(hold: "released" | null, by: string | null = null): Undo {
    const undo = this.#life.resume(hold);
    this.#changedBy = by;
    this.#waitReason = undefined;
    this.#isChanged = true;
    return undo;
  }

  /** Records that a user has resumed the job in spite of the seed guard's reason. */
  trust(): void {
    this.#isTrusted = true;
  }

  /**
   * Ends the release: the next window that closes pauses the job again, although a user had released the job from an
   * earlier window.
   */
  endRelease(): void {
    this.#life.endRelease();
    this.#isChanged = true;
  }

  /** Begins to abort the job. Lists show its current state until `end`. A second call replaces reason and user. */
  beginEnd(reason: string, by: string | null): void {
    this.#life.beginEnd(reason, by);
    this.#isChanged = true;
  }

  /** Ends the job: as aborted if its end had begun, otherwise as done. */
  end(now: Moment): void {
    this.#startedMs ??= now.wallMs;
    this.#tally.stopClock(now.monotonicMs);
    this.#life.end(now.wallMs, resultOf(this.request.type, this.#tally));
    this.#isChanged = true;
  }

  /** Sets the start of the job, ms since 1970. Tiles written since then count as tiles of the job. */
  moveStart(ms: number): void {
    this.#startedMs = ms;
    this.#isChanged = true;
  }

  /** Records why the work cannot continue at present. */
  beginWait(reason: string): void {
    this.#waitReason = reason;
    this.#isChanged = true;
  }

  /** Ends the wait with this reason, unless the job now waits for another reason. */
  endWait(reason: string): void {
    if (this.#waitReason === reason) this.#waitReason = undefined;
    this.#isChanged = true;
  }

  setTerms(terms: JobTerms): Undo {
    const before = this.#terms;
    if (terms.rateLimit !== before.rateLimit) this.#tally.resetRate();
    this.#terms = terms;
    this.#isChanged = true;
    return () => {
      this.#terms = before;
    };
  }

  /** Takes the next metatile for a task. Undefined if no metatile is left. */
  take(task: Task): bigint | undefined {
    const n = this.metatiles.take();
    if (n !== undefined) task.take(n);
    return n;
  }

  /**
   * Gives back metatiles of a task. Skips metatiles outside of the task's claim, because a kill has already given them
   * back.
   */
  giveBack(task: Task, metatiles: readonly bigint[]): void {
    this.metatiles.giveBack(task.release(metatiles));
  }

  /**
   * Counts a metatile as finished.
   * @param tiles the number of its counted tiles
   */
  finish(task: Task, n: bigint, z: Zoom, counts: Partial<Counts>, tiles: bigint): void {
    this.#tally.add(z, counts);
    this.metatiles.finish(n);
    task.release([n]);
    task.addProcessed(tiles);
  }

  /** Counts tiles that a truncate has deleted. */
  bookDeleted(task: Task, z: Zoom, deleted: bigint): void {
    this.#tally.add(z, { deleted });
    task.addProcessed(deleted);
  }

  /** Counts all unprocessed tiles as skipped, because they were removed since they were counted. */
  skipRest(task: Task): void {
    task.addProcessed(this.#tally.skipRest());
  }

  /** Marks the job as changed, so that the next save writes it. */
  touch(): void {
    this.#isChanged = true;
  }

  /** Marks the job as saved. The result undoes this if the transaction is rolled back. */
  markSaved(): Undo {
    this.#isChanged = false;
    return () => this.touch();
  }

  /** Marks the current moment as announced to webhooks. Undefined if it was already announced. */
  markAnnounced(): Undo | undefined {
    const before = this.#announced;
    if (before === this.moment) return undefined;
    this.#announced = this.moment;
    return () => {
      this.#announced = before;
    };
  }

  /**
   * Returns whether the rate limit lets a task begin a render now.
   * @param task undefined: any task without a permit
   */
  mayRender(task: Task | undefined, nowMs: number): boolean {
    return this.rateLimiter.isOpen(this.#terms.rateLimit, task, nowMs);
  }

  /**
   * Returns whether a task may run now. If no metatile is left, the rate limit does not delay the task, which then only
   * ends.
   */
  mayWork(task: Task | undefined, nowMs: number): boolean {
    return this.mayRender(task, nowMs) || !this.metatiles.hasNext;
  }

  /**
   * Returns the rows of the live tasks. While all tasks are listed, their totals add up to the job's total
   * (`docs/reference/wire-format.md`, Task list).
   */
  rows(nowMs: number): TaskRow[] {
    const { left } = this.#tally;
    const live = BigInt(this.#tasks.length);
    const remainingSeconds = this.#timeLeft(nowMs)?.seconds ?? -1;
    return this.#tasks.map((task, i) => ({
      processed: task.processed,
      total: task.processed + left / live + (BigInt(i) < left % live ? 1n : 0n),
      remainingSeconds,
      id: task.id,
      status: task.status,
      layer: this.request.layer,
      type: this.request.type,
    }));
  }

  /** Returns the job in its stored form. */
  record(nowMs: number): JobRecord {
    const { reason, startedMs, terms } = this;
    const { finished } = this.metatiles;
    const { state, isPaused: paused, hold, outcome, abortedBy, endedMs } = this.#life;
    const progress = { ...this.#tally.progress(nowMs), finished, reason, outcome, abortedBy };
    return { ...this.#accepted, state, progress, startedMs, endedMs, paused, hold, terms };
  }

  view(nowMs: number): JobView {
    if (this.#life.outcome !== null) return viewOf(this.record(nowMs));
    const tilesPerSecond = this.#tally.rate(nowMs);
    return viewOf(this.record(nowMs), { tilesPerSecond, timeLeft: this.#timeLeft(nowMs) ?? null });
  }

  #timeLeft(nowMs: number): TimeLeft | undefined {
    const measured = this.#tally.timeLeft(nowMs);
    const { rateLimit } = this.#terms;
    if (rateLimit === null || this.#life.isPaused) return measured;
    return limitedTime(measured, this.#tally.left, rateLimit, this.request.type === "reseed");
  }
}
