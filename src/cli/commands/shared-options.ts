import { InvalidArgumentError, Option } from "commander";
import type { Quota } from "../../quota/configuration/quota-configuration.ts";
import { parseQuotaSize, STORAGE_UNITS } from "../../quota/configuration/quota-validation.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { GROUPS } from "../help-groups.ts";

/** The most threads of one job. */
const MOST_THREADS = 128;

export const waitOption = (what = "the job has", outcome = "its outcome"): Option =>
  new Option("--wait", `wait until ${what} ended; the exit code is ${outcome}`).helpGroup(GROUPS.waiting);

export const layerOption = (help = "only those of one layer"): Option => new Option("--layer <layer>", help);

export const requestedWithOption = (help = "all jobs of the request that created this job"): Option =>
  new Option("--requested-with <job>", help).argParser(parseJobId);

export const threadsOption = (what: string, otherwise = " (1)"): Option =>
  new Option("--threads <n>", `the number of tasks that work on ${what} at the same time${otherwise}`)
    .argParser(parseWhole(1, MOST_THREADS))
    .helpGroup(GROUPS.how);

export const supersedeOption = (what: string): Option =>
  new Option("--supersede", `end older seeds and reseeds of the layer within the range of ${what}`).helpGroup(
    GROUPS.how,
  );

export const timeZoneOption = (what: string): Option =>
  new Option("--time-zone <time-zone>", `${what}, such as Europe/Zurich (UTC)`).helpGroup(GROUPS.how);

/** Collects the values of an option that may be given more than once. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Parses a size such as `5GiB`. */
export function parseSize(text: string): Quota {
  const size = parseQuotaSize(text);
  if (size === undefined)
    throw new InvalidArgumentError(`A number with one of ${STORAGE_UNITS.join(", ")}, such as 5GiB.`);
  return size;
}

/** The help text of a job argument. */
export const JOB_ID = "the id of the job, as nuthatch jobs lists it";

/** Parses the id of a job from the command line. */
export function parseJobId(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new CommandFailure(`expected the id of a job, a whole number, got ${text}`, EXIT.usage);
  return Number(text);
}

/** Returns a parser for an option whose value is a whole number from `least` to `most`. */
export const parseWhole =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`);
    return number;
  };
