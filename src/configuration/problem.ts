/** The origin of a value of a configuration. */
export interface Origin {
  /** The file as the operator named it, or the variable (`NUTHATCH_PORT`) or flag (`--port`) with the value. */
  readonly file: string;
  /** Line and column, counted from 1. Absent if the value is not in a file. */
  readonly line?: number;
  readonly column?: number;
}

/** A problem of a configuration. All problems are reported at once. */
export interface ConfigurationProblem extends Origin {
  /** The path of the value, such as `layers[0].source.url`. Empty for the whole configuration. */
  readonly path: string;
  /** The value as JSON. Absent for a missing value, a map, a list, and a value that may be a secret. */
  readonly value?: string;
  /** One sentence with the path, the expected and the actual value. */
  readonly message: string;
}

/** Returns `file:line:column: message`, the format of compilers, in which editors find positions. */
export const problemText = ({ file, line, column, message }: ConfigurationProblem): string =>
  `${line === undefined ? file : `${file}:${line}:${column ?? 1}`}: ${message}`;
