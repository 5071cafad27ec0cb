import type { Counts } from "../plan/job-counts.ts";
import type { JobRequest } from "../plan/job-request.ts";

/** A share is judged of so many tiles: of the first few one that fails would be too many. */
const TRIED_TO_JUDGE = 100n;

/**
 * Why a job has too many failed tiles to go on; undefined: it has not. Pure.
 * @param work whether there is more to come
 */
export function failureLimitReason(
  { failureLimit, failurePercent }: Pick<JobRequest, "failureLimit" | "failurePercent">,
  { stored, unchanged, failed }: Counts,
  work: "going on" | "all done",
): string | undefined {
  if (failed === 0n) return undefined;
  if (failed >= BigInt(Math.max(1, failureLimit))) return `${failed} tiles failed (the limit is ${failureLimit})`;
  // What was skipped tells nothing of the upstream.
  const tried = stored + unchanged + failed;
  if (failurePercent === undefined || (work === "going on" && tried < TRIED_TO_JUDGE)) return undefined;
  const isTooMany = Number(failed) * 100 > failurePercent * Number(tried);
  return isTooMany ? `${failed} of ${tried} tiles failed (maxFailurePercent is ${failurePercent})` : undefined;
}
