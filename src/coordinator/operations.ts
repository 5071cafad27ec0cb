import type { JobHistoryMetrics } from "../jobs/job-history.ts";
import type { FailedTilePage } from "../jobs/job-store.ts";
import type { JobMetrics } from "../jobs/job-totals.ts";
import type { AdoptionProgress } from "../ledger/adoption.ts";
import type { VerificationView } from "../ledger/verification.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { EstimateView } from "../plan/estimate.ts";
import type {
  IdempotencyKey,
  JobFilter,
  JobOrigin,
  JobRequest,
  JobView,
  KilledTask,
  KillScope,
  SubmittedJob,
  TaskRow,
} from "../plan/job-request.ts";
import type { JobTerms } from "../plan/job-terms.ts";
import type { PlannedJobs } from "../plan/plan-batch.ts";
import type { QuotaChange, QuotaConfiguration } from "../quota/quota-configuration.ts";
import type { SimulationView, WhatIf } from "../quota/what-if.ts";
import type { ScheduleOperations } from "../schedule/schedule-service.ts";
import type { StateLoss } from "../state/running-mark.ts";
import type { MassTruncationOperations } from "../truncation/mass-truncation.ts";
import type { WebhookMetrics } from "../webhook/webhooks.ts";
import type { EstimatesView } from "./estimate-batch.ts";

/** The stored tiles of one zoom of one tile set. */
export interface ZoomUsage {
  readonly z: number;
  readonly tiles: bigint;
  readonly bytes: bigint;
  readonly allocatedBytes: bigint;
}

export interface TileSetUsage {
  readonly layer: string;
  readonly gridSet: string;
  readonly format: string;
  readonly parametersId: string;
  /** The values behind the parameters id; null: the store does not have them. */
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly tiles: bigint;
  readonly bytes: bigint;
  readonly allocatedBytes: bigint;
  readonly zooms: readonly ZoomUsage[];
}

export interface UsageView {
  readonly total: { readonly tiles: bigint; readonly bytes: bigint };
  readonly layers: readonly {
    readonly layer: string;
    readonly tiles: bigint;
    readonly bytes: bigint;
    /** The layer's own quota in bytes, null without one. */
    readonly quota: bigint | null;
    /** Bytes that the store's disk takes for the tiles. */
    readonly allocatedBytes: bigint;
    /** False while some of the layer's tiles are still being counted. */
    readonly complete: boolean;
  }[];
  readonly allocatedBytes: bigint;
  /** The global quota in bytes, null while it is not enforced. */
  readonly quota: bigint | null;
  /** The change of the usage over the last day at most; null while there is no earlier sample. */
  readonly trend: {
    readonly since: string;
    readonly bytesPerDay: number;
    /** null: not growing, or no quota. */
    readonly secondsUntilFull: number | null;
  } | null;
  readonly disk: {
    readonly freeBytes: number;
    readonly totalBytes: number;
    readonly freeInodes: number | null;
    readonly totalInodes: number | null;
  };
  /** Since the start of the server. */
  readonly enforcement: {
    readonly evictedTiles: number;
    readonly evictedBytes: number;
    readonly notStored: number;
    readonly cleanUps: number;
  };
  readonly adoption: AdoptionProgress;
  /** Present only when requested. */
  readonly tileSets?: readonly TileSetUsage[];
}

export interface EstimateOperations {
  /** Estimates a seed or reseed. @throws when the signal aborts it */
  estimate(request: JobRequest, signal: AbortSignal): Promise<Result<EstimateView, Refusal>>;
  /** Estimates several seeds or reseeds together. @throws when the signal aborts it */
  estimateAll(requests: readonly JobRequest[], signal: AbortSignal): Promise<Result<EstimatesView, Refusal>>;
}

export interface UsageOperations {
  /** Returns the usage of one layer or of all. `tileSets`: also by grid set, format, parameters and zoom. */
  usage(options: { readonly tileSets: boolean; readonly layer: string | undefined }): Promise<UsageView>;
  /** Begins to compare the ledger with the store. Returns false when a comparison is running already. */
  verify(options: { readonly repair: boolean; readonly layer: string | undefined }): Promise<boolean>;
  /** Returns the running comparison, or the last one. */
  verification(): Promise<VerificationView | undefined>;
  cancelVerification(): Promise<VerificationView | undefined>;
  /** Replays sampled reads against other sizes and policies. Returns undefined while another simulation runs. */
  simulate(choices: readonly WhatIf[]): Promise<SimulationView | undefined>;
}

/**
 * The operations that the coordinator offers to the management protocols. Every answer is true when it is given. Every
 * change is persisted before its promise resolves.
 */
export interface CoordinatorMetrics extends JobMetrics {
  readonly history: JobHistoryMetrics;
  readonly webhooks: WebhookMetrics;
  /** Rows of the ledger that were corrupt, and whose blocks were counted from the store. */
  readonly corruptBlocks: number;
  /** The number of failures of work that no caller waits for. */
  readonly failedNotes: number;
  /** The parts of the state that were missing when this server started. */
  readonly stateLoss: StateLoss | null;
}

export interface Operations extends ScheduleOperations, MassTruncationOperations, EstimateOperations, UsageOperations {
  /** Returns the pending and running tasks of one layer or of all, ascending by id. */
  rows(layer: string | undefined): Promise<readonly TaskRow[]>;
  submit(request: JobRequest, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>>;
  /** Makes all of the jobs, or none. */
  submitAll(planned: PlannedJobs, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>>;
  /** Returns the job that an account's key has made; undefined: none. Refuses a key that made another request's job. */
  keyed(by: string | null, key: IdempotencyKey): Promise<Result<SubmittedJob, Refusal> | undefined>;
  /** `by`: the account that sends the request; null: the interface is open. */
  kill(scope: KillScope, layer: string | undefined, by: string | null): Promise<readonly KilledTask[]>;
  /** Ends one task if it is of that layer. */
  killTask(layer: string, taskId: bigint, by: string | null): Promise<readonly KilledTask[]>;
  /** Ends a job as a kill of all its tasks does. Returns a job that was aborted before unchanged. */
  cancel(id: number, by: string | null): Promise<Result<JobView, Refusal>>;
  /** Pauses a job. Once resolved, the job fetches, writes and deletes nothing until `unpause`, even after a restart. */
  pause(id: number, by: string | null): Promise<Result<JobView, Refusal>>;
  /** Resumes a paused job. */
  unpause(id: number): Promise<Result<JobView, Refusal>>;
  /** Changes the given terms of a job that has not ended. Leaves other terms unchanged. */
  change(id: number, terms: Partial<JobTerms>): Promise<Result<JobView, Refusal>>;
  /** Makes a new job for the tiles that failed, or that an aborted job did not reach. */
  retry(id: number, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>>;
  /** Deletes an ended job from the history. */
  forget(id: number): Promise<Result<null, Refusal>>;
  /** Returns jobs, the newest first. */
  jobs(filter: JobFilter): Promise<readonly JobView[]>;
  job(id: number): Promise<JobView | undefined>;
  /**
   * Returns failed tiles of a job, in the order of failure, from a cursor on (0: the first); undefined: no such job.
   */
  failedTiles(id: number, after: number, limit: number): Promise<FailedTilePage | undefined>;
  /** Returns the counts of all jobs since the start of the server. */
  jobMetrics(): Promise<CoordinatorMetrics>;
  quota(): Promise<QuotaConfiguration>;
  /** Merges and persists a change of the quota, and returns the whole quota. The caller has checked the layer names. */
  changeQuota(change: QuotaChange): Promise<QuotaConfiguration>;
}
