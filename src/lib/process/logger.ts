/** A log line is a fixed sentence plus fields; never a secret. */
export interface Logger {
  info(sentence: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(sentence: string, fields?: Readonly<Record<string, unknown>>): void;
  error(sentence: string, fields?: Readonly<Record<string, unknown>>): void;
}
