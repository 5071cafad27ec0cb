import { InvalidArgumentError, Option } from "commander";
import { CommandFailure, EXIT } from "../exit.ts";

/** The most threads of one job. */
const MOST_THREADS = 128;

export const waitOption = (what = "it has", outcome = "its outcome"): Option =>
  new Option("--wait", `until ${what} ended; the exit code is ${outcome}`);

export const layerOption = (help = "of one layer"): Option => new Option("--layer <layer>", help);

export const requestedWithOption = (help = "all jobs of the request that made this one"): Option =>
  new Option("--requested-with <job>", help).argParser(parseJobId);

export const threadsOption = (what: string): Option =>
  new Option("--threads <n>", `tasks that work on ${what} at once`).argParser(parseWhole(1, MOST_THREADS));

export const supersedeOption = (what: string): Option =>
  new Option("--supersede", `older seeds and reseeds of the layer that lie within ${what} end`);

export const timeZoneOption = (what: string): Option =>
  new Option("--time-zone <time-zone>", `${what}, such as Europe/Zurich (UTC)`);

/** Collects the values of an option that may be given more than once. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

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
