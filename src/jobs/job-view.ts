import type { JobView } from "./job.ts";
import type { StoredJob } from "./job-store.ts";

/** A job as the doors show it, from what is persisted of it. */
export function viewOf(job: Omit<StoredJob, "tasks"> & { readonly taskIds: readonly number[] }): JobView {
  const { request, progress, createdMs, startedMs, endedMs } = job;
  const { bounds } = request;
  return {
    id: job.id,
    layer: request.layer,
    type: request.type,
    gridSet: request.gridSet,
    format: request.format,
    parameters: request.parameters,
    bounds: bounds === null ? null : [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY],
    zoomStart: request.zoomStart,
    zoomStop: request.zoomStop,
    state: job.state,
    outcome: progress.outcome,
    reason: progress.reason,
    tasks: job.taskIds,
    tiles: {
      total: BigInt(progress.total),
      stored: BigInt(progress.stored),
      skipped: BigInt(progress.skipped),
      failed: BigInt(progress.failed),
      ...(request.type === "truncate" ? { deleted: BigInt(progress.deleted) } : {}),
    },
    createdAt: isoTime(createdMs),
    startedAt: startedMs === null ? null : isoTime(startedMs),
    endedAt: endedMs === null ? null : isoTime(endedMs),
    errors: progress.errors,
    retries: progress.retries,
    paused: job.paused,
    createdBy: job.createdBy,
    abortedBy: progress.abortedBy,
    retryOf: job.retryOf,
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
