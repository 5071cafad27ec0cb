/**
 * The pauses between attempts of something that fails: each pause is twice as long as the previous one, up to the
 * longest.
 */
export interface BackOff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Returns the pause after this many failures in a row, at least one. */
export const pauseAfter = (failures: number, { firstMs, longestMs }: BackOff): number =>
  Math.min(longestMs, firstMs * 2 ** (failures - 1));

/**
 * Returns the next pause of a wait that has lasted `waitedMs`: a pause as long as the wait so far, within the bounds.
 */
export const pauseAfterWait = (waitedMs: number, { firstMs, longestMs }: BackOff): number =>
  Math.min(longestMs, Math.max(firstMs, waitedMs));

/**
 * Lengthens or shortens a pause by up to a quarter, so that calls that failed at the same time do not repeat at the same
 * time.
 * @param random at least 0 and below 1
 */
export const jittered = (ms: number, random: number): number => ms * (0.75 + random / 2);
