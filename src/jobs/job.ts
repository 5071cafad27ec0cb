import type { Extent, TileRect } from "../grid/grid-set.ts";
import type { JobType } from "./seed-request.ts";

/** What a job works on, held against its layer: persisted as it is, so that a restart needs nothing else. */
export interface JobRequest {
  readonly type: JobType;
  readonly layer: string;
  /** Seed and reseed: exactly one grid set, one format. Truncate: null means all. */
  readonly gridSet: string | null;
  readonly format: string | null;
  /** Values of all parameter filters, empty for the defaults; null: every parameters id (truncateExtent). */
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly parametersId: string | null;
  /** As asked; null: the whole coverage. */
  readonly bounds: Extent | null;
  readonly zoomStart: number;
  readonly zoomStop: number;
  /** Rectangles to work on, by grid set (a truncate may span several), ascending by zoom. */
  readonly ranges: readonly { readonly gridSet: string; readonly rects: readonly TileRect[] }[];
  readonly threadCount: number;
  readonly retryCount: number;
  readonly retryWaitMs: number;
  readonly failureLimit: number;
  /** The request set failure fields of its own: an outage is not waited out. */
  readonly ownFailurePolicy: boolean;
}

export type JobState = "pending" | "running" | "done" | "aborted";

/** A row of the classic list (contract 2.2; status 0 pending, 1 running). */
export interface TaskRow {
  readonly processed: bigint;
  readonly total: bigint;
  readonly remainingSeconds: number;
  readonly id: number;
  readonly status: 0 | 1;
  readonly layer: string;
  readonly type: JobType;
}

export interface KilledTask {
  readonly id: number;
  readonly layer: string;
  readonly type: JobType;
  readonly status: 0 | 1;
}

export type KillScope = "all" | "running" | "pending";

/** A job as `/api/v1/jobs` shows it (decisions 10). Times are ISO 8601 in UTC. */
export interface JobView {
  readonly id: number;
  readonly layer: string;
  readonly type: JobType;
  readonly gridSet: string | null;
  readonly format: string | null;
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly bounds: readonly [number, number, number, number] | null;
  readonly zoomStart: number;
  readonly zoomStop: number;
  readonly state: JobState;
  readonly outcome: null | "done" | "done_with_failures" | "aborted";
  readonly reason: string | null;
  readonly tasks: readonly number[];
  readonly tiles: {
    readonly total: bigint;
    readonly stored: bigint;
    readonly skipped: bigint;
    readonly failed: bigint;
    /** Truncates only. */
    readonly deleted?: bigint;
  };
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** First ones, by class. */
  readonly errors: readonly {
    readonly class: string;
    readonly count: number;
    readonly message: string;
    readonly tile: readonly [number, number, number] | null;
  }[];
  readonly retries: number;
}

export interface JobFilter {
  readonly layer?: string;
  readonly state?: JobState;
  readonly type?: JobType;
  readonly limit: number;
  /** Only jobs with a smaller id: the last one of the page before. */
  readonly after?: number;
}
