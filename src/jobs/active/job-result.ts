import type { JobOutcome } from "../../plan/job/job-request.ts";
import type { JobType } from "../../plan/seed-request.ts";
import type { JobTally } from "./job-tally.ts";

/** The result of a job that ended because its work was done. */
export interface JobResult {
  readonly outcome: Exclude<JobOutcome, "aborted">;
  readonly reason: string | null;
}

/** Returns the result of a job whose last task has found no more work. */
export function resultOf(type: JobType, { sum, errors }: Pick<JobTally, "sum" | "errors">): JobResult {
  const { stored, skipped, unchanged, failed, deleted } = sum;
  if (type === "truncate")
    return { outcome: "done", reason: deleted === 0n ? "no tile was stored in its range" : null };
  if (failed === 0n) return { outcome: "done", reason: null };
  if (stored + skipped + unchanged > 0n) return { outcome: "done_with_failures", reason: null };
  const [first] = errors;
  return {
    outcome: "failed",
    reason: first === undefined ? "every tile failed" : `every tile failed: ${first.message}`,
  };
}
