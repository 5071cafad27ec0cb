import type { ActiveJob } from "../jobs/active/active-job.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { NewJob } from "../jobs/record/stored-job.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import { Slices } from "../lib/process/slices.ts";
import { type JobHours, type JobTerms, STANDARD_TERMS } from "../plan/job/job-terms.ts";
import { isOpen, windowText } from "../plan/run-window.ts";
import type { SchedulePlan } from "./schedule.ts";

export interface RunWindowsParts extends Pick<ServiceParts, "clock" | "log"> {
  readonly runner: JobRunner;
  /** Returns the times of a schedule. Undefined if the schedule does not exist. */
  readonly hours: (schedule: string) => Pick<SchedulePlan, "time" | "window"> | undefined;
}

/** The parts of a job that determine its windows. */
interface Timed {
  readonly schedule: string | null;
  readonly terms: JobTerms;
}

/**
 * Holds jobs while their own run window, or the window of their schedule, is closed. Stores nothing itself: schedules
 * and jobs store the windows, and jobs store whether an operator has released them.
 */
export class RunWindows {
  readonly #parts: RunWindowsParts;
  readonly #closing = new Set<Promise<void>>();

  constructor(parts: RunWindowsParts) {
    this.#parts = parts;
  }

  /** Returns why a window keeps a job from working now. Undefined if the job may work. */
  #closedReason({ schedule: name, terms }: Timed): string | undefined {
    const nowMs = this.#parts.clock.now();
    const { window = null, time } = (name === null ? undefined : this.#parts.hours(name)) ?? {};
    if (window !== null && time !== undefined && !isOpen(window, time.timeZone, nowMs))
      return outside(`the window of the schedule ${name}`, { window, timeZone: time.timeZone });
    const { runWindow } = terms;
    if (runWindow === null || isOpen(runWindow.window, runWindow.timeZone, nowMs)) return undefined;
    return outside("its run window", runWindow);
  }

  /** Returns a new job, held from the start if one of its windows is closed. */
  begun(job: Omit<NewJob, "hold">): NewJob {
    const reason = this.#closedReason({ schedule: job.schedule, terms: job.request.terms ?? STANDARD_TERMS });
    if (reason === undefined) return { ...job, hold: null };
    return { ...job, progress: { ...job.progress, reason }, hold: "held" };
  }

  /**
   * Holds the jobs whose windows have closed, and resumes the jobs whose windows have opened. Yields to other work
   * between jobs, because each change is a transaction.
   */
  async checkAll(): Promise<void> {
    const { active } = this.#parts.runner;
    const slices = new Slices(this.#parts.clock);
    for (const job of active.all()) {
      if (active.get(job.id) === job) this.check(job);
      if (slices.isOver) await slices.next();
    }
  }

  /** Holds or resumes a job after a change of its window, of its schedule, or of the time. */
  check(job: ActiveJob): void {
    const { runner, hours, log } = this.#parts;
    // The schedule has been removed, so its window is unknown: an operator decides when the job continues.
    if (job.schedule !== null && job.terms.runWindow === null && hours(job.schedule) === undefined) return;
    const reason = this.#closedReason(job);
    if (reason === undefined) {
      if (job.life.hold === "held") runner.resume(job, null);
      else if (job.life.hold === "released") job.endRelease();
    } else if (!job.life.isPaused && job.life.hold === null) {
      const closing = runner
        .pause(job, reason, "held")
        .catch((error: unknown) => log.error("schedules are behind", { jobId: job.id, error: String(error) }))
        .finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }
  }

  /**
   * Holds a job for a window that is closed under the changed terms, before the terms change. Resolves when its tasks
   * have stopped. Undefined if no task has to stop.
   */
  holdBefore(job: ActiveJob, change: Partial<JobTerms>): Promise<void> | undefined {
    const { runner } = this.#parts;
    const reason = this.#closedReason({ schedule: job.schedule, terms: { ...job.terms, ...change } });
    if (reason === undefined) return undefined;
    if (job.life.isPaused)
      return job.life.hold === "held" && job.tasks.some((task) => task.isAtWork) ? runner.stopped(job) : undefined;
    if (job.life.hold === "released" && change.runWindow === undefined) return undefined;
    return runner.pause(job, reason, "held");
  }

  /** Waits until the jobs that are being held have stopped. */
  async stopped(): Promise<void> {
    await Promise.all(this.#closing);
  }
}

const outside = (what: string, { window, timeZone }: JobHours): string =>
  `outside ${what}, ${windowText(window)} in ${timeZone}`;
