import type { ActiveJob } from "../jobs/active-job.ts";
import { resumeJob } from "../jobs/job-resume.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { NewJob } from "../jobs/job-store.ts";
import type { Logger } from "../lib/logger.ts";
import { type JobHours, type JobTerms, STANDARD_TERMS } from "../plan/job-terms.ts";
import { isOpen, windowText } from "../plan/run-window.ts";
import type { SchedulePlan } from "./schedule.ts";

export interface RunWindowsParts {
  readonly runner: JobRunner;
  /** Of a schedule; undefined: there is no such one. */
  readonly hours: (schedule: string) => Pick<SchedulePlan, "time" | "window"> | undefined;
  /** Writes everything that changed, in one transaction. */
  readonly persist: (also?: () => void) => void;
  readonly now: () => number;
  readonly log: Logger;
}

/** Whose hours are asked for. */
interface Timed {
  readonly schedule: string | null;
  readonly terms: JobTerms;
}

/**
 * Holds jobs while a window of theirs is closed, their own or that of their schedule. It keeps nothing: what the windows are
 * and whether an operator has let a job go on is with the schedules and the jobs.
 */
export class RunWindows {
  readonly #parts: RunWindowsParts;
  readonly #closing = new Set<Promise<void>>();

  constructor(parts: RunWindowsParts) {
    this.#parts = parts;
  }

  /** Why a job may not work at this moment; undefined: it may. */
  #closedReason({ schedule: name, terms }: Timed): string | undefined {
    const nowMs = this.#parts.now();
    const { window = null, time } = (name === null ? undefined : this.#parts.hours(name)) ?? {};
    if (window !== null && time !== undefined && !isOpen(window, time.timeZone, nowMs))
      return outside(`the window of the schedule ${name}`, { window, timeZone: time.timeZone });
    const { runWindow } = terms;
    if (runWindow === null || isOpen(runWindow.window, runWindow.timeZone, nowMs)) return undefined;
    return outside("its run window", runWindow);
  }

  /** A job as it is made: one that is made while a window of its is closed waits from the start. */
  begun(job: Omit<NewJob, "hold">): NewJob {
    const reason = this.#closedReason({ schedule: job.schedule, terms: job.request.terms ?? STANDARD_TERMS });
    if (reason === undefined) return { ...job, hold: null };
    return { ...job, progress: { ...job.progress, reason }, hold: "held" };
  }

  /** What the change of a window, of a schedule, or of the time means to the jobs that have not ended. */
  look(): void {
    for (const job of this.#parts.runner.live()) this.lookAt(job);
  }

  lookAt(job: ActiveJob): void {
    const { runner, hours, persist, log } = this.#parts;
    // Of a schedule that has been removed nobody says when its job may go on: that is left to operators.
    if (job.schedule !== null && job.terms.runWindow === null && hours(job.schedule) === undefined) return;
    const reason = this.#closedReason(job);
    if (reason === undefined) {
      if (job.hold === "held") resumeJob(job, null, { runner, persist });
      else if (job.hold === "released") {
        job.hold = null;
        job.dirty = true;
      }
    } else if (!job.paused && job.hold === null) {
      const closing = runner
        .pause(job, reason, "held")
        .catch((error: unknown) => log.error("schedules are behind", { jobId: job.id, error: String(error) }))
        .finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }
  }

  /** Once resolved the jobs that were to stop have stopped. */
  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }
}

const outside = (what: string, { window, timeZone }: JobHours): string =>
  `outside ${what}, ${windowText(window)} in ${timeZone}`;
