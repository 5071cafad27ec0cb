/** One thing that is wrong with a configuration. All of them are told at once. */
export interface ConfigurationProblem {
  /** The file as it was named, or the variable (`NUTHATCH_PORT`) or flag (`--port`) that holds the value. */
  readonly file: string;
  /** Counted from 1; undefined: not from a file. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Such as `layers[0].source.url`; empty: the whole. */
  readonly path: string;
  /** As JSON; undefined for what is missing, for maps and lists, and for anything that may be a secret. */
  readonly value: string | undefined;
  /** One sentence: the path, what would do, the value. */
  readonly message: string;
}

/** `file:line:column: message`, as compilers print it and editors find it. */
export const problemText = ({ file, line, column, message }: ConfigurationProblem): string =>
  `${line === undefined ? file : `${file}:${line}:${column ?? 1}`}: ${message}`;
