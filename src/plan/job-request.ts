import type { Extent, TileRect } from "../grid/grid-set.ts";
import type { Selection } from "../grid/selection.ts";
import type { Combination } from "./combination.ts";
import type { JobTerms } from "./job-terms.ts";
import type { TimeLeft } from "./rate-meter.ts";
import type { JobOrder, JobType } from "./seed-request.ts";
import type { ValueChoice } from "./value-choice.ts";

/** What a job works on, held against its layer: persisted as it is, so that a restart needs nothing else. */
export interface JobRequest {
  readonly type: JobType;
  readonly layer: string;
  /** Seed and reseed: exactly one grid set, one format. Truncate: null means all. */
  readonly gridSet: string | null;
  readonly format: string | null;
  /** Values of all parameter filters, empty for the defaults; null: `combinations`, else those that are kept (truncates). */
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly parametersId: string | null;
  /** At least two, each of them another. Absent: the parameters above. */
  readonly combinations?: readonly Combination[];
  /**
   * How the combinations were asked for, where there are several; of a truncate without those: which of the kept ones are
   * meant. Absent: all.
   */
  readonly parametersChosen?: readonly (readonly (readonly [string, ValueChoice])[])[];
  /** As asked, or around what was asked; null: the whole coverage. */
  readonly bounds: Extent | null;
  /** What the rectangles are limited to; absent: nothing. */
  readonly limit?: Selection["kind"];
  /** Kept beside the request, as it may be large: absent where only the view of a job is asked for. */
  readonly selection?: Selection;
  readonly zoomStart: number;
  readonly zoomStop: number;
  /** Rectangles to work on, by grid set (a truncate may span several), ascending by zoom. */
  readonly ranges: readonly { readonly gridSet: string; readonly rects: readonly TileRect[] }[];
  /** Tiles per metatile, across and up: what is finished is told in them, whatever the layer has later. Absent: the layer's. */
  readonly metatile?: readonly [number, number];
  readonly threadCount: number;
  readonly retryCount: number;
  readonly retryWaitMs: number;
  /** `NO_FAILURE_LIMIT`: none. */
  readonly failureLimit: number;
  /** Of the tiles that were tried; absent: no share is too large. */
  readonly failurePercent?: number;
  /** The request set failure fields of its own: an outage is not waited out. */
  readonly ownFailurePolicy: boolean;
  /** A reseed of nothing but tiles that were kept when the job was made. */
  readonly onlyExisting?: true;
  /** A reseed of tiles that are missing or were written before; absent: of all. */
  readonly olderThanMs?: number;
  /** What is finished is told in numbers of this order. Absent: by zoom. */
  readonly order?: JobOrder;
  /**
   * Of the order `hot`: numbers by zoom of the first metatiles of groups that were used when the job was made, the most used
   * first. Kept beside the request, as a selection; absent: none was.
   */
  readonly hot?: BigUint64Array;
  /** Kept beside the request, as they may be changed: absent where they are the standard ones, and once they are kept. */
  readonly terms?: JobTerms;
  /** Older seeds and reseeds that lie within it end. */
  readonly supersede?: true;
}

/** Greater than any number of tiles that fail. */
export const NO_FAILURE_LIMIT = Number.MAX_SAFE_INTEGER;

/** Who asked for a job, and under which key the same request may come again. */
export interface JobOrigin {
  /** The account; null: the interface is open. */
  readonly by: string | null;
  readonly key?: IdempotencyKey;
  /** A job of more tiles is not made: nobody has confirmed it. Absent: of any number. */
  readonly mostTiles?: number;
}

export interface IdempotencyKey {
  readonly key: string;
  /** Of what was asked: the same key with another digest is a mistake. */
  readonly digest: string;
}

/** What a request became. `known`: its key had made the job before. */
export interface SubmittedJob {
  readonly jobId: number;
  /** All that the request has made, the first among them; of a known one those that are still kept. */
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

/**
 * What its window, or that of its schedule, does to a job. `held`: it is paused until the window opens. `released`: an operator has
 * let it go on while the window is closed.
 */
export const WINDOW_HOLDS = ["held", "released"] as const;
export type WindowHold = (typeof WINDOW_HOLDS)[number];

export type JobOutcome = "done" | "done_with_failures" | "aborted";

/** One class of a job's failures: how many tiles, and the first of them. */
export interface JobError {
  readonly class: string;
  readonly count: number;
  readonly message: string;
  readonly tile: readonly [number, number, number] | null;
}

/** Tiles of a job by what became of them. */
export interface JobTiles {
  readonly total: bigint;
  readonly stored: bigint;
  readonly skipped: bigint;
  readonly failed: bigint;
  /** Reseeds only: rendered, and kept already as they were rendered. */
  readonly unchanged?: bigint;
  /** Truncates only. */
  readonly deleted?: bigint;
}

/** Polygons with their rings, closed; with more corners than were given where straight lines became curves. */
export interface AreaView {
  readonly type: "MultiPolygon";
  readonly coordinates: readonly (readonly (readonly (readonly [number, number])[])[])[];
}

/** A job as `/api/v1/jobs` shows it. Times are ISO 8601 in UTC. */
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
  readonly outcome: JobOutcome | null;
  readonly reason: string | null;
  readonly tasks: readonly number[];
  readonly tiles: JobTiles;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** First ones, by class. */
  readonly errors: readonly JobError[];
  readonly retries: number;
  /** Pending until it is resumed; on the classic list it is as any pending one. */
  readonly paused: boolean;
  /** Accounts; null: the interface was open, or nobody did. */
  readonly createdBy: string | null;
  readonly abortedBy: string | null;
  /** The job of which this one does what failed or was not done. */
  readonly retryOf: number | null;
  /** The name of the schedule that made it. */
  readonly schedule: string | null;
  /** The first job of the request that made it with others, of that job its own id; null: it was made alone. */
  readonly requestedWith: number | null;
  /** Where parameters are null: the combinations that are meant, as they are asked for; null: all that are kept. */
  readonly parameterSets: readonly Readonly<Record<string, unknown>>[] | null;
  /** Its share of turns against other jobs', 1 to 100. */
  readonly priority: number;
  /** Tiles per second that are rendered for it at most; null: no limit. */
  readonly rateLimit: number | null;
  /** When it may work; null: always, as far as its schedule goes. */
  readonly runWindow: { readonly from: string; readonly to: string; readonly timeZone: string } | null;
  /** Written for it, tiles beyond its range included where a metatile reaches there. */
  readonly bytes: bigint;
  /** Pauses and restarts not counted. */
  readonly secondsWorked: number;
  /** Lately; of one that has ended: over all. null: not known. */
  readonly tilesPerSecond: number | null;
  readonly timeLeft: TimeLeft | null;
  /** What of the bounds it works on: null, all. */
  readonly limit: Selection["kind"] | null;
  readonly order: JobOrder;
  readonly onlyExisting: boolean;
  /** Only tiles that were written before are rendered again; null: all. */
  readonly olderThan: string | null;
  /** null: any number. */
  readonly maxFailures: number | null;
  readonly maxFailurePercent: number | null;
  /** The area in the grid set's CRS, as GeoJSON; null: it has none. Absent in lists and events. */
  readonly area?: AreaView | null;
  /** Each combination, where it names several. Absent in lists and events. */
  readonly combinations?: readonly Readonly<Record<string, string>>[];
  /** Ascending; absent in lists. */
  readonly zooms?: readonly { readonly z: number; readonly tiles: JobTiles; readonly bytes: bigint }[];
}

/** What happened to a job, once it is persisted. Counts are told once a second, all else at once. */
export type JobEvent =
  | { readonly kind: "job"; readonly job: JobView }
  /** It was taken out of the history. */
  | { readonly kind: "forgotten"; readonly id: number };

export interface JobFilter {
  readonly layer?: string;
  readonly state?: JobState;
  readonly type?: JobType;
  /** Made by the schedule of this name. */
  readonly schedule?: string;
  /** Made by the request that made this job, which is one of them. */
  readonly requestedWith?: number;
  readonly ids?: readonly number[];
  readonly limit: number;
  /** Only jobs with a smaller id: the last one of the page before. */
  readonly after?: number;
}
