/** Mutants that no test can find, because the mutated program does the same. The score leaves them out. */
export interface Equivalent {
  /** The path from the root. */
  readonly file: string;
  /** The text in the source that the mutant replaces: on one line, or the start of it. */
  readonly original: string;
  /** The text of the mutant. Absent: each mutant of the original. */
  readonly replacement?: string;
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [];
