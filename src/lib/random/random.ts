/**
 * The random numbers of one process. Each function can be passed without the object. The machine's implementation is
 * `machineRandom`; tests have one with a seed.
 */
export interface Random {
  /** Returns a number of at least 0 and below 1. */
  readonly fraction: () => number;
  /** Returns a whole number of at least 0 and below `end`. */
  readonly below: (end: number) => number;
  /** Returns bytes that nobody can guess. */
  readonly bytes: (count: number) => Buffer;
  /** Returns a UUID of version 4. */
  readonly uuid: () => string;
}
