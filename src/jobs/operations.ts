import type { QuotaChange, QuotaConfiguration } from "../quota/quota-configuration.ts";
import type { JobFilter, JobRequest, JobView, KilledTask, KillScope, TaskRow } from "./job.ts";

export interface UsageView {
  readonly total: { readonly tiles: bigint; readonly bytes: bigint };
  readonly layers: readonly {
    readonly layer: string;
    readonly tiles: bigint;
    readonly bytes: bigint;
    /** The layer's own quota in bytes, null without one. */
    readonly quota: bigint | null;
    /** False while some of the layer's tiles are still being counted. */
    readonly complete: boolean;
  }[];
}

/**
 * What the management doors may ask of the keeper. Every answer is true at the moment it is given; every change is
 * persisted before its promise resolves.
 */
export interface Operations {
  /** Pending and running tasks, ascending by id; of one layer, or of all. */
  rows(layer: string | undefined): Promise<readonly TaskRow[]>;
  submit(request: JobRequest): Promise<{ readonly jobId: number; readonly taskIds: readonly number[] }>;
  kill(scope: KillScope, layer: string | undefined): Promise<readonly KilledTask[]>;
  /** Ends one task if it is of that layer. */
  killTask(layer: string, taskId: number): Promise<readonly KilledTask[]>;
  truncateLayer(layer: string): Promise<void>;
  /** All grid sets and formats of one combination of parameters, taken as it is. */
  truncateParameters(layer: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** Tile sets that the layer's configuration can no longer reach. */
  truncateOrphans(layer: string): Promise<void>;
  /** Newest first. */
  jobs(filter: JobFilter): Promise<readonly JobView[]>;
  job(id: number): Promise<JobView | undefined>;
  usage(): Promise<UsageView>;
  quota(): Promise<QuotaConfiguration>;
  /** Merged, persisted, then answered whole. Layer names have been checked by the caller. */
  changeQuota(change: QuotaChange): Promise<QuotaConfiguration>;
}
