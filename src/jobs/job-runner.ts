import { setTimeout as sleep } from "node:timers/promises";
import type { Catalogue } from "../layer/catalogue.ts";
import { type Layer, metatileFor } from "../layer/layer.ts";
import type { Logger } from "../lib/logger.ts";
import type { JobOptions } from "../plan/job-options.ts";
import type { JobFilter, JobView, KilledTask, KillScope, SubmittedJob, TaskRow } from "../plan/job-request.ts";
import { type JobTerms, STANDARD_TERMS } from "../plan/job-terms.ts";
import type { StoredMetatilesOf } from "../plan/job-walk.ts";
import { seedRangesOf } from "../plan/seed-ranges.ts";
import { isSuperseded } from "../plan/supersede.ts";
import type { SeedRange } from "../quota/eviction.ts";
import { ActiveJob, type Task } from "./active-job.ts";
import { FairQueue } from "./fair-queue.ts";
import { JobRecords, type JobRecordsParts } from "./job-records.ts";
import type { NewJob, StoredJob } from "./job-store.ts";
import { type JobMetrics, JobTotals } from "./job-totals.ts";
import { listed, viewOf } from "./job-view.ts";

/** The work of one kind of job, done in steps. */
export interface Work {
  /**
   * Works for a while, and only briefly while `crowded` returns true. Returns false if no work is left for this task.
   */
  step(job: ActiveJob, task: Task, signal: AbortSignal, crowded: () => boolean): Promise<boolean>;
}

export interface JobRunnerParts extends JobRecordsParts {
  readonly seeding: Work;
  readonly truncation: Work;
  readonly catalogue: () => Catalogue;
  readonly storedMetatiles: StoredMetatilesOf;
  readonly options: () => JobOptions;
  /** Writes all changes in one transaction. */
  readonly persist: (also?: () => void) => void;
  /**
   * Awaited before a job ends as aborted, after its tasks have stopped: brings the tiles it stored last under the
   * quota.
   */
  readonly beforeAbort: () => Promise<void>;
  /** ms since 1970 by the wall clock. */
  readonly now: () => number;
  readonly log: Logger;
}

/** Thrown by the work of a job to abort the job. The message becomes the job's reason. */
export class JobAborted extends Error {
  override readonly name = "JobAborted";
}

/**
 * Thrown by the work of a job to pause the job until a user has checked its tiles. The message becomes the job's
 * reason.
 */
export class JobSuspension extends Error {
  override readonly name = "JobSuspended";
}

/** Node's timers take at most 2^31 - 1 ms; a longer wait is split. */
const LONGEST_TIMER_MS = 3_600_000;

const endedView = (stored: StoredJob): JobView =>
  viewOf({ ...stored, taskIds: stored.tasks.map((task) => task.id) }, undefined);

/**
 * Runs tasks on the permits that the fair queue gives. A task works in steps. After each step it gives its permit back
 * if another job waits for one, or if the rate limit of its own job is reached.
 */
export class JobRunner {
  readonly records: JobRecords;
  readonly #parts: JobRunnerParts;
  readonly #active = new Map<number, ActiveJob>();
  #ranges: readonly SeedRange[] | undefined;
  readonly #fairQueue: FairQueue;
  /** Runs when the next job that waits for its rate limit may go on. */
  #timer: NodeJS.Timeout | undefined;
  #closing = false;
  /** Ends under way: the tasks have left the lists, but may still be working. */
  readonly #ending = new Set<Promise<unknown>>();
  readonly #totals = new JobTotals();

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
    this.#fairQueue = new FairQueue(parts);
    this.records = new JobRecords(parts, () => this.#active.values());
  }

  /** Resumes the jobs that a restart interrupted. */
  start(): void {
    for (const stored of this.#parts.jobs.unfinished()) {
      const layer = this.#parts.catalogue().layers.get(stored.request.layer);
      const job = this.#add(stored, layer, true);
      job.dirty = true;
      if (job.tasks.length === 0) {
        this.#endLate(job, stored);
        continue;
      }
      if (!job.paused) job.reason = null;
      job.abortedBy = null;
      if (layer === undefined) void this.#abort(job, "the layer has been removed");
    }
    this.#save();
    for (const job of this.live()) void this.supersede(job.id);
    this.#deal();
  }

  /** Ends a job whose last task had left before the server was killed, but whose end was not written. */
  #endLate(job: ActiveJob, { tasks }: StoredJob): void {
    const isDone = job.request.type === "truncate" ? tasks.some(({ state }) => state === "done") : job.isProcessed;
    if (isDone) job.abortedBy = null;
    else job.reason ??= "killed";
    this.#end(job, isDone ? undefined : "aborted");
  }

  #add(stored: StoredJob, layer: Layer | undefined, resumed: boolean): ActiveJob {
    const factors = metatileFor(layer, stored.request.format);
    const job = new ActiveJob(stored, factors, resumed, this.#parts.storedMetatiles, () => this.wake());
    this.#active.set(job.id, job);
    this.#ranges = undefined;
    this.#fairQueue.join(job);
    this.#totals.begin(job);
    return job;
  }

  /**
   * Accepts all jobs or none, in one transaction. The idempotency key is stored with the first job. `also` runs in the
   * same transaction.
   */
  submitAll(made: readonly NewJob[], also?: (jobIds: readonly number[]) => void): SubmittedJob {
    const { jobs, now, persist } = this.#parts;
    const accepted: StoredJob[] = [];
    const nowMs = now();
    persist(() => {
      for (const job of made) accepted.push(this.#insert(job, nowMs, made.length === 1 ? "alone" : accepted[0]?.id));
      const ids = accepted.map(({ id }) => id);
      const [first, ...others] = ids;
      if (first === undefined) return;
      jobs.addBatch(first, others);
      also?.(ids);
    });
    const [first] = accepted;
    if (first === undefined) throw new RangeError("there is no job to submit");
    for (const stored of accepted)
      this.records.made(this.#add(stored, this.#parts.catalogue().layers.get(stored.request.layer), false));
    this.records.tell();
    // Start after the answer has been sent, so that a list requested at once shows every task as accepted.
    setImmediate(() => this.#deal());
    return {
      jobId: first.id,
      jobIds: accepted.map(({ id }) => id),
      taskIds: accepted.flatMap(({ tasks }) => tasks.map(({ id }) => id)),
      known: false,
    };
  }

  /**
   * Inserts a job; must run inside a transaction.
   * @param first the first job of the batch; undefined: this job is the first; "alone": the request creates one job
   */
  #insert(made: NewJob, nowMs: number, first: number | undefined | "alone"): StoredJob {
    const { jobs, announce } = this.#parts;
    const { request, progress, origin, retryOf, schedule, hold } = made;
    const { jobId, taskIds } = jobs.insert(made, nowMs);
    const stored: StoredJob = {
      id: jobId,
      state: "pending",
      request,
      progress,
      createdMs: nowMs,
      startedMs: null,
      endedMs: null,
      tasks: taskIds.map((id) => ({ id, state: "live", processed: 0n })),
      paused: hold === "held",
      createdBy: origin.by,
      retryOf,
      schedule,
      requestedWith: first === "alone" ? null : (first ?? jobId),
      hold,
      terms: request.terms ?? STANDARD_TERMS,
    };
    announce("pending", request.layer, () => viewOf({ ...stored, taskIds }, undefined));
    return stored;
  }

  rows(layer: string | undefined): TaskRow[] {
    const nowMs = this.#parts.monotonicNow();
    return [...this.#active.values()]
      .filter((job) => layer === undefined || job.request.layer === layer)
      .flatMap((job) => job.rows(nowMs))
      .sort((a, b) => a.id - b.id);
  }

  /** Returns the ranges that unfinished seeds store or count as stored. Eviction spares them. */
  seedRanges(): readonly SeedRange[] {
    this.#ranges ??= [...this.#active.values()].flatMap(({ request }) =>
      seedRangesOf(request, this.#parts.catalogue().layers.get(request.layer)),
    );
    return this.#ranges;
  }

  job(id: number): JobView | undefined {
    const active = this.#active.get(id);
    if (active !== undefined) return active.view(this.#parts.monotonicNow());
    const stored = this.#parts.jobs.find(id);
    return stored === undefined ? undefined : endedView(stored);
  }

  list(filter: JobFilter): JobView[] {
    const nowMs = this.#parts.monotonicNow();
    return this.#parts.jobs
      .list(filter)
      .map((stored) => listed(this.#active.get(stored.id)?.view(nowMs) ?? endedView(stored)));
  }

  /**
   * Kills tasks. Once resolved, the tasks have left the list, and nothing more is fetched, written or deleted for them.
   * The same holds for tasks whose end was already under way.
   */
  async kill(
    choose: (job: ActiveJob, task: Task) => boolean,
    by: string | null,
    reason = "killed",
  ): Promise<KilledTask[]> {
    const others = this.ended();
    const killed = await this.#untilEnded(this.#kill(choose, by, reason));
    await others;
    return killed;
  }

  /** Waits until the ends under way are complete. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.#ending]);
  }

  #untilEnded<T>(end: Promise<T>): Promise<T> {
    const ending = end.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    return ending;
  }

  async #kill(
    choose: (job: ActiveJob, task: Task) => boolean,
    by: string | null,
    reason: string,
  ): Promise<KilledTask[]> {
    const killed: KilledTask[] = [];
    const stopping: { readonly job: ActiveJob; readonly task: Task }[] = [];
    const jobs = new Set<ActiveJob>();
    for (const job of this.#active.values()) {
      const chosen = job.tasks.filter((task) => choose(job, task));
      if (chosen.length === 0) continue;
      jobs.add(job);
      // Set now, so that the reason is written with the end of the tasks: the server may be killed before the tasks
      // have stopped.
      if (chosen.length === job.tasks.length) {
        beginEnd(job);
        job.reason = reason;
        job.abortedBy = by;
      }
      for (const task of chosen) {
        killed.push({ id: task.id, layer: job.request.layer, type: job.request.type, status: task.status });
        stopping.push({ job, task });
      }
    }
    await this.#stop(stopping);
    for (const job of jobs) {
      if (job.tasks.length > 0 || job.outcome !== null) continue;
      job.reason = reason;
      job.abortedBy = by;
      this.#end(job, "aborted");
    }
    this.#save();
    this.#deal();
    return killed.sort((a, b) => a.id - b.id);
  }

  /**
   * Kills older seeds and reseeds within this job's range, if the request has `supersede`. Also called at a start, as
   * the server may have been killed between the insert and this call.
   */
  async supersede(id: number): Promise<void> {
    const { request, createdBy } = this.#active.get(id) ?? {};
    if (request?.supersede === undefined) return;
    const filters = this.#parts.catalogue().layers.get(request.layer)?.parameterFilters ?? [];
    await this.kill(
      (other) => other.id < id && isSuperseded(other.request, request, filters),
      createdBy ?? null,
      `superseded by job ${id}`,
    );
  }

  /** Supersedes older jobs for each job of a batch. Once resolved, the superseded jobs do no more work. */
  async supersedeFor(ids: readonly number[]): Promise<void> {
    await Promise.all(ids.map((id) => this.supersede(id)));
  }

  killScope(scope: KillScope, layer: string | undefined, by: string | null): Promise<KilledTask[]> {
    return this.kill(
      (job, task) =>
        (layer === undefined || job.request.layer === layer) &&
        (scope === "all" || (scope === "running") === (task.status === 1)),
      by,
    );
  }

  /** Returns a job that has not ended. */
  active(id: number): ActiveJob | undefined {
    return this.#active.get(id);
  }

  /** Returns all jobs that have not ended, in the order in which they were accepted. */
  live(): ActiveJob[] {
    return [...this.#active.values()];
  }

  /** Changes the terms of a job and persists them. Renders in flight go on. */
  setTerms(job: ActiveJob, terms: JobTerms): void {
    const before = job.terms;
    job.setTerms(terms);
    try {
      this.#parts.persist(() => this.records.saveDirty());
    } catch (error) {
      job.setTerms(before);
      throw error;
    }
    this.wake();
  }

  /**
   * Pauses a job and cancels its requests in flight, as a kill does: once resolved, the upstream gets no more requests
   * from the job. The pause is persisted first, so that the job does not go on after a crash.
   * @param hold `held` if the window of the job or of its schedule has closed
   */
  async pause(job: ActiveJob, reason: string, hold: "held" | null = null): Promise<void> {
    const before = { paused: job.paused, reason: job.reason, hold: job.hold };
    job.paused = true;
    job.reason = reason;
    job.hold = hold;
    job.dirty = true;
    try {
      this.#parts.persist(() => this.records.saveDirty());
    } catch (error) {
      Object.assign(job, before);
      throw error;
    }
    for (const task of job.tasks) {
      if (task.running === undefined) task.status = 0;
      task.abort?.abort(new JobAborted("halted"));
    }
    await this.halted(job);
    // While the tasks stopped, a task may have overwritten the reason, or a user may have resumed the job.
    if (job.outcome !== null || !job.paused) return;
    job.reason = reason;
    job.resumed ||= job.startedMs !== null;
    job.stopClock(this.#parts.monotonicNow());
    job.dirty = true;
    // Save now, so that the answer includes the tiles that were stored last.
    this.#save();
  }

  /** Waits until no task of a paused job runs. If the job was about to end, also waits for the end. */
  async halted(job: ActiveJob): Promise<void> {
    await Promise.all(job.tasks.map((task) => task.running));
    if (job.endsFrom !== undefined) await this.ended();
  }

  /** Starts waiting tasks in a later turn of the event loop, after the answer has been sent. */
  wake(): void {
    setImmediate(() => this.#deal());
  }

  /** Aborts the jobs of layers that the configuration no longer has. */
  async layersChanged(): Promise<void> {
    const { layers } = this.#parts.catalogue();
    for (const job of [...this.#active.values()]) {
      if (!layers.has(job.request.layer)) await this.#abort(job, "the layer has been removed");
    }
    await this.ended();
  }

  /** Removes tasks from their jobs in one transaction, and waits until their loops have ended. */
  async #stop(chosen: readonly { readonly job: ActiveJob; readonly task: Task }[]): Promise<void> {
    for (const { job, task } of chosen) this.#leave(job, task, "aborted");
    this.#save();
    for (const { task } of chosen) task.abort?.abort(new JobAborted("killed"));
    await Promise.all(chosen.map(({ task }) => task.running));
  }

  #leave(job: ActiveJob, task: Task, state: "done" | "aborted"): void {
    const at = job.tasks.indexOf(task);
    if (at < 0) return;
    job.tasks.splice(at, 1);
    job.giveBack(task.claim);
    task.claim = [];
    job.dirty = true;
    this.records.left(task, state);
  }

  /** Saves all changes. If the write fails, a later tick repeats it: the job has ended in memory in any case. */
  #save(): void {
    try {
      this.#parts.persist(() => this.records.saveDirty());
    } catch (error) {
      this.#parts.log.error("the end of a task could not be saved yet", { error: String(error) });
    }
  }

  #abort(job: ActiveJob, reason: string): Promise<void> {
    return this.#untilEnded(this.#abortNow(job, reason));
  }

  async #abortNow(job: ActiveJob, reason: string): Promise<void> {
    // A job without tasks is ended by the call that has removed them: several tasks may reach a limit at once.
    if (job.outcome !== null || job.tasks.length === 0) return;
    beginEnd(job);
    job.reason = reason;
    await this.#stop(job.tasks.map((task) => ({ job, task })));
    await this.#parts.beforeAbort();
    if (job.outcome !== null) return;
    job.reason = reason;
    this.#end(job, "aborted");
    this.#save();
  }

  /** Ends a job in memory and queues the end for the next save. */
  #end(job: ActiveJob, outcome?: "aborted"): void {
    const { now, monotonicNow, log } = this.#parts;
    job.outcome = outcome ?? (job.counts.sum.failed > 0n ? "done_with_failures" : "done");
    if (job.outcome !== "aborted") job.reason = null;
    job.startedMs ??= now();
    job.endedMs = now();
    job.stopClock(monotonicNow());
    job.paused = false;
    job.hold = null;
    this.#totals.end(job);
    this.records.ended(job, job.outcome);
    this.#active.delete(job.id);
    this.#ranges = undefined;
    this.#fairQueue.leave(job);
    log.info("a job has ended", { jobId: job.id, layer: job.request.layer, outcome: job.outcome, reason: job.reason });
  }

  #deal(): void {
    const nowMs = this.#parts.monotonicNow();
    for (let next = this.#nextTurn(nowMs); next !== undefined; next = this.#nextTurn(nowMs)) {
      const { job, task } = next;
      this.#fairQueue.took(job, task);
      const abort = new AbortController();
      task.abort = abort;
      task.status = 1;
      job.startedMs ??= this.#parts.now();
      job.startClock(nowMs);
      job.dirty = true;
      task.running = this.#run(job, task, abort.signal).finally(() => {
        this.#fairQueue.gaveBack(job, task);
        task.running = undefined;
        task.abort = undefined;
        task.status = job.endsFrom === "running" || this.#standsFor(job, task) ? 1 : 0;
        // Save the state: lists filtered by state query the database.
        job.dirty = true;
        this.#deal();
      });
    }
    clearTimeout(this.#timer);
    const waitMs = this.#closing ? undefined : this.#fairQueue.waitMs(nowMs);
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.#deal(), Math.min(waitMs, LONGEST_TIMER_MS));
  }

  #nextTurn(nowMs: number): ReturnType<FairQueue["next"]> {
    return this.#closing ? undefined : this.#fairQueue.next(nowMs);
  }

  /**
   * Returns whether a task without a permit keeps its job listed as running: a job that waits for its rate limit is
   * still at work.
   */
  #standsFor(job: ActiveJob, task: Task): boolean {
    const { tasks, terms, rateLimiter, paused, outcome } = job;
    return (
      !this.#closing &&
      !paused &&
      outcome === null &&
      tasks.includes(task) &&
      tasks.every((other) => other === task || other.status === 0) &&
      rateLimiter.waitMs(terms.rateLimit, this.#parts.monotonicNow()) > 0
    );
  }

  async #run(job: ActiveJob, task: Task, signal: AbortSignal): Promise<void> {
    const work = job.request.type === "truncate" ? this.#parts.truncation : this.#parts.seeding;
    const crowded = (): boolean => this.#fairQueue.crowds(job);
    try {
      // Yield first, so that the answer to the submitter is sent.
      await sleep(0, undefined, { signal });
      while (!signal.aborted) {
        const more = await work.step(job, task, signal, crowded);
        if (signal.aborted) return;
        if (!more) {
          this.#leave(job, task, "done");
          if (job.tasks.length === 0 && job.outcome === null) this.#end(job);
          this.#save();
          return;
        }
        if (this.#closing) return;
        if (crowded() || !job.mayWork(task, this.#parts.monotonicNow())) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      // Not awaited: `pause()` and `#abortNow()` wait for this loop, so awaiting them here would deadlock.
      if (error instanceof JobSuspension) {
        this.pause(job, error.message).catch((fault: unknown) =>
          this.#parts.log.error("a job could not be paused", { jobId: job.id, error: String(fault) }),
        );
        return;
      }
      const reason = error instanceof JobAborted ? error.message : `internal error: ${String(error)}`;
      if (!(error instanceof JobAborted))
        this.#parts.log.error("a job failed by a fault", {
          jobId: job.id,
          error: String(error),
          stack: error instanceof Error ? error.stack : undefined,
        });
      // Must happen before the task's end changes the state of the job.
      beginEnd(job);
      const left = new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      void this.#untilEnded(left.then(() => this.#abortNow(job, reason)));
    } finally {
      job.giveBack(task.claim);
      task.claim = [];
    }
  }

  metrics(): JobMetrics {
    return this.#totals.metrics(this.#active.values());
  }

  /**
   * Starts no more steps and lets steps in flight finish. Cancels steps that are still at work after the grace period.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    const running = [...this.#active.values()].flatMap((job) => job.tasks);
    const timer = setTimeout(() => {
      for (const task of running) task.abort?.abort(new JobAborted("shutting down"));
    }, graceMs);
    await Promise.all(running.map((task) => task.running));
    clearTimeout(timer);
    for (const job of this.#active.values()) job.dirty = true;
    this.#parts.persist(() => this.records.saveDirty());
  }
}

/** Freezes the state of the job as it is now until the job has ended. */
function beginEnd(job: ActiveJob): void {
  const { state } = job;
  if (state === "pending" || state === "running") job.endsFrom ??= state;
}
