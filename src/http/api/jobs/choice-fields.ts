import type { JobType } from "../../../plan/seed-request.ts";
import { JOB_ORDERS, type JobOrder } from "../../../plan/seed-request.ts";
import { AGE_EXPECTED, parseAge, type RequestedAge } from "../../../plan/tile-age.ts";
import { type Given, note, textOf } from "../json-fields.ts";

/** The fields that select tiles of a range, order them, or limit the failures of a job. */
export const CHOICE_FIELDS = ["onlyExisting", "olderThan", "order", "maxFailures", "maxFailurePercent"];

/** Reads `onlyExisting`. Only a reseed may have it. */
export function onlyExistingOf(given: Given, type: JobType | undefined): true | undefined {
  const value = given.fields.get("onlyExisting");
  if (value === undefined || value === false) return undefined;
  if (value !== true) return note(given, "onlyExisting", "true or false");
  return isReseed(given, type, "onlyExisting") ? true : undefined;
}

/** Reads `olderThan`. Only a reseed may have it. */
export function olderThanOf(given: Given, type: JobType | undefined): RequestedAge | undefined {
  const text = textOf(given, "olderThan");
  if (text === undefined) return undefined;
  const age = parseAge(text);
  if (age === undefined) return note(given, "olderThan", AGE_EXPECTED);
  return isReseed(given, type, "olderThan") ? age : undefined;
}

function isReseed(given: Given, type: JobType | undefined, beside: string): boolean {
  if (type === "reseed") return true;
  const why =
    type === "truncate"
      ? "a truncate takes what is kept, whatever its age"
      : "a seed renders what is missing or has expired";
  note(given, "type", `reseed beside ${beside} (${why})`);
  return false;
}

/** Reads `order`. By zoom is the default, and absent in the result. */
export function orderOf(given: Given, type: JobType | undefined): JobOrder | undefined {
  const value = given.fields.get("order");
  if (value === undefined) return undefined;
  const order = JOB_ORDERS.find((known) => known === value);
  if (order === undefined) return note(given, "order", `one of ${JOB_ORDERS.join(", ")}`);
  if (order === "by-zoom") return undefined;
  if (type === "truncate") return note(given, "order", "nothing beside type truncate");
  return order;
}

/** Reads `maxFailurePercent`: a percentage of the tiles that the job has tried. */
export function maxFailurePercentOf(given: Given): number | undefined {
  const value = given.fields.get("maxFailurePercent");
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && value <= 100) return value;
  return note(given, "maxFailurePercent", "a number greater than 0, 100 at most");
}

/** Reads `confirm`: true if the client confirms the size of the job. */
export function confirmOf(given: Given): boolean {
  const value = given.fields.get("confirm") ?? false;
  if (typeof value !== "boolean") note(given, "confirm", "true or false");
  return value === true;
}
