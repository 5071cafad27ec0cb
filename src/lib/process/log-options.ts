import { ok, type Result, refuse } from "../result.ts";

/** From the lowest to the highest level. */
export const LOG_LEVELS = ["info", "warn", "error", "silent"] as const;
export const LOG_FORMATS = ["auto", "text", "json"] as const;

export interface LogOptions {
  /** The lowest level that is logged. */
  readonly level: (typeof LOG_LEVELS)[number];
  /** `auto`: text on a terminal, else JSON. */
  readonly format: (typeof LOG_FORMATS)[number];
}

type Variables = Readonly<Record<string, string | undefined>>;

/** An environment variable with a value that it cannot have. */
export interface BadVariable {
  readonly variable: string;
  readonly message: string;
}

/**
 * Returns the options of the log from NUTHATCH_LOG_LEVEL, and from NUTHATCH_LOG_FORMAT or LOG_FORMAT. Other programs
 * read LOG_FORMAT too, so a value of it that is no format of this log means `auto`.
 */
export function parseLogOptions(env: Variables): Result<LogOptions, BadVariable> {
  const given = { level: env["NUTHATCH_LOG_LEVEL"] || "info", format: env["NUTHATCH_LOG_FORMAT"] || "" };
  const level = LOG_LEVELS.find((one) => one === given.level.toLowerCase());
  if (level === undefined) return refuse(expected("NUTHATCH_LOG_LEVEL", LOG_LEVELS, given.level));
  const format = LOG_FORMATS.find((one) => one === given.format.toLowerCase());
  if (format === undefined && given.format !== "")
    return refuse(expected("NUTHATCH_LOG_FORMAT", LOG_FORMATS, given.format));
  const common = LOG_FORMATS.find((one) => one === env["LOG_FORMAT"]?.toLowerCase());
  return ok({ level, format: format ?? common ?? "auto" });
}

const expected = (variable: string, values: readonly string[], value: string): BadVariable => ({
  variable,
  message: `expected one of ${values.join(", ")}, got ${JSON.stringify(value)}`,
});
