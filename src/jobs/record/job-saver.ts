import { Slices } from "../../lib/process/slices.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { ActiveJobs } from "../active/active-jobs.ts";
import { JobPhases } from "../active/job-phases.ts";
import type { Task } from "../active/task.ts";
import type { JobMoment } from "../job-event.ts";
import type { JobRunnerParts } from "../job-runner-parts.ts";
import { listed } from "../view/job-view.ts";

/** The least time between two reports of a job in which only the counts have changed. */
const COUNTS_REPORTED_MS = 1_000;

/** A reported state, and the time of the report, ms of the monotonic clock. */
interface Report {
  readonly state: string;
  readonly atMs: number;
}

/** Writes the changes of active jobs and reports the saved state. */
export class JobSaver {
  readonly #parts: JobRunnerParts;
  readonly #active: ActiveJobs;
  /** Queued writes for the ends of tasks and jobs, which are not in the database yet. */
  readonly #ends = new Map<ActiveJob, (() => void)[]>();
  /** Jobs that were saved but not reported since. */
  readonly #unreported = new Set<ActiveJob>();
  readonly #lastReports = new WeakMap<ActiveJob, Report>();
  readonly #phases = new JobPhases();

  constructor(parts: JobRunnerParts, active: ActiveJobs) {
    this.#parts = parts;
    this.#active = active;
  }

  /** Queues the report of an accepted job that was inserted. */
  inserted(job: ActiveJob): void {
    this.#phases.inserted(job);
    this.#unreported.add(job);
  }

  /** Queues the end of a task for the next `saveChanges`. */
  taskEnded(job: ActiveJob, task: Task, state: "done" | "aborted"): void {
    this.#queue(job, () => this.#parts.jobs.tasks.save(task.id, state, task.processed));
  }

  /** Queues the end of a job for the next `saveChanges`. */
  jobEnded(job: ActiveJob, outcome: JobMoment): void {
    this.#queue(job, () => {
      this.#saveJob(job);
      this.#parts.announce(outcome, job.request.layer, () => job.view(this.#parts.clock.monotonicNow()));
    });
  }

  #queue(job: ActiveJob, save: () => void): void {
    const ends = this.#ends.get(job);
    if (ends === undefined) this.#ends.set(job, [save]);
    else ends.push(save);
  }

  get needsSave(): boolean {
    return this.#ends.size > 0 || this.#active.all().some(({ isChanged }) => isChanged);
  }

  /** Saves the changes of some jobs, or all changes. Runs inside the caller's transaction. */
  saveChanges(jobs: readonly ActiveJob[] = this.unsaved()): void {
    for (const job of jobs) this.#saveChangesOf(job);
  }

  /** Saves the changes of some jobs now. If that fails, a later save repeats it. */
  save(jobs: readonly ActiveJob[]): void {
    try {
      this.#parts.state.write(() => this.saveChanges(jobs));
    } catch (error) {
      this.notSaved(error);
    }
  }

  /** Logs that a save has failed. The jobs have changed in memory, and a later save repeats the failed one. */
  notSaved(error: unknown): void {
    this.#parts.log.error("the end of a task could not be saved yet", { error: String(error) });
  }

  /**
   * Saves the current changes, in as many transactions as the time slices need. The changes of one job are saved
   * together.
   * @param slices the slices of the caller's work; the first transaction runs in the current slice
   */
  async saveInSlices(slices = new Slices(this.#parts.clock)): Promise<void> {
    const unsaved = this.unsaved();
    let next = 0;
    do {
      if (next > 0) await slices.next();
      this.#parts.state.write(() => {
        do {
          const job = unsaved[next++];
          if (job !== undefined) this.#saveChangesOf(job);
        } while (next < unsaved.length && !slices.isOver);
      });
    } while (next < unsaved.length);
  }

  /** Returns the jobs with unsaved changes. */
  unsaved(): readonly ActiveJob[] {
    return [...new Set([...this.#ends.keys(), ...this.#active.all().filter(({ isChanged }) => isChanged)])];
  }

  #saveChangesOf(job: ActiveJob): void {
    const ends = this.#ends.get(job);
    if (ends !== undefined) {
      this.#ends.delete(job);
      this.#parts.db.onRollback(() => this.#ends.set(job, [...ends, ...(this.#ends.get(job) ?? [])]));
      for (const save of ends) save();
    }
    // An ended job is saved by the write that `jobEnded` has queued.
    if (!job.isChanged || job.life.outcome !== null) return;
    job.tally.sampleRate(this.#parts.clock.monotonicNow());
    this.#saveJob(job);
    this.#announceMoment(job);
    for (const task of job.tasks) this.#saveLive(task);
  }

  #saveJob(job: ActiveJob): void {
    this.#parts.db.onRollback(job.markSaved());
    this.#unreported.add(job);
    this.#parts.jobs.save(job.record(this.#parts.clock.monotonicNow()));
    if (job.life.isEnding) return;
    const { events, undo } = this.#phases.saved(job, this.#parts.clock.now());
    this.#parts.db.onRollback(undo);
    for (const event of events) this.#parts.jobs.timeline.add(job.id, event);
  }

  /** Writes only changed tasks, because a job may have many tasks of which few progress between two saves. */
  #saveLive(task: Task): void {
    const undo = task.markSaved();
    if (undo === undefined) return;
    this.#parts.db.onRollback(undo);
    this.#parts.jobs.tasks.save(task.id, "live", task.processed);
  }

  #announceMoment(job: ActiveJob): void {
    const undo = job.markAnnounced();
    if (undo === undefined) return;
    this.#parts.db.onRollback(undo);
    this.#parts.announce(job.moment, job.request.layer, () => job.view(this.#parts.clock.monotonicNow()));
  }

  /**
   * Reports the saved jobs after a commit. A job in which only the counts changed is reported at most once a second.
   */
  report(): void {
    const nowMs = this.#parts.clock.monotonicNow();
    for (const job of this.#unreported) {
      // The job has changed again since it was saved. It is reported after the next save.
      if (job.isChanged) continue;
      const state = `${job.life.state} ${job.life.isPaused} ${job.life.outcome} ${job.reason}`;
      const last = this.#lastReports.get(job);
      if (last?.state === state && nowMs - last.atMs < COUNTS_REPORTED_MS) continue;
      this.#lastReports.set(job, { state, atMs: nowMs });
      this.#unreported.delete(job);
      this.#parts.report(listed(job.view(nowMs)), job.waitReason);
    }
  }
}
