import type { Logger } from "../lib/process/logger.ts";
import type { JobView } from "../plan/job/job-documents.ts";

/** The state of an unfinished job in the last lines of the log. */
interface Logged {
  readonly hasBegun: boolean;
  readonly paused: boolean;
  /** Why the job waits. Null if it does not wait. */
  readonly waitReason: string | null;
}

const NOTHING_SAID: Logged = { hasBegun: false, paused: false, waitReason: null };

/** Logs the changes of jobs, from their reported states, which have been saved. */
export class JobLog {
  readonly #log: Logger;
  readonly #closing: AbortSignal;
  readonly #logged = new Map<number, Logged>();

  constructor(log: Logger, closing: AbortSignal) {
    this.#log = log;
    this.#closing = closing;
  }

  /** Logs that a job of the last process continues. */
  takenUp(job: JobView): void {
    this.#logged.set(job.id, { hasBegun: job.startedAt !== null, paused: job.paused, waitReason: null });
    const { total, stored, skipped, failed } = job.tiles;
    const state = job.paused ? { paused: true, reason: job.reason } : {};
    this.#log.info("a job continues after the restart", {
      ...nameOf(job),
      tiles: total,
      left: total - stored - skipped - failed,
      ...state,
    });
  }

  /**
   * Logs how a job has changed since its last report.
   * @param waitReason null unless the job waits
   */
  reported(job: JobView, waitReason: string | null): void {
    const about = nameOf(job);
    const before = this.#logged.get(job.id) ?? this.#made(job);
    const hasBegun = job.startedAt !== null;
    if (hasBegun && !before.hasBegun) this.#log.info("a job has begun", about);
    if (job.outcome !== null) {
      this.#logged.delete(job.id);
      // A job may end between two reports, after its wait.
      if (before.waitReason !== null && job.outcome === "done") this.#log.info("a job continues after a wait", about);
      this.#ended(job);
      return;
    }
    const { paused, reason } = job;
    if (paused && !before.paused) this.#log.info("a job is paused", { ...about, reason });
    else if (!paused && before.paused) this.#log.info("a job is resumed", about);
    if (waitReason !== null && waitReason !== before.waitReason)
      this.#log.warn("a job waits", { ...about, reason: waitReason });
    // At a shutdown the waits of jobs end too, but the jobs do not continue.
    else if (waitReason === null && before.waitReason !== null && !paused && !this.#closing.aborted)
      this.#log.info("a job continues after a wait", about);
    this.#logged.set(job.id, { hasBegun, paused, waitReason });
  }

  #made(job: JobView): Logged {
    const { gridSet, format, parameters, bounds, zoomStart, zoomStop, tiles, createdBy, schedule, retryOf } = job;
    const isDefault = parameters !== null && Object.keys(parameters).length === 0;
    this.#log.info("a job was made", {
      ...nameOf(job),
      gridSet,
      format,
      ...(isDefault ? {} : { parameters }),
      ...(bounds === null ? {} : { bounds }),
      zoomStart,
      zoomStop,
      tiles: tiles.total,
      user: createdBy,
      ...(schedule === null ? {} : { schedule }),
      ...(retryOf === null ? {} : { retryOf }),
    });
    return NOTHING_SAID;
  }

  #ended(job: JobView): void {
    const { outcome, reason, tiles, secondsWorked, abortedBy } = job;
    const { total: _, ...counts } = tiles;
    const fields = {
      ...nameOf(job),
      outcome,
      reason,
      ...counts,
      seconds: secondsWorked,
      ...(abortedBy === null ? {} : { user: abortedBy }),
    };
    if (outcome === "done") this.#log.info("a job has ended", fields);
    else this.#log.warn("a job has ended", fields);
  }
}

const nameOf = ({ id, layer, type }: JobView) => ({ jobId: id, layer, type });
