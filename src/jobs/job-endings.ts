import type { LayerName } from "../layer/tile-set.ts";
import { Slices } from "../lib/process/slices.ts";
import type { KilledTask, KillScope } from "../plan/job/job-request.ts";
import { isSuperseded } from "../plan/supersede.ts";
import type { ActiveJob } from "./active/active-job.ts";
import type { ActiveJobs } from "./active/active-jobs.ts";
import type { JobTotals } from "./active/job-totals.ts";
import type { Task } from "./active/task.ts";
import type { JobRunnerParts } from "./job-runner-parts.ts";
import type { FairQueue } from "./queue/fair-queue.ts";
import type { JobSaver } from "./record/job-saver.ts";
import type { StoredJob } from "./record/stored-job.ts";
import { JobAborted, LAYER_REMOVED } from "./work.ts";

interface JobEndingsParts extends Pick<JobRunnerParts, "catalogue" | "beforeAbort" | "clock" | "log"> {
  readonly active: ActiveJobs;
  readonly records: JobSaver;
  readonly totals: JobTotals;
  readonly fairQueue: Pick<FairQueue, "leave">;
  /** Gives free permits to waiting tasks. */
  readonly givePermits: () => void;
}

/** The most killed jobs whose ends are saved in one transaction. */
const ENDED_AT_ONCE = 32;

/** Returns whether to kill a task. */
type Choice = (job: ActiveJob, task: Task) => boolean;

/** Ends jobs: by a kill of their tasks, as aborted, or as done. */
export class JobEndings {
  readonly #parts: JobEndingsParts;
  /** The ends in progress. Their tasks have left the lists, but may still work. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** The number of calls that wait for removed tasks of a job to stop. A job ends only when no such call remains. */
  readonly #stopping = new Map<ActiveJob, number>();

  constructor(parts: JobEndingsParts) {
    this.#parts = parts;
  }

  /** Waits until the ends in progress are complete. */
  async complete(): Promise<void> {
    await Promise.allSettled([...this.#underWay]);
  }

  #track<T>(end: Promise<T>): Promise<T> {
    const tracked = end.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
    return tracked;
  }

  /**
   * Kills tasks. When the promise has resolved, the tasks have left the list, and nothing more is fetched, written or
   * deleted for them. This also waits for tasks that another call is ending.
   */
  async kill(choose: Choice, by: string | null, reason = "killed"): Promise<KilledTask[]> {
    const others = this.complete();
    const killed = await this.#track(this.#kill(choose, by, reason));
    await others;
    return killed;
  }

  async #kill(choose: Choice, by: string | null, reason: string): Promise<KilledTask[]> {
    const { active, records, givePermits } = this.#parts;
    const slices = new Slices(this.#parts.clock);
    const chosen = active
      .all()
      .flatMap((job) => job.tasks.filter((task) => choose(job, task)).map((task) => ({ job, task })));
    const killed = chosen.map(({ job, task }) => ({
      id: task.id,
      layer: job.request.layer,
      type: job.request.type,
      status: task.status,
    }));
    const jobs = new Map<ActiveJob, number>();
    for (const { job } of chosen) jobs.set(job, (jobs.get(job) ?? 0) + 1);
    // Begins the end now, so that the reason is saved with the end of the tasks: the server may be killed before the
    // tasks have stopped.
    for (const [job, tasks] of jobs) if (tasks === job.tasks.length) job.beginEnd(reason, by);
    await this.#stop(chosen, slices);
    let ended: ActiveJob[] = [];
    for (const job of jobs.keys()) {
      if (!this.#mayEnd(job)) continue;
      // Two kills may each have removed a part of the tasks. If another task did all the work before the kill, the job
      // is done.
      if (!job.life.isEnding && job.tally.left > 0n) job.beginEnd(reason, by);
      this.#end(job);
      ended.push(job);
      if (ended.length < ENDED_AT_ONCE) continue;
      // Saved before another operation runs, because an ended job is read from the database.
      records.save(ended);
      ended = [];
      if (slices.isOver) await slices.next();
    }
    records.save([...jobs.keys()]);
    givePermits();
    return killed.sort((a, b) => a.id - b.id);
  }

  killScope(scope: KillScope, layer: LayerName | undefined, by: string | null): Promise<KilledTask[]> {
    return this.kill(
      (job, task) =>
        (layer === undefined || job.request.layer === layer) &&
        (scope === "all" || (scope === "running") === (task.status === 1)),
      by,
    );
  }

  /**
   * Cancels older seeds and reseeds within this job's range, if the request has `supersede`. Also called at a start,
   * because the server may have been killed between the insert of the job and this call.
   */
  async supersede(id: number): Promise<void> {
    const { active, catalogue } = this.#parts;
    const { request, createdBy } = active.get(id) ?? {};
    if (request?.supersede === undefined) return;
    const filters = catalogue().layers.get(request.layer)?.parameterFilters ?? [];
    await this.kill(
      (other) => other.id < id && isSuperseded(other.request, request, filters),
      createdBy ?? null,
      `superseded by job ${id}`,
    );
  }

  /**
   * Supersedes older jobs for each job of a batch. When the promise has resolved, the superseded jobs have stopped
   * working.
   */
  async supersedeFor(ids: readonly number[]): Promise<void> {
    await Promise.all(ids.map((id) => this.supersede(id)));
  }

  /** Aborts the jobs of layers that are no longer configured. Returns the number of these jobs. */
  async layersChanged(): Promise<number> {
    const { layers } = this.#parts.catalogue();
    const removed = this.#parts.active.all().filter((job) => !layers.has(job.request.layer));
    const slices = new Slices(this.#parts.clock);
    for (const job of removed) {
      await this.abort(job, LAYER_REMOVED);
      if (slices.isOver) await slices.next();
    }
    await this.complete();
    return removed.length;
  }

  /** Aborts a job. Resolves when its tasks have stopped. */
  abort(job: ActiveJob, reason: string): Promise<void> {
    return this.#track(this.#abort(job, reason));
  }

  /** Aborts a job from the loop of one of its tasks, in a later turn of the event loop, when that loop has ended. */
  abortFromTask(job: ActiveJob, reason: string): void {
    // The end must begin before the task's end changes the state of the job.
    if (!job.life.isEnding) job.beginEnd(reason, null);
    const loopEnded = new Promise<void>((resolve) => {
      this.#parts.clock.soon(resolve);
    });
    void this.#track(loopEnded.then(() => this.#abort(job, reason)));
  }

  async #abort(job: ActiveJob, reason: string): Promise<void> {
    // A job without tasks is ended by the call that removed them, because several tasks may reach a limit at once.
    if (job.life.outcome !== null || job.tasks.length === 0) return;
    job.beginEnd(reason, null);
    await this.#stop(
      job.tasks.map((task) => ({ job, task })),
      new Slices(this.#parts.clock),
    );
    await this.#parts
      .beforeAbort()
      .catch((error: unknown) =>
        this.#parts.log.error("the quota could not be enforced at the end of a job", { error: String(error) }),
      );
    if (!this.#mayEnd(job)) return;
    this.#end(job);
    this.#parts.records.save([job]);
  }

  /**
   * Removes tasks from their jobs, saves that, and waits until the loops of the tasks have ended. All tasks leave their
   * jobs in one turn of the event loop, so that no other call can choose a task again while the changes are saved.
   */
  async #stop(chosen: readonly { readonly job: ActiveJob; readonly task: Task }[], slices: Slices): Promise<void> {
    // All tasks share one error, because making an error takes longer than all other steps of removing a task.
    const killed = new JobAborted("killed");
    const jobs = new Set(chosen.map(({ job }) => job));
    for (const job of jobs) this.#stopping.set(job, (this.#stopping.get(job) ?? 0) + 1);
    for (const { job, task } of chosen) {
      this.#remove(job, task, "aborted");
      task.abort(killed);
    }
    const { records } = this.#parts;
    try {
      await records.saveInSlices(slices).catch((error: unknown) => records.notSaved(error));
      await Promise.all(chosen.map(({ task }) => task.stopped));
    } finally {
      for (const job of jobs) {
        const left = (this.#stopping.get(job) ?? 1) - 1;
        if (left === 0) this.#stopping.delete(job);
        else this.#stopping.set(job, left);
      }
    }
  }

  /**
   * Returns whether a job has neither ended nor a working task. A task that another call has removed may still store
   * tiles; the call that waits for that task ends the job.
   */
  #mayEnd(job: ActiveJob): boolean {
    return job.life.outcome === null && job.tasks.length === 0 && !this.#stopping.has(job);
  }

  #remove(job: ActiveJob, task: Task, state: "done" | "aborted"): void {
    if (job.remove(task)) this.#parts.records.taskEnded(job, task, state);
  }

  /** Ends a task that has found no more work, and the job if the task was its last. */
  taskDone(job: ActiveJob, task: Task): void {
    this.#remove(job, task, "done");
    if (this.#mayEnd(job)) this.#end(job);
    this.#parts.records.save([job]);
  }

  /** Ends a job, at a start, whose last task had left before the server was killed, but whose end was not saved. */
  endLate(job: ActiveJob, { tasks, progress }: StoredJob): void {
    const isDone =
      job.request.type === "truncate" ? tasks.some(({ state }) => state === "done") : job.tally.left === 0n;
    if (!isDone) job.beginEnd(progress.reason ?? "killed", progress.abortedBy);
    this.#end(job);
  }

  /** Ends a job in memory and queues its end for the next save. */
  #end(job: ActiveJob): void {
    const { active, records, totals, fairQueue, clock } = this.#parts;
    job.end({ wallMs: clock.now(), monotonicMs: clock.monotonicNow() });
    const { id } = job;
    const { outcome } = job.life;
    if (outcome === null) throw new Error(`job ${id} has ended without an outcome`);
    totals.end(job);
    records.jobEnded(job, outcome);
    active.remove(job);
    fairQueue.leave(job);
  }
}
