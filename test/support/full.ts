/** `NUTHATCH_FULL=1` runs tests with the operators' numbers (test/README.md), which take too long for the gate. */
export const isFull = process.env["NUTHATCH_FULL"] === "1";

/**
 * Returns the number of one thing (tiles, kills) for this run. `npm run reference` writes both numbers into the table
 * of test/README.md.
 */
export const inFull = (_what: string, asOperatorsSay: number, inTheGate: number): number =>
  isFull ? asOperatorsSay : inTheGate;
