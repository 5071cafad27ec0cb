import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { type JobHours, type JobTerms, PRIORITIES, STANDARD_TERMS } from "../../../plan/job-terms.ts";
import { parseTimeZone, parseWindow, windowTimes } from "../../../plan/run-window.ts";
import type { JobType } from "../../../plan/seed-request.ts";
import { fieldsOf, type Given, isObject, note, parseObject } from "../json-fields.ts";

export const TERM_FIELDS = ["priority", "rateLimit", "runWindow"] as const;

const MOST_PRIORITY = 100;
/** Tiles per second. The least rate is about one tile in a quarter of an hour. */
const RATE = { least: 0.001, most: 1_000_000 } as const;

/** Returns the terms among the fields of a job; undefined if none were given. `type` is undefined if it was refused. */
export function termsOf(given: Given, type: JobType | undefined): JobTerms | undefined {
  if (type === "truncate" && given.fields.has("rateLimit"))
    note(given, "rateLimit", "none for a truncate, as it renders nothing");
  const terms = givenTerms(given);
  return Object.keys(terms).length === 0 ? undefined : { ...STANDARD_TERMS, ...terms };
}

/**
 * Beside these fields `supersede` is refused: the job may leave tiles of its range as they are, so an older job on the
 * same range may still have work to do.
 */
const NOT_BESIDE = ["area", "tiles", "onlyExisting", "olderThan"] as const;

export function supersedeOf(given: Given, type: JobType | undefined): boolean {
  const value = given.fields.get("supersede") ?? false;
  if (typeof value !== "boolean") note(given, "supersede", "true or false");
  if (value !== true) return false;
  if (type === "seed") note(given, "supersede", "none for a seed: what an older job is to render stays missing");
  const other = NOT_BESIDE.find((field) => (given.fields.get(field) ?? false) !== false);
  if (other !== undefined) note(given, "supersede", `none beside ${other}: what an older job is to render may stay`);
  return true;
}

/** Decodes the body of a PATCH to a job. A null field resets that term to its default. */
export function decodeTermsChange(body: Uint8Array): Result<Partial<JobTerms>, Refusal> {
  const document = parseObject(body, "job");
  if (!document.ok) return document;
  const fields = fieldsOf(document.value, TERM_FIELDS);
  if (!fields.ok) return fields;
  const nulls = new Set(Object.entries(document.value).flatMap(([name, value]) => (value === null ? [name] : [])));
  const terms: Partial<JobTerms> = {
    ...givenTerms(fields.value),
    ...(nulls.has("priority") ? { priority: STANDARD_TERMS.priority } : {}),
    ...(nulls.has("rateLimit") ? { rateLimit: STANDARD_TERMS.rateLimit } : {}),
    ...(nulls.has("runWindow") ? { runWindow: STANDARD_TERMS.runWindow } : {}),
  };
  const [problem] = fields.value.problems;
  if (problem !== undefined) return refuse(problem);
  return Object.keys(terms).length > 0
    ? ok(terms)
    : refuse({ code: "malformed", message: `body: expected at least one of ${TERM_FIELDS.join(", ")}` });
}

function givenTerms(given: Given): Partial<JobTerms> {
  const priority = priorityOf(given);
  const rateLimit = rateLimitOf(given);
  const runWindow = runWindowOf(given);
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(runWindow === undefined ? {} : { runWindow }),
  };
}

function priorityOf(given: Given): number | undefined {
  const value = given.fields.get("priority");
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MOST_PRIORITY) return value;
  const [, named] = Object.entries(PRIORITIES).find(([name]) => name === value) ?? [];
  return named ?? note(given, "priority", `a whole number from 1 to ${MOST_PRIORITY}, or low, normal or high`);
}

function rateLimitOf(given: Given): number | undefined {
  const value = given.fields.get("rateLimit");
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= RATE.least && value <= RATE.most) return value;
  return note(given, "rateLimit", `a number of tiles per second, ${RATE.least} to ${RATE.most}`);
}

function runWindowOf(given: Given): JobHours | undefined {
  const value = given.fields.get("runWindow");
  if (value === undefined) return undefined;
  if (!isObject(value))
    return note(given, "runWindow", 'an object such as {"from":"22:00","to":"06:00","timeZone":"Europe/Zurich"}');
  const hours = hoursOf(value);
  if (hours.ok) return hours.value;
  given.problems.push(hours.error);
  return undefined;
}

function hoursOf(document: object): Result<JobHours, Refusal> {
  const given = fieldsOf(document, ["from", "to", "timeZone"]);
  if (!given.ok) return refuse({ ...given.error, message: `runWindow.${given.error.message}` });
  const { fields } = given.value;
  const window = parseWindow(fields.get("from"), fields.get("to"), ["runWindow.from", "runWindow.to"]);
  if (!window.ok) return window;
  const name = fields.get("timeZone") ?? "UTC";
  if (typeof name !== "string") return refuse(badField("runWindow.timeZone", "a name such as Europe/Zurich", name));
  const timeZone = parseTimeZone(name, "runWindow.timeZone");
  return timeZone.ok ? ok({ window: window.value, timeZone: timeZone.value }) : timeZone;
}

/**
 * Returns terms in the form in which a request has them. Fields with default values are undefined, so the JSON document
 * omits them.
 */
export function termsDocument(terms: JobTerms | undefined) {
  if (terms === undefined) return {};
  const { priority, rateLimit, runWindow } = terms;
  return {
    priority: priority === STANDARD_TERMS.priority ? undefined : priority,
    rateLimit: rateLimit ?? undefined,
    runWindow: runWindow === null ? undefined : hoursDocument(runWindow),
  };
}

function hoursDocument({ window, timeZone }: JobHours) {
  const { start: from, end: to } = windowTimes(window);
  return { from, to, timeZone };
}
