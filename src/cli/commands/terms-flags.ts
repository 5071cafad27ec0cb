import { type Command, InvalidArgumentError } from "commander";
import { parseWhole, timeZoneOption } from "./shared-options.ts";

/** The value that removes a limit. commander has no null for the value of an option. */
const NO_LIMIT = "none";

/** Two times of day. The server validates them. */
export interface WindowFlag {
  readonly start: string;
  readonly end: string;
}

export function parseWindowFlag(text: string): WindowFlag {
  const [, start, end] = /^([^-]+)-([^-]+)$/.exec(text) ?? [];
  if (start === undefined || end === undefined) throw new InvalidArgumentError("It has the form 22:00-06:00.");
  return { start: start.trim(), end: end.trim() };
}

/** Flags that set how a job runs beside other jobs. */
export interface TermsFlags {
  readonly priority?: number | string;
  readonly rateLimit?: number | typeof NO_LIMIT;
  readonly runWindow?: WindowFlag | typeof NO_LIMIT;
  readonly timeZone?: string;
}

/** Adds these flags without the time zone: the time zone of a schedule applies to its cron expression too. */
export const addRateFlags = (command: Command): Command =>
  command
    .option("--priority <priority>", "its share of turns, 1 to 100, or low, normal (10) or high", parsePriority)
    .option("--rate-limit <rate>", "tiles per second that are rendered at most, or none", orNone(parseRate))
    .option("--run-window <from-to>", "when it may work, such as 22:00-06:00, or none", orNone(parseWindowFlag));

export const addTermsFlags = (command: Command): Command =>
  addRateFlags(command).addOption(timeZoneOption("of the run window"));

/** Returns these fields for a job request or a PATCH of a job. JSON leaves out the fields of absent flags. */
export function termsFields({ priority, rateLimit, runWindow, timeZone }: TermsFlags) {
  return {
    priority,
    rateLimit: rateLimit === NO_LIMIT ? null : rateLimit,
    runWindow: runWindow === NO_LIMIT ? null : runWindow && { from: runWindow.start, to: runWindow.end, timeZone },
  };
}

export const areTermsGiven = (flags: TermsFlags): boolean =>
  Object.values(termsFields(flags)).some((field) => field !== undefined);

const orNone =
  <T>(parse: (text: string) => T) =>
  (text: string): T | typeof NO_LIMIT =>
    text === NO_LIMIT ? NO_LIMIT : parse(text);

const parsePriority = (text: string): number | string =>
  ["low", "normal", "high"].includes(text) ? text : parseWhole(1, 100)(text);

function parseRate(text: string): number {
  const rate = Number(text);
  if (!/^(?:\d+|\d*\.\d+)$/.test(text) || rate <= 0) throw new InvalidArgumentError("A number above 0, or none.");
  return rate;
}
