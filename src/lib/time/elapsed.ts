/**
 * Returns a time in ms to measure durations with. A change of the wall clock does not affect it. Compare times of
 * files, and show times to people, with `Date.now`.
 */
export const elapsedMs = (): number => performance.now();
