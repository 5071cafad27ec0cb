import type { RunWindow } from "../run-window.ts";

/** The hours of a day in which a job may work, in the local time of a time zone. */
export interface JobHours {
  readonly window: RunWindow;
  /** A name in the IANA database. */
  readonly timeZone: string;
}

/** How a job shares the server with other jobs. A user may change the terms until the job has ended. */
export interface JobTerms {
  /** The job's share of turns relative to other jobs, 1 to 100. */
  readonly priority: number;
  /** The most tiles per second that are rendered for the job. Null: no limit. */
  readonly rateLimit: number | null;
  /** Null: the job may always work. */
  readonly runWindow: JobHours | null;
}

/** Priorities with names. */
export const PRIORITIES = { low: 1, normal: 10, high: 100 } as const;

export const STANDARD_TERMS: JobTerms = { priority: PRIORITIES.normal, rateLimit: null, runWindow: null };

/** A change of a job that has not ended. Absent fields stay unchanged. */
export interface JobChange extends Partial<JobTerms> {
  /** The number of tasks, at least 1. */
  readonly threadCount?: number;
}
