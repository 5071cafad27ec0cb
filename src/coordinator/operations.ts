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

/** What is kept at one zoom of one tile set. */
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
  /** What the parameters id means; null: the store does not say. */
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
  /** How usage changes, over the last day at most; null while there is nothing to compare with. */
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
  /** Only when asked for. */
  readonly tileSets?: readonly TileSetUsage[];
}

export interface EstimateOperations {
  /** What a seed or reseed would come to. @throws when the signal ends it */
  estimate(request: JobRequest, signal: AbortSignal): Promise<Result<EstimateView, Refusal>>;
  /** What several would come to together. @throws when the signal ends it */
  estimateAll(requests: readonly JobRequest[], signal: AbortSignal): Promise<Result<EstimatesView, Refusal>>;
}

export interface UsageOperations {
  /** `tileSets`: also by grid set, format, parameters and zoom, of one layer or of all. */
  usage(options: { readonly tileSets: boolean; readonly layer: string | undefined }): Promise<UsageView>;
  /** Begins to compare the ledger with the store; one at a time. False: one is running. */
  verify(options: { readonly repair: boolean; readonly layer: string | undefined }): Promise<boolean>;
  /** The running comparison, or the last one. */
  verification(): Promise<VerificationView | undefined>;
  cancelVerification(): Promise<VerificationView | undefined>;
  /** Replays sampled reads against other sizes and policies. Undefined: another one is at it. */
  simulate(choices: readonly WhatIf[]): Promise<SimulationView | undefined>;
}

/**
 * What the management protocols may ask of the coordinator. Every answer is true at the moment it is given; every change is
 * persisted before its promise resolves.
 */
export interface CoordinatorMetrics extends JobMetrics {
  readonly history: JobHistoryMetrics;
  readonly webhooks: WebhookMetrics;
  /** Rows of the ledger that were corrupt, and whose blocks were counted from the store. */
  readonly corruptBlocks: number;
  /** What nobody waits for and could not be done. */
  readonly failedNotes: number;
  /** What this server found missing of the state when it started. */
  readonly stateLoss: StateLoss | null;
}

export interface Operations extends ScheduleOperations, MassTruncationOperations, EstimateOperations, UsageOperations {
  /** Pending and running tasks, ascending by id; of one layer, or of all. */
  rows(layer: string | undefined): Promise<readonly TaskRow[]>;
  submit(request: JobRequest, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>>;
  /** All of them or none. */
  submitAll(planned: PlannedJobs, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>>;
  /** The job that an account's key has made; undefined: none. Refused when the key stands for another request. */
  keyed(by: string | null, key: IdempotencyKey): Promise<Result<SubmittedJob, Refusal> | undefined>;
  /** `by`: the account that asks; null: the interface is open. */
  kill(scope: KillScope, layer: string | undefined, by: string | null): Promise<readonly KilledTask[]>;
  /** Ends one task if it is of that layer. */
  killTask(layer: string, taskId: bigint, by: string | null): Promise<readonly KilledTask[]>;
  /** Ends a job as a kill of all its tasks does; one that was aborted before is answered as it is. */
  cancel(id: number, by: string | null): Promise<Result<JobView, Refusal>>;
  /** Once resolved nothing more is fetched, written or deleted for the job until `unpause`, over restarts too. */
  pause(id: number, by: string | null): Promise<Result<JobView, Refusal>>;
  /** Lets a paused job go on. */
  unpause(id: number): Promise<Result<JobView, Refusal>>;
  /** Other terms for a job that has not ended; what is not named stays as it is. */
  change(id: number, terms: Partial<JobTerms>): Promise<Result<JobView, Refusal>>;
  /** A new job over the tiles that failed, or that an aborted job did not come to. */
  retry(id: number, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>>;
  /** Takes an ended job out of the history. */
  forget(id: number): Promise<Result<null, Refusal>>;
  /** Newest first. */
  jobs(filter: JobFilter): Promise<readonly JobView[]>;
  job(id: number): Promise<JobView | undefined>;
  /** Failed tiles of a job in the order in which they failed, from a cursor on (0: the first); undefined: no such job. */
  failedTiles(id: number, after: number, limit: number): Promise<FailedTilePage | undefined>;
  /** What jobs have done since the start of the server. */
  jobMetrics(): Promise<CoordinatorMetrics>;
  quota(): Promise<QuotaConfiguration>;
  /** Merged, persisted, then answered whole. Layer names have been checked by the caller. */
  changeQuota(change: QuotaChange): Promise<QuotaConfiguration>;
}
