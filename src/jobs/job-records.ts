import type { JobView } from "../plan/job-request.ts";
import type { ActiveJob, Task } from "./active-job.ts";
import type { JobMoment } from "./job-event.ts";
import type { JobStore } from "./job-store.ts";
import { listed } from "./job-view.ts";

export interface JobRecordsParts {
  readonly jobs: JobStore;
  /** Registers `undo`, which runs if the current transaction is rolled back. */
  readonly onRollback: (undo: () => void) => void;
  /** Announces an event of a job. Called inside the transaction that writes the event. */
  readonly announce: (moment: JobMoment, layer: string, view: () => JobView) => void;
  /** Reports a job as it was persisted. */
  readonly told: (job: JobView) => void;
  /** ms by the monotonic clock. */
  readonly monotonicNow: () => number;
}

const COUNTS_TOLD_MS = 1_000;

/** Writes the changes of active jobs and reports the persisted state. */
export class JobRecords {
  readonly #parts: JobRecordsParts;
  readonly #active: () => Iterable<ActiveJob>;
  /** Writes for the ends of tasks and jobs, not in the database yet. */
  #unsaved: (() => void)[] = [];
  /** Jobs that were saved and not reported since. */
  readonly #untold = new Set<ActiveJob>();

  constructor(parts: JobRecordsParts, active: () => Iterable<ActiveJob>) {
    this.#parts = parts;
    this.#active = active;
  }

  /** Records that an accepted job was inserted, to be reported. */
  made(job: ActiveJob): void {
    this.#untold.add(job);
  }

  /** Queues the end for the next `saveDirty`. */
  left(task: Task, state: "done" | "aborted"): void {
    this.#unsaved.push(() => this.#parts.jobs.saveTask(task.id, state, task.processed));
  }

  /** Queues the end for the next `saveDirty`. */
  ended(job: ActiveJob, outcome: JobMoment): void {
    job.dirty = false;
    this.#untold.add(job);
    this.#unsaved.push(() => {
      this.#saveJob(job);
      this.#parts.announce(outcome, job.request.layer, () => job.view(this.#parts.monotonicNow()));
    });
  }

  get needsSave(): boolean {
    if (this.#unsaved.length > 0) return true;
    for (const job of this.#active()) if (job.dirty) return true;
    return false;
  }

  /** Saves all changes. Must run inside the caller's transaction. */
  saveDirty(): void {
    const unsaved = this.#unsaved;
    this.#unsaved = [];
    this.#parts.onRollback(() => {
      this.#unsaved = [...unsaved, ...this.#unsaved];
    });
    for (const save of unsaved) save();
    for (const job of this.#active()) {
      if (!job.dirty) continue;
      job.sampleRate(this.#parts.monotonicNow());
      job.dirty = false;
      this.#untold.add(job);
      this.#parts.onRollback(() => {
        job.dirty = true;
      });
      this.#saveJob(job);
      this.#announceMoment(job);
      for (const task of job.tasks) this.#saveLive(task);
    }
  }

  #saveJob(job: ActiveJob): void {
    this.#parts.jobs.save({ ...job, state: job.state, progress: job.progress(this.#parts.monotonicNow()) });
  }

  /** Writes only changed tasks: a job may have many tasks, and few progress between two saves. */
  #saveLive(task: Task): void {
    const { saved, processed } = task;
    if (saved === processed) return;
    task.saved = processed;
    this.#parts.onRollback(() => {
      task.saved = saved;
    });
    this.#parts.jobs.saveTask(task.id, "live", processed);
  }

  #announceMoment(job: ActiveJob): void {
    const { announced: before, moment } = job;
    if (moment === before) return;
    job.announced = moment;
    this.#parts.onRollback(() => {
      job.announced = before;
    });
    this.#parts.announce(moment, job.request.layer, () => job.view(this.#parts.monotonicNow()));
  }

  /**
   * Reports the saved jobs after a commit. A job of which only the counts changed is reported at most once a second.
   */
  tell(): void {
    const nowMs = this.#parts.monotonicNow();
    for (const job of this.#untold) {
      const renderStatus = `${job.state} ${job.paused} ${job.outcome} ${job.reason}`;
      if (job.told?.renderStatus === renderStatus && nowMs - job.told.ms < COUNTS_TOLD_MS) continue;
      job.told = { renderStatus, ms: nowMs };
      this.#untold.delete(job);
      this.#parts.told(listed(job.view(nowMs)));
    }
  }
}
