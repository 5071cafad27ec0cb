/** Mutants that no test can find, because the mutated program does the same. The score leaves them out. */
export interface Equivalent {
  /** The path from the root. */
  readonly file: string;
  /** The text in the source that the mutant replaces, with single spaces for white space, or the start of it. */
  readonly original: string;
  /** The text of the mutant. Absent: each mutant of the original. */
  readonly replacement?: string;
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: "src/truncation/layer-stores.ts",
    original: "empty.length === 0",
    replacement: "false",
    reason: "A transaction without a statement changes nothing.",
  },
];
