import { parseCron } from "../../jobs/cron.ts";
import { parseWindow, type RunWindow, windowTimes } from "../../jobs/run-window.ts";
import { MISSED_RULES, type SchedulePlan, type ScheduleRun, type ScheduleView } from "../../jobs/schedule.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { type AskedJob, decodeJobDocument, encodeJobDocument } from "./job-request-codec.ts";
import { fieldsOf, type Given, isObject, note, parseObject, textOf } from "./json-fields.ts";

/** A schedule asked for: well-formed, its job not yet held against its layer. */
export interface AskedSchedule {
  readonly name: string;
  readonly plan: SchedulePlan;
  readonly job: AskedJob;
}

const FIELDS = ["name", "cron", "timeZone", "job", "missed", "overlap", "window"];
/** It stands in paths, logs and on command lines. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:+-]{0,99}$/u;
const NAME_EXPECTED = "1 to 100 letters, digits, blanks or . _ : + -, a letter or digit first";

/** The body of a POST to `/api/v1/schedules`, or of a PUT to one of them, whose name is then known. */
export function decodeSchedule(body: Uint8Array, known?: string): Result<AskedSchedule, Refusal> {
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
  const job = decodeJobDocument(asked);
  if (!job.ok) return refuse(ofJob(job.error));
  const { layer, request } = job.value;
  // A run is made in one go with its count; an area may take a second of counting.
  const area = request.area?.bounds === undefined ? "area" : "boundsCrs";
  const limit = request.area !== undefined ? area : request.tiles !== undefined ? "tiles" : undefined;
  if (limit !== undefined)
    return refuse({
      code: "bad_field",
      message: `job.${limit}: expected bounds, the jobs of schedules know no ${limit}`,
    });
  if ((request.terms?.runWindow ?? null) !== null)
    return refuse({
      code: "bad_field",
      message: "job.runWindow: expected the window of the schedule, its jobs have no other",
    });
  if (request.supersede !== undefined)
    return refuse({ code: "bad_field", message: "job.supersede: expected none, the jobs of schedules end no others" });
  const plan = { time: time.value, job: { layer, request }, missed: rule, window: window.value };
  return ok({ name, plan, job: job.value });
}

/** A refusal of what is inside `job`. */
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
  const times = fieldsOf(value, ["start", "end"]);
  if (!times.ok) return refuse({ ...times.error, message: `window.${times.error.message}` });
  return parseWindow(times.value.fields.get("start"), times.value.fields.get("end"));
}

/** A schedule as `/api/v1` shows it; with all the runs that are remembered, or the last one alone. */
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
    job: encodeJobDocument(plan.job),
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
  job: run.result === "started" ? run.jobId : null,
  reason: run.result === "started" ? null : run.reason,
});

const isoTime = (ms: number): string => new Date(ms).toISOString();
