/** `NUTHATCH_FULL=1` runs tests with the operators' numbers (test/README.md), which take too long for the gate. */
export const isFull = process.env["NUTHATCH_FULL"] === "1";

export const inFull = (asOperatorsSay: number, inTheGate: number): number => (isFull ? asOperatorsSay : inTheGate);
