import type { Counts } from "../plan/job/job-counts.ts";
import type { JobRequest } from "../plan/job/job-request.ts";

/**
 * A running job is compared with `maxFailurePercent` only after this many tiles, because early on one failed tile would
 * exceed it.
 */
const TRIED_TO_JUDGE = 100n;

/**
 * Returns the reason if a job has too many failed tiles to continue. Undefined if the job may continue. Pure.
 * @param work whether the job has tiles left to process
 */
export function failureLimitReason(
  { maxFailures, maxFailurePercent }: Pick<JobRequest, "maxFailures" | "maxFailurePercent">,
  { stored, unchanged, failed }: Counts,
  work: "going on" | "all done",
): string | undefined {
  if (failed === 0n) return undefined;
  if (maxFailures !== null && failed >= BigInt(Math.max(1, maxFailures)))
    return `${failed} tiles failed (the limit is ${maxFailures})`;
  // Skipped tiles were not requested from the upstream.
  const tried = stored + unchanged + failed;
  if (maxFailurePercent === undefined || (work === "going on" && tried < TRIED_TO_JUDGE)) return undefined;
  const isTooMany = Number(failed) * 100 > maxFailurePercent * Number(tried);
  return isTooMany ? `${failed} of ${tried} tiles failed (maxFailurePercent is ${maxFailurePercent})` : undefined;
}
