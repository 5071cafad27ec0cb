/** `NUTHATCH_FULL=1`: the numbers that operators gave (test/README.md), where they take longer than the gate can wait. */
const isFull = process.env["NUTHATCH_FULL"] === "1";

export const inFull = (asOperatorsSay: number, inTheGate: number): number => (isFull ? asOperatorsSay : inTheGate);
