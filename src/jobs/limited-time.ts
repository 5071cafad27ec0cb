import type { TimeLeft } from "../plan/rate-meter.ts";

/**
 * What a rate limit tells of the time that is left. What renders every tile is never faster than its limit; a seed may find
 * most of them kept: there the limit counts only as long as nothing has been measured.
 * @param measured undefined: nothing yet
 * @param rateLimit tiles per second
 */
export function limitedTime(
  measured: TimeLeft | undefined,
  left: bigint,
  rateLimit: number,
  drawsAll: boolean,
): TimeLeft {
  const seconds = Math.min(Number.MAX_SAFE_INTEGER, Math.round(Number(left) / rateLimit));
  if (measured === undefined) return { seconds, least: drawsAll ? seconds : 0, most: null, confidence: "low" };
  if (!drawsAll || measured.seconds >= seconds) return measured;
  const { least, most, confidence } = measured;
  return {
    seconds,
    least: Math.max(least, seconds),
    most: most === null ? null : Math.max(most, seconds),
    confidence,
  };
}
