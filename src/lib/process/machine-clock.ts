/**
 * Returns the time in ms since the machine started. All processes of the machine read the same time, and a change of
 * the wall clock does not affect it.
 */
export const machineMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
