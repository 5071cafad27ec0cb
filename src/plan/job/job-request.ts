import type { Extent, GridSetName, TileRect, Zoom } from "../../grid/grid-set.ts";
import type { Selection, SelectionLimit } from "../../grid/selection.ts";
import type { FormatName, LayerName, ParametersId } from "../../layer/tile-set.ts";
import type { Combination } from "../parameters/combination.ts";
import type { ValueChoice } from "../parameters/value-choice.ts";
import type { JobType } from "../seed-request.ts";
import type { PlannedFields } from "./job-fields.ts";
import type { JobTerms } from "./job-terms.ts";

/** The work of a job, validated against its layer. It is stored completely, so that a restart needs no other data. */
export interface JobRequest extends PlannedFields {
  readonly type: JobType;
  readonly layer: LayerName;
  /** For a seed or reseed: exactly one grid set and one format. For a truncate: null means all. */
  readonly gridSet: GridSetName | null;
  readonly format: FormatName | null;
  /**
   * Values of all parameter filters; empty for the defaults. Null: see `combinations`; without combinations the job is
   * a truncate of stored combinations.
   */
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly parametersId: ParametersId | null;
  /** At least two different combinations. Absent: see `parameters`. */
  readonly combinations?: readonly Combination[];
  /**
   * The sets by which the client requested several combinations. For a truncate without `combinations`: the sets that
   * select stored combinations; absent: all.
   */
  readonly parametersChosen?: readonly (readonly (readonly [string, ValueChoice])[])[];
  /** The requested bounds, or the bounds around the requested area or tiles. Null: the whole coverage. */
  readonly bounds: Extent | null;
  /** The kind of selection that limits the rectangles. Absent: no limit. */
  readonly limit?: SelectionLimit;
  /** Stored in a separate table, because it may be large. Absent if the job was read only for its view. */
  readonly selection?: Selection;
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
  /** The rectangles to work on, by grid set (a truncate may have several), ascending by zoom. */
  readonly ranges: readonly { readonly gridSet: GridSetName; readonly rects: readonly TileRect[] }[];
  /** Tiles per metatile, across and up. Progress is stored in these metatiles, even if the layer's metatiles change. */
  readonly metatile: readonly [number, number];
  readonly threadCount: number;
  /** Whether the request has failure fields, so that the job does not wait for the end of an outage. */
  readonly ownFailurePolicy: boolean;
  /**
   * For the order `hot`: the groups of metatiles that were in use when the job was accepted, the most used first. A
   * group is given by the number of its first metatile, counted by zoom. Stored in a separate table, like a selection.
   * Absent if no group was in use.
   */
  readonly hot?: BigUint64Array;
  /**
   * Stored in a separate column, because a user may change the terms. Absent: the standard terms, or the request was
   * read from the database.
   */
  readonly terms?: JobTerms;
  /**
   * Set if the job follows a change of the data: no render that began before `olderThanMs` can store a tile of the job
   * any more.
   */
  readonly afterChange?: true;
  /** Set if older seeds and reseeds within this job's range are cancelled. */
  readonly supersede?: true;
}

/** The account that requested a job, and the key under which the request may be repeated. */
export interface JobOrigin {
  /** The account. Null if the interface is open. */
  readonly by: string | null;
  readonly key?: IdempotencyKey;
  /** A request for more tiles is refused because it was not confirmed. Absent: no limit. */
  readonly mostTiles?: number;
}

export interface IdempotencyKey {
  readonly key: string;
  /** A digest of the request. The same key with a different digest is refused. */
  readonly digest: string;
}

/** The jobs of an accepted request. `known`: an earlier request with the same key created them. */
export interface SubmittedJob {
  readonly jobId: number;
  /** All jobs of the request, including the first. For a known request: the jobs that are still in the history. */
  readonly jobIds: readonly number[];
  readonly taskIds: readonly number[];
  readonly known: boolean;
}

export const JOB_STATES = ["pending", "running", "done", "aborted"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A row of the classic list (`docs/reference/wire-format.md`, Task list; status 0 pending, 1 running). */
export interface TaskRow {
  readonly processed: bigint;
  readonly total: bigint;
  readonly remainingSeconds: number;
  readonly id: number;
  readonly status: 0 | 1;
  readonly layer: LayerName;
  readonly type: JobType;
}

export type KilledTask = Pick<TaskRow, "id" | "layer" | "type" | "status">;

export type KillScope = "all" | "running" | "pending";

/**
 * The effect of the run window of a job, or of its schedule. `held`: the job is paused until the window opens.
 * `released`: an operator has resumed the job while the window is closed.
 */
export const WINDOW_HOLDS = ["held", "released"] as const;
export type WindowHold = (typeof WINDOW_HOLDS)[number];

/** How a job has ended: `failed` if every tile has failed. */
export const JOB_OUTCOMES = ["done", "done_with_failures", "failed", "aborted"] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

/**
 * The kinds of jobs that are counted: the outcomes of ended jobs, and the states of all other jobs, including paused.
 */
export const JOB_KINDS = ["running", "pending", "paused", ...JOB_OUTCOMES] as const;
export type JobKind = (typeof JOB_KINDS)[number];
export type JobKindCounts = Readonly<Record<JobKind, number>>;

/** A filter of jobs. Each given field excludes jobs. */
export interface JobFilter {
  readonly layer?: LayerName;
  readonly state?: JobState;
  readonly outcome?: JobOutcome;
  readonly paused?: boolean;
  readonly type?: JobType;
  /** Only jobs of the schedule of this name. */
  readonly schedule?: string;
  /** Only jobs that this account made. */
  readonly createdBy?: string;
  /** Only jobs that were made at this time or later, ms since 1970. */
  readonly sinceMs?: number;
  /** Only jobs that were made before this time, ms since 1970. */
  readonly untilMs?: number;
  /** Only jobs with this text in the layer, the id, the schedule or the account, ignoring case. */
  readonly text?: string;
  /** Only jobs of the batch to which the job with this id belongs. */
  readonly requestedWith?: number;
  readonly ids?: readonly number[];
}

/** A range of ids of jobs. */
export interface JobIds {
  /** Only jobs with this id or a greater one. */
  readonly from?: number;
  /** Only jobs with a smaller id, which is the last id of the previous page. */
  readonly after?: number;
}

/** A page of a list of jobs. */
export interface JobPage extends JobFilter, JobIds {
  readonly limit: number;
}
