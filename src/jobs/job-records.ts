import type { JobView } from "../plan/job-request.ts";
import type { ActiveJob, Task } from "./active-job.ts";
import type { JobMoment } from "./job-event.ts";
import type { JobStore } from "./job-store.ts";
import { listed } from "./job-view.ts";

export interface JobRecordsParts {
  readonly jobs: JobStore;
  /** What to put right should the transaction in hand be rolled back. */
  readonly onRollback: (undo: () => void) => void;
  /** Something has happened to a job: called inside the transaction that writes it. */
  readonly announce: (moment: JobMoment, layer: string, view: () => JobView) => void;
  /** Told what has been persisted of a job. */
  readonly told: (job: JobView) => void;
  /** ms by a clock that never steps. */
  readonly monotonicNow: () => number;
}

const COUNTS_TOLD_MS = 1_000;

/** Writes what has changed of jobs at work, and tells of it what is on the disk. */
export class JobRecords {
  readonly #parts: JobRecordsParts;
  readonly #active: () => Iterable<ActiveJob>;
  /** Ends of tasks and jobs that are not on the disk yet. */
  #unsaved: (() => void)[] = [];
  /** Saved since they were told of last. */
  readonly #untold = new Set<ActiveJob>();

  constructor(parts: JobRecordsParts, active: () => Iterable<ActiveJob>) {
    this.#parts = parts;
    this.#active = active;
  }

  /** A job has been written as it was accepted. */
  made(job: ActiveJob): void {
    this.#untold.add(job);
  }

  /** To be saved. */
  left(task: Task, state: "done" | "aborted"): void {
    this.#unsaved.push(() => this.#parts.jobs.saveTask(task.id, state, task.processed));
  }

  /** To be saved. */
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

  /** Saves what changed; inside the caller's transaction. */
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

  /** There may be many tasks, few of which get on at a time. */
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

  /** After a commit: tells what has been saved, but of counts alone no more than once a second. */
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
