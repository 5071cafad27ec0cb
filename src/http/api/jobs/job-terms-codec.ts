import { defined } from "../../../lib/defined.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { type JobChange, type JobHours, type JobTerms, STANDARD_TERMS } from "../../../plan/job/job-terms.ts";
import { windowTimes } from "../../../plan/run-window.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { jobChangeSchema } from "./job-document.ts";

/** Decodes the body of a PATCH to a job. A null field resets that field to its default. */
export function decodeTermsChange(body: Uint8Array): Result<JobChange, Refusal> {
  const document = parseObject(body, "job");
  if (!document.ok) return document;
  const given = decodeBy(jobChangeSchema, withoutNulls(document.value));
  if (!given.ok) return given;
  const { priority, rateLimit, runWindow } = STANDARD_TERMS;
  const change: JobChange = {
    ...defined(given.value),
    ...(document.value["priority"] === null ? { priority } : {}),
    ...(document.value["rateLimit"] === null ? { rateLimit } : {}),
    ...(document.value["runWindow"] === null ? { runWindow } : {}),
    ...(document.value["threadCount"] === null ? { threadCount: 1 } : {}),
  };
  return Object.keys(change).length > 0
    ? ok(change)
    : refuse({
        code: "malformed",
        message: `body: expected at least one of ${Object.keys(jobChangeSchema.shape).join(", ")}`,
      });
}

/**
 * Returns terms in the form of a request. Fields with default values are undefined, so the JSON document omits them.
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
