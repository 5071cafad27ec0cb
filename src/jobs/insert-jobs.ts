import { STANDARD_TERMS } from "../plan/job-terms.ts";
import type { JobRecordsParts } from "./job-records.ts";
import { viewOf } from "./job-view.ts";
import type { NewJob, StoredJob } from "./stored-job.ts";

/** Inserts the jobs of one request and announces them. Must run inside a transaction. */
export function insertJobs(
  newJobs: readonly NewJob[],
  nowMs: number,
  { jobs, announce }: Pick<JobRecordsParts, "jobs" | "announce">,
): StoredJob[] {
  const inserted: StoredJob[] = [];
  for (const job of newJobs) {
    const { request, progress, origin, retryOf, schedule, hold } = job;
    const { jobId, taskIds } = jobs.insert(job, nowMs);
    const stored: StoredJob = {
      id: jobId,
      state: "pending",
      request,
      progress,
      createdMs: nowMs,
      startedMs: null,
      endedMs: null,
      tasks: taskIds.map((id) => ({ id, state: "live", processed: 0n })),
      paused: hold === "held",
      createdBy: origin.by,
      retryOf,
      schedule,
      requestedWith: newJobs.length === 1 ? null : (inserted[0]?.id ?? jobId),
      hold,
      terms: request.terms ?? STANDARD_TERMS,
    };
    announce("pending", request.layer, () => viewOf({ ...stored, taskIds }, undefined));
    inserted.push(stored);
  }
  const [first, ...others] = inserted.map(({ id }) => id);
  if (first !== undefined) jobs.addBatch(first, others);
  return inserted;
}
