import type { RunWindow } from "./run-window.ts";

/** The hours of a day in which a job may work, by the clocks of a place. */
export interface JobHours {
  readonly window: RunWindow;
  /** A name of the IANA database. */
  readonly timeZone: string;
}

/** How a job runs beside the others: may be changed as long as it has not ended. */
export interface JobTerms {
  /** Its share of turns against other jobs': 1 to 100. */
  readonly priority: number;
  /** Tiles per second that are rendered for it at most; null: no limit. */
  readonly rateLimit: number | null;
  /** null: always. */
  readonly runWindow: JobHours | null;
}

/** What there are words for. */
export const PRIORITIES = { low: 1, normal: 10, high: 100 } as const;

export const STANDARD_TERMS: JobTerms = { priority: PRIORITIES.normal, rateLimit: null, runWindow: null };
