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

/** What one kind of job does: one chunk of work at a time. */
export interface Work {
  /** Works on for a while, and not for long while it is `crowded`. False: nothing is left for this task. */
  step(job: ActiveJob, task: Task, signal: AbortSignal, crowded: () => boolean): Promise<boolean>;
}

export interface JobRunnerParts extends JobRecordsParts {
  readonly seeding: Work;
  readonly truncation: Work;
  readonly catalogue: () => Catalogue;
  readonly storedMetatiles: StoredMetatilesOf;
  readonly options: () => JobOptions;
  /** Writes everything that changed, in one transaction. */
  readonly persist: (also?: () => void) => void;
  /** Awaited before a job ends as aborted, its tasks stopped: what it stored last is brought under the quota. */
  readonly beforeAbort: () => Promise<void>;
  /** ms since 1970 by the wall clock. */
  readonly now: () => number;
  readonly log: Logger;
}

/** A job that must end: thrown by its work, told as its reason. */
export class JobAborted extends Error {
  override readonly name = "JobAborted";
}

/** A job that somebody must look at before it goes on: thrown by its work, told as its reason. */
export class JobSuspension extends Error {
  override readonly name = "JobSuspended";
}

/** Node's timers know no more than 31 bits. */
const LONGEST_TIMER_MS = 3_600_000;

const endedView = (stored: StoredJob): JobView =>
  viewOf({ ...stored, taskIds: stored.tasks.map((task) => task.id) }, undefined);

/**
 * Lets tasks work on the places that the fair queue deals. A task works in steps; after each it gives its place to a job that
 * waits for one, and one whose rate limit is reached to whoever comes.
 */
export class JobRunner {
  readonly records: JobRecords;
  readonly #parts: JobRunnerParts;
  readonly #active = new Map<number, ActiveJob>();
  #ranges: readonly SeedRange[] | undefined;
  readonly #fairQueue: FairQueue;
  /** For the next job that a rate limit holds back. */
  #timer: NodeJS.Timeout | undefined;
  #closing = false;
  /** Ends that have been asked for: their tasks have left the lists, and may be at work for a moment more. */
  readonly #ending = new Set<Promise<unknown>>();
  readonly #totals = new JobTotals();

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
    this.#fairQueue = new FairQueue(parts);
    this.records = new JobRecords(parts, () => this.#active.values());
  }

  /** Takes up what a restart interrupted. */
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

  /** Its last task had left when the server was killed, and its end was not written yet. */
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

  /** All of them or none, the key with the first. `also`: called in the same transaction. */
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
    // After the answer: the first look at the list shows every task as it was accepted.
    setImmediate(() => this.#deal());
    return {
      jobId: first.id,
      jobIds: accepted.map(({ id }) => id),
      taskIds: accepted.flatMap(({ tasks }) => tasks.map(({ id }) => id)),
      known: false,
    };
  }

  /** Inside a transaction. `first`: of the jobs that are made together; undefined: this one. */
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

  /** What running seeds store or count as stored: for the quota, which spares it. */
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
   * Ends tasks. Once resolved they have left the list, and nothing more is fetched, written or deleted for them, nor for
   * those that somebody else was just ending.
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

  /** Resolves when the ends that are under way have come. */
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
      // Written with the end of the tasks: should the server be killed before they have stopped.
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
   * Ends what a job makes pointless, where that was asked for: older seeds and reseeds within it. At a start too, as a kill
   * may have come between the two.
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

  /** What jobs that were made together make pointless. Once resolved that does no more. */
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

  /** A job that has not ended. */
  active(id: number): ActiveJob | undefined {
    return this.#active.get(id);
  }

  /** All that have not ended, in the order in which they were accepted. */
  live(): ActiveJob[] {
    return [...this.#active.values()];
  }

  /** Persisted first; what is in flight goes on. */
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
   * What is in flight is cancelled, as by a kill: an upstream that needs rest has it once this resolves. Persisted first, so
   * that no crash makes the job go on. `hold`: whether it is the window of its schedule that closes.
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
    // A task may have written what it was waiting for, or somebody has resumed the job meanwhile.
    if (job.outcome !== null || !job.paused) return;
    job.reason = reason;
    job.resumed ||= job.startedMs !== null;
    job.stopClock(this.#parts.monotonicNow());
    job.dirty = true;
    // What was stored last is in the answer.
    this.#save();
  }

  /** Resolves when no task of a paused job runs, and when the job has ended if it was about to end. */
  async halted(job: ActiveJob): Promise<void> {
    await Promise.all(job.tasks.map((task) => task.running));
    if (job.endsFrom !== undefined) await this.ended();
  }

  /** A job may go on: after the answer. */
  wake(): void {
    setImmediate(() => this.#deal());
  }

  /** Jobs of layers that the configuration no longer has end. */
  async layersChanged(): Promise<void> {
    const { layers } = this.#parts.catalogue();
    for (const job of [...this.#active.values()]) {
      if (!layers.has(job.request.layer)) await this.#abort(job, "the layer has been removed");
    }
    await this.ended();
  }

  /** Takes tasks out of their jobs, in one transaction however many they are, and waits until their loops have left. */
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

  /** Writes ends and whatever else is dirty. When the disk refuses, a later tick writes it: the job has ended all the same. */
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
    // Whoever has taken its tasks out ends it, when they have stopped: several may reach a limit at once.
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

  /** To be saved. */
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
        // Lists by state ask the database.
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

  /** A job that its rate limit keeps from rendering is at work all the same: one task without a place stands for it. */
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
      // The submitter's answer goes first.
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
      // Neither is awaited: this loop is one of those that they wait for.
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
      // Before its task is seen to have stopped.
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

  /** Stops dealing and lets steps in flight finish; those still at work after the grace are cancelled. */
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

/** It is as it was until it has ended. */
function beginEnd(job: ActiveJob): void {
  const { state } = job;
  if (state === "pending" || state === "running") job.endsFrom ??= state;
}
