import type { TimeLeft } from "../../plan/job/job-documents.ts";

/**
 * Corrects the time left by a rate limit. A job that renders every tile is never faster than its limit. A seed may skip
 * stored tiles and be faster, so for a seed the limit counts only until a rate has been measured.
 * @param measured undefined: nothing has been measured yet
 * @param rateLimit tiles per second
 * @param rendersAll whether the job renders every tile
 */
export function limitedTime(
  measured: TimeLeft | undefined,
  left: bigint,
  rateLimit: number,
  rendersAll: boolean,
): TimeLeft {
  const seconds = Math.min(Number.MAX_SAFE_INTEGER, Math.round(Number(left) / rateLimit));
  if (measured === undefined) return { seconds, least: rendersAll ? seconds : 0, most: null, confidence: "low" };
  if (!rendersAll || measured.seconds >= seconds) return measured;
  const { least, most, confidence } = measured;
  return {
    seconds,
    least: Math.max(least, seconds),
    most: most === null ? null : Math.max(most, seconds),
    confidence,
  };
}
