import type { Timer } from "../lib/time/clock.ts";
import { sleep } from "../lib/time/sleep.ts";
import type { SubmittedJob } from "../plan/job/job-request.ts";
import type { JobTerms } from "../plan/job/job-terms.ts";
import { ActiveJob } from "./active/active-job.ts";
import { ActiveJobs } from "./active/active-jobs.ts";
import type { Undo } from "./active/job-life.ts";
import { type JobMetrics, JobTotals } from "./active/job-totals.ts";
import type { Task } from "./active/task.ts";
import { JobEndings } from "./job-endings.ts";
import type { JobRunnerParts } from "./job-runner-parts.ts";
import { LONGEST_TIMER_MS } from "./job-stop.ts";
import { FairQueue } from "./queue/fair-queue.ts";
import { JobSaver } from "./record/job-saver.ts";
import type { NewJob, StoredJob, StoredTask } from "./record/stored-job.ts";
import { viewOf } from "./view/job-view.ts";
import { JobAborted, JobPaused, LAYER_REMOVED } from "./work.ts";

/**
 * Runs tasks on the permits that the fair queue gives. A task works in steps. After each step it gives its permit back
 * if another job waits for a permit, or if the rate limit of its job is reached.
 */
export class JobRunner {
  readonly active: ActiveJobs;
  readonly records: JobSaver;
  readonly endings: JobEndings;
  readonly #parts: JobRunnerParts;
  readonly #fairQueue: FairQueue;
  readonly #totals = new JobTotals();
  /** Fires when the next job that waits for its rate limit may continue. */
  #timer: Timer | undefined;
  #isClosing = false;

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
    this.active = new ActiveJobs(parts);
    this.#fairQueue = new FairQueue(parts);
    this.records = new JobSaver(parts, this.active);
    this.endings = new JobEndings({
      ...parts,
      active: this.active,
      records: this.records,
      totals: this.#totals,
      fairQueue: this.#fairQueue,
      givePermits: () => this.#givePermits(),
    });
  }

  /** Resumes the jobs that a restart interrupted. */
  start(): void {
    for (const stored of this.#parts.jobs.unfinished()) {
      const layer = this.#parts.catalogue().layers.get(stored.request.layer);
      const job = this.#add(stored, true);
      if (job.tasks.length === 0) this.endings.endLate(job, stored);
      else if (layer === undefined) void this.endings.abort(job, LAYER_REMOVED);
    }
    for (const job of this.active.all()) this.#parts.takenUp(job.view(this.#parts.clock.monotonicNow()));
    this.records.save(this.records.unsaved());
    for (const job of this.active.all()) void this.endings.supersede(job.id);
    this.#givePermits();
  }

  #add(stored: StoredJob, resumed: boolean): ActiveJob {
    const job = new ActiveJob(stored, resumed, this.#parts.storedMetatiles, () => this.startWaitingTasks());
    this.active.add(job);
    this.#fairQueue.join(job);
    this.#totals.begin(job);
    return job;
  }

  /**
   * Accepts all jobs of a request or none, in one transaction. The idempotency key is stored with the first job.
   * @param also runs in the same transaction
   */
  submitAll(newJobs: readonly NewJob[], also?: (jobIds: readonly number[]) => void): SubmittedJob {
    const { jobs, announce, clock, state } = this.#parts;
    let inserted: readonly StoredJob[] = [];
    const nowMs = clock.now();
    state.write(() => {
      inserted = jobs.insertAll(newJobs, nowMs);
      for (const job of inserted) announce("pending", job.request.layer, () => viewOf(job));
      if (inserted.length > 0) also?.(inserted.map(({ id }) => id));
    });
    const [first] = inserted;
    if (first === undefined) throw new RangeError("there is no job to submit");
    for (const stored of inserted) this.records.inserted(this.#add(stored, false));
    this.records.report();
    // Starts after the answer has been sent, so that a list requested at once shows every task as accepted.
    this.startWaitingTasks();
    return {
      jobId: first.id,
      jobIds: inserted.map(({ id }) => id),
      taskIds: inserted.flatMap(({ tasks }) => tasks.map(({ id }) => id)),
      known: false,
    };
  }

  /** Changes the terms of a job and saves them. Renders in progress continue. */
  setTerms(job: ActiveJob, terms: JobTerms): void {
    this.#persistOrUndo(job, job.setTerms(terms));
    this.startWaitingTasks();
  }

  /**
   * Adds tasks to a job, or kills its last tasks, whose work the remaining tasks take over. Does nothing if the job is
   * ending. Reduces the number to the limit of one request.
   */
  async setThreadCount(job: ActiveJob, requested: number): Promise<void> {
    if (job.life.isEnding) return;
    const { jobs, options, state } = this.#parts;
    const count = Math.min(requested, options().maxThreadCount);
    let added: readonly StoredTask[] = [];
    state.write(() => {
      added = jobs.setThreadCount(job.id, count, Math.max(0, count - job.tasks.length));
    });
    job.setThreadCount(count, added);
    this.startWaitingTasks();
    const kept = new Set(job.tasks.slice(0, count));
    if (kept.size < job.tasks.length) await this.endings.kill((other, task) => other === job && !kept.has(task), null);
  }

  /**
   * Resumes a paused job. The change is saved before the job continues. Does nothing if the job is ending.
   * @param hold `released` if a window is closed that must not pause the job again
   * @param by the account that resumes it
   */
  resume(job: ActiveJob, hold: "released" | null, by: string | null = null): void {
    if (job.life.isEnding) return;
    this.#persistOrUndo(job, job.resume(hold, by));
    this.startWaitingTasks();
  }

  /**
   * Pauses a job and cancels its requests in progress, as a kill does: when the promise has resolved, the upstream gets
   * no more requests from the job. The pause is saved first, so that the job does not continue after a crash. If the
   * job is ending, waits for its end instead.
   * @param hold `held` if the window of the job or of its schedule has closed
   * @param by the account that pauses it
   */
  async pause(job: ActiveJob, reason: string, hold: "held" | null = null, by: string | null = null): Promise<void> {
    if (job.life.isEnding) return this.stopped(job);
    this.#persistOrUndo(job, job.pause(reason, hold, by));
    for (const task of job.tasks) {
      if (!task.isAtWork) job.stop(task, false);
      task.abort(new JobAborted("paused"));
    }
    await this.stopped(job);
    // While the tasks stopped, a user may have resumed or cancelled the job.
    if (job.life.isEnding || !job.life.isPaused) return;
    job.tasksStopped(this.#parts.clock.monotonicNow());
    // Saved now, so that the answer includes the tiles that were stored last.
    this.records.save([job]);
  }

  /** Waits until no task of a paused job runs. If the job is ending, also waits for its end. */
  async stopped(job: ActiveJob): Promise<void> {
    await Promise.all(job.tasks.map((task) => task.stopped));
    if (job.life.isEnding) await this.endings.complete();
  }

  #persistOrUndo(job: ActiveJob, undo: Undo): void {
    try {
      this.#parts.state.write(() => this.records.saveChanges([job]));
    } catch (error) {
      undo();
      throw error;
    }
  }

  /** Starts waiting tasks in a later turn of the event loop, after the answer has been sent. */
  startWaitingTasks(): void {
    this.#parts.clock.soon(() => this.#givePermits());
  }

  /** Gives the free permits to waiting tasks, and sets the timer for jobs that wait for their rate limit. */
  #givePermits(): void {
    const nowMs = this.#parts.clock.monotonicNow();
    for (let next = this.#nextTurn(nowMs); next !== undefined; next = this.#nextTurn(nowMs)) {
      const { job, task } = next;
      this.#fairQueue.took(job, task);
      job.begin(task, { wallMs: this.#parts.clock.now(), monotonicMs: nowMs }, (signal) =>
        this.#run(job, task, signal).finally(() => {
          this.#fairQueue.gaveBack(job, task);
          job.stop(task, this.#staysListed(job, task));
          this.#givePermits();
        }),
      );
    }
    this.#timer?.cancel();
    const waitMs = this.#isClosing ? undefined : this.#fairQueue.waitMs(nowMs);
    if (waitMs !== undefined)
      this.#timer = this.#parts.clock.after(Math.min(waitMs, LONGEST_TIMER_MS), () => this.#givePermits());
  }

  #nextTurn(nowMs: number): ReturnType<FairQueue["next"]> {
    return this.#isClosing ? undefined : this.#fairQueue.next(nowMs);
  }

  /**
   * Returns whether a task without a permit keeps its job listed as running, because the job only waits for its rate
   * limit.
   */
  #staysListed(job: ActiveJob, task: Task): boolean {
    const { tasks, terms, rateLimiter, life } = job;
    return (
      !this.#isClosing &&
      !life.isPaused &&
      !life.isEnding &&
      tasks.includes(task) &&
      tasks.every((other) => other === task || other.status === 0) &&
      rateLimiter.waitMs(terms.rateLimit, this.#parts.clock.monotonicNow()) > 0
    );
  }

  async #run(job: ActiveJob, task: Task, signal: AbortSignal): Promise<void> {
    try {
      // Yields first, so that the answer to the submitter is sent.
      await sleep(this.#parts.clock, 0, signal);
      await this.#work(job, task, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(job, error);
    } finally {
      job.giveBack(task, task.claim);
    }
  }

  /** Works step by step until the task has no more work or must give back its permit. */
  async #work(job: ActiveJob, task: Task, signal: AbortSignal): Promise<void> {
    const work = job.request.type === "truncate" ? this.#parts.truncation : this.#parts.seeding;
    const crowded = (): boolean => this.#fairQueue.crowds(job);
    while (!signal.aborted) {
      const hasMore = await work.step(job, task, signal, crowded);
      if (signal.aborted) return;
      if (!hasMore) {
        this.endings.taskDone(job, task);
        return;
      }
      if (this.#isClosing || crowded() || !job.mayWork(task, this.#parts.clock.monotonicNow())) return;
    }
  }

  /**
   * Pauses or aborts a job whose work has thrown. Not awaited: `pause` and `abort` wait for the loop that calls this
   * method.
   */
  #failed(job: ActiveJob, error: unknown): void {
    const { log } = this.#parts;
    if (error instanceof JobPaused) {
      this.pause(job, error.message).catch((fault: unknown) =>
        log.error("a job could not be paused", { jobId: job.id, error: String(fault) }),
      );
      return;
    }
    if (!(error instanceof JobAborted))
      log.error("a job failed by a fault", {
        jobId: job.id,
        error: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      });
    this.endings.abortFromTask(job, error instanceof JobAborted ? error.message : `internal error: ${String(error)}`);
  }

  metrics(): JobMetrics {
    return this.#totals.metrics(this.active.all());
  }

  /**
   * Starts no more steps and lets steps in progress finish. Cancels steps that are not finished after the grace period.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#timer?.cancel();
    const running = this.active.all().flatMap((job) => job.tasks);
    const timer = this.#parts.clock.after(graceMs, () => {
      for (const task of running) task.abort(new JobAborted("shutting down"));
    });
    await Promise.all(running.map((task) => task.stopped));
    timer.cancel();
    for (const job of this.active.all()) job.touch();
    this.#parts.state.write(() => this.records.saveChanges());
  }
}
