import { isoTime } from "../../../lib/iso-time.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { parseWindow, type RunWindow, windowTimes } from "../../../plan/run-window.ts";
import { parseCron } from "../../../schedule/cron.ts";
import {
  MISSED_RULES,
  type ScheduledJob,
  type SchedulePlan,
  type ScheduleRun,
  type ScheduleView,
} from "../../../schedule/schedule.ts";
import { decodeJobs, type RequestedJobs } from "../jobs/job-body-codec.ts";
import type { RequestedJob } from "../jobs/job-request-codec.ts";
import { fieldsOf, type Given, isObject, note, parseObject, textOf } from "../json-fields.ts";
import { scheduledJobDocument } from "./scheduled-job-document.ts";

/** A requested schedule: well-formed, but its jobs are not yet validated against their layers. */
export interface RequestedSchedule {
  readonly name: string;
  readonly plan: SchedulePlan;
}

const FIELDS = ["name", "cron", "timeZone", "job", "missed", "overlap", "window"];
/** The name occurs in paths, logs and command lines. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:+-]{0,99}$/u;
const NAME_EXPECTED = "1 to 100 letters, digits, blanks or . _ : + -, a letter or digit first";

/**
 * Decodes the body of a POST to `/api/v1/schedules`, or of a PUT to a schedule.
 * @param known the name in the path of a PUT
 */
export function decodeSchedule(body: Uint8Array, known?: string): Result<RequestedSchedule, Refusal> {
  const document = parseObject(body, "schedule");
  if (!document.ok) return document;
  const fields = fieldsOf(document.value, FIELDS);
  if (!fields.ok) return fields;
  const given = fields.value;
  const name = nameOf(given, known);
  const cron = textOf(given, "cron") ?? note(given, "cron", "five fields such as 0 2 * * *, or @daily");
  const timeZone = textOf(given, "timeZone") ?? "UTC";
  const missed = given.fields.get("missed") ?? "run_once";
  const rule = MISSED_RULES.find((one) => one === missed) ?? note(given, "missed", `one of ${MISSED_RULES.join(", ")}`);
  if ((given.fields.get("overlap") ?? "never") !== "never") note(given, "overlap", "never");
  const value = given.fields.get("job");
  const asked = isObject(value) ? value : note(given, "job", "an object with the fields of a job");
  const [problem] = given.problems;
  if (problem !== undefined) return refuse(problem);
  if (name === undefined || cron === undefined || rule === undefined || asked === undefined)
    throw new TypeError("a field that was not understood has not been noted");
  const time = parseCron(cron, timeZone);
  if (!time.ok) return time;
  const window = windowOf(given);
  if (!window.ok) return window;
  const job = decodeJobs(asked);
  if (!job.ok) return refuse(ofJob(job.error));
  const plan = { time: time.value, job: scheduledJob(job.value), missed: rule, window: window.value };
  return ok({ name, plan });
}

function scheduledJob(asked: RequestedJob | RequestedJobs): ScheduledJob {
  const { confirmed } = asked;
  if ("many" in asked) return { many: asked.many, confirmed };
  const { request, layer } = asked;
  return { many: { request, layers: [layer], layersAre: "names" }, confirmed };
}

/** Adds `job.` to the field that a refusal names. */
export function ofJob(refusal: Refusal): Refusal {
  return refusal.code === "bad_field" ? { ...refusal, message: `job.${refusal.message}` } : refusal;
}

function nameOf(given: Given, known: string | undefined): string | undefined {
  const name = given.fields.get("name") ?? known;
  if (known !== undefined && name !== known) return note(given, "name", `${known}, as in the path`);
  if (typeof name === "string" && NAME.test(name) && !name.endsWith(" ")) return name;
  given.problems.push(badField("name", NAME_EXPECTED, name ?? null));
  return undefined;
}

function windowOf({ fields }: Given): Result<RunWindow | null, Refusal> {
  const value = fields.get("window");
  if (value === undefined) return ok(null);
  if (!isObject(value)) return refuse(badField("window", 'an object such as {"start":"22:00","end":"06:00"}', value));
  const times = fieldsOf(value, ["start", "end", "from", "to"]);
  if (!times.ok) return refuse({ ...times.error, message: `window.${times.error.message}` });
  const given = times.value.fields;
  // The run windows of jobs have the names `from` and `to`; a schedule accepts them too.
  const [start, end] = given.has("from") || given.has("to") ? (["from", "to"] as const) : (["start", "end"] as const);
  for (const name of ["start", "end"])
    if (start === "from" && given.has(name))
      return refuse(
        badField(`window.${name}`, "nothing beside from and to, other names for start and end", given.get(name)),
      );
  return parseWindow(given.get(start), given.get(end), [`window.${start}`, `window.${end}`]);
}

/** Returns the document of a schedule, with all stored runs or only the last one. */
export function scheduleDocument({ schedule, runs }: ScheduleView, whole: "with runs" | "in a list") {
  const { name, plan, createdBy, createdMs, nextMs } = schedule;
  const [last] = runs;
  return {
    name,
    cron: plan.time.expression,
    timeZone: plan.time.timeZone,
    missed: plan.missed,
    overlap: "never",
    window: plan.window === null ? null : windowTimes(plan.window),
    job: scheduledJobDocument(plan.job),
    paused: nextMs === null,
    createdBy,
    createdAt: isoTime(createdMs),
    nextRun: nextMs === null ? null : isoTime(nextMs),
    lastRun: last === undefined ? null : runDocument(last),
    ...(whole === "in a list" ? {} : { runs: runs.map(runDocument) }),
  };
}

const runDocument = (run: ScheduleRun) => ({
  at: isoTime(run.atMs),
  dueAt: run.dueMs === null ? null : isoTime(run.dueMs),
  by: run.by,
  result: run.result,
  job: run.result === "started" ? (run.jobIds[0] ?? null) : null,
  jobs: run.result === "started" ? run.jobIds : [],
  reason: run.result === "started" ? null : run.reason,
});
