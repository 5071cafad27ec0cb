/**
 * Returns a time in ms for measuring durations. A change of the wall clock does not affect it. Use `Date.now` for times
 * that are compared with times of files or shown to people.
 */
export const elapsedMs = (): number => performance.now();
