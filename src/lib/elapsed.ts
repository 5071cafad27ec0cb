/**
 * A clock for durations, ms: it goes on evenly when the time of day is set. What is compared with times of files, or shown to
 * people, is `Date.now`'s.
 */
export const elapsedMs = (): number => performance.now();
