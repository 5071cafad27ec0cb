import type { JobType } from "../../../plan/seed-request.ts";
import { JOB_ORDERS, type JobOrder } from "../../../plan/seed-request.ts";
import { AGE_EXPECTED, parseAge, type RequestedAge } from "../../../plan/tile-age.ts";
import { type Given, note, textOf } from "../json-fields.ts";

/** The fields that choose among the tiles of a range, or say how much of them may go wrong. */
export const CHOICE_FIELDS = ["onlyExisting", "olderThan", "order", "maxFailures", "maxFailurePercent"];

/** `onlyExisting`: of a reseed alone. */
export function onlyExistingOf(given: Given, type: JobType | undefined): true | undefined {
  const value = given.fields.get("onlyExisting");
  if (value === undefined || value === false) return undefined;
  if (value !== true) return note(given, "onlyExisting", "true or false");
  return isReseed(given, type, "onlyExisting") ? true : undefined;
}

/** `olderThan`: of a reseed alone. */
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

/** `order`: what is scattered is found row by row, zoom by zoom; what is hot is so few that it may be looked for there. */
export function orderOf(given: Given, type: JobType | undefined): JobOrder | undefined {
  const value = given.fields.get("order");
  if (value === undefined) return undefined;
  const order = JOB_ORDERS.find((known) => known === value);
  if (order === undefined) return note(given, "order", `one of ${JOB_ORDERS.join(", ")}`);
  if (order === "by-zoom") return undefined;
  if (type === "truncate") return note(given, "order", "nothing beside type truncate");
  const other = given.fields.has("tiles")
    ? "tiles"
    : given.fields.get("onlyExisting") === true
      ? "onlyExisting"
      : undefined;
  return other === undefined || order === "hot" ? order : note(given, "order", `by-zoom or hot beside ${other}`);
}

/** Of the tiles that were tried. */
export function maxFailurePercentOf(given: Given): number | undefined {
  const value = given.fields.get("maxFailurePercent");
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && value <= 100) return value;
  return note(given, "maxFailurePercent", "a number greater than 0, 100 at most");
}

/** Whether the size of the job has been seen and is meant. */
export function confirmOf(given: Given): boolean {
  const value = given.fields.get("confirm") ?? false;
  if (typeof value !== "boolean") note(given, "confirm", "true or false");
  return value === true;
}
