import * as z from "zod";
import { Slices } from "../../../lib/process/slices.ts";
import { badField, type Refusal, unknownLayer, unknownSchedule } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { layersNamed } from "../../../plan/plan-batch.ts";
import { MOST_RUNS, type ScheduledJob, type ScheduleView } from "../../../schedule/schedule.ts";
import { differences, withDetail } from "../../activity/activity-detail.ts";
import type { Exchange } from "../../resource.ts";
import { documentAnswer, noContent, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import type { Decoding } from "../jobs/decoding.ts";
import { createdJobs, submittedAnswer } from "../jobs/jobs-route.ts";
import { answer, created } from "../openapi/openapi-parts.ts";
import { wholeNumber } from "../query-fields.ts";
import {
  decodeSchedule,
  decodeScheduleChange,
  ofJob,
  type RequestedSchedule,
  scheduleDocument,
} from "./schedule-codec.ts";
import { scheduleChangeSchema, scheduleRequestSchema } from "./schedule-document.ts";

/** The query of schedules. */
const schedulesQuery = z.object({
  runs: wholeNumber({ least: 0, most: MOST_RUNS, standard: 0 }).meta({
    description: "The number of last runs of each schedule, with the outcomes of their jobs. 0: as without the field",
  }),
});

export const scheduleOperations = [
  operation(
    "GET /schedules",
    "listSchedules",
    "Lists schedules by name",
    { query: schedulesQuery, answer: "Schedules", failures: [400] },
    async ({ operations }, { fields: { runs } }) => {
      const schedules = await operations.schedules(Math.max(1, runs));
      const shown = runs === 0 ? "in a list" : "with outcomes";
      return ok({ schedules: schedules.map((schedule) => scheduleDocument(schedule, shown)) });
    },
  ),
  operation(
    "POST /schedules",
    "createSchedule",
    "Creates a schedule, which creates jobs at the times of a cron expression in a time zone. name is required",
    {
      need: "operate",
      body: { ScheduleRequest: scheduleRequestSchema },
      answer: "Schedule",
      status: 201,
      failures: [400, 409, 413],
    },
    async ({ operations, clock }, exchange) => {
      const requested = await scheduleOf(exchange, clock);
      if (!requested.ok) return requested;
      const { name, plan } = requested.value;
      const made = await operations.addSchedule(name, plan, exchange.by);
      if (!made.ok) return refuse(ofJob(made.error));
      const headers = { Location: addressOf(exchange, name) };
      return {
        ...ok(scheduleDocument(made.value, "with runs")),
        headers,
        detail: scheduleDetail(undefined, made.value),
      };
    },
  ),
  operation(
    "GET /schedules/{name}",
    "getSchedule",
    "Returns one schedule with the outcomes of its last runs",
    { query: schedulesQuery, answer: "Schedule", failures: [400, 404] },
    async ({ operations }, { key, fields: { runs } }) => {
      const view = await operations.schedule(key);
      if (view === undefined) return refuse(unknownSchedule(key));
      if (runs === 0) return shown(ok(view));
      return ok(scheduleDocument({ ...view, runs: view.runs.slice(0, runs) }, "with outcomes"));
    },
  ),
  operation(
    "PUT /schedules/{name}",
    "putSchedule",
    "Creates a schedule, or replaces the jobs and times of an existing one",
    {
      need: "operate",
      body: { ScheduleRequest: scheduleRequestSchema },
      answers: { 200: answer("Schedule"), 201: created("Schedule") },
      failures: [400, 409, 413],
    },
    async ({ operations, clock }, exchange) => {
      const { key, by } = exchange;
      const requested = await scheduleOf(exchange, clock, key);
      if (!requested.ok) return requested;
      const before = await operations.schedule(key);
      const put = await operations.putSchedule(key, requested.value.plan, by);
      if (!put.ok) return refuse(ofJob(put.error));
      const { view, isNew } = put.value;
      const document = scheduleDocument(view, "with runs");
      const reply = isNew
        ? documentAnswer("Schedule", document, 201, { Location: addressOf(exchange, key) })
        : documentAnswer("Schedule", document);
      return withDetail(reply, scheduleDetail(isNew ? undefined : before, view));
    },
  ),
  operation(
    "PATCH /schedules/{name}",
    "changeSchedule",
    "Changes the given fields of a schedule; null is the default of a PUT",
    {
      need: "operate",
      body: { ScheduleChange: scheduleChangeSchema },
      answer: "Schedule",
      failures: [400, 404, 409, 413],
    },
    async ({ operations, clock }, exchange) => {
      const { key, by } = exchange;
      const change = await decodedInSteps(exchange, clock, (body) => decodeScheduleChange(body, key));
      if (!change.ok) return change;
      const unknown = change.value.job === undefined ? undefined : unknownLayerOf(change.value.job, exchange);
      if (unknown !== undefined) return refuse(unknown);
      const before = await operations.schedule(key);
      const changed = await operations.changeSchedule(key, change.value, by);
      if (!changed.ok) return refuse(ofJob(changed.error));
      return { ...shown(changed), detail: scheduleDetail(before, changed.value) };
    },
  ),
  operation(
    "DELETE /schedules/{name}",
    "removeSchedule",
    "Removes a schedule. Its jobs stay",
    { need: "operate", failures: [404] },
    async ({ operations }, { key }) => {
      const removed = await operations.removeSchedule(key);
      return removed.ok ? noContent(`schedule ${key}: removed`) : removed;
    },
  ),
  operation(
    "POST /schedules/{name}/pause",
    "pauseSchedule",
    "Pauses a schedule until it is resumed. It stays paused over restarts",
    { need: "operate", answer: "Schedule", failures: [404] },
    async ({ operations }, { key }) => shown(await operations.pauseSchedule(key)),
  ),
  operation(
    "POST /schedules/{name}/resume",
    "resumeSchedule",
    "Resumes a schedule at its next time",
    { need: "operate", answer: "Schedule", failures: [404] },
    async ({ operations }, { key }) => shown(await operations.resumeSchedule(key)),
  ),
  operation(
    "POST /schedules/{name}/run",
    "runSchedule",
    "Creates the jobs of a schedule now; 409 while an earlier job of the schedule has not ended",
    { need: "operate", answers: { 201: createdJobs("Job", "Jobs") }, failures: [400, 404, 409] },
    async (parts, exchange) => {
      const run = await parts.operations.runSchedule(exchange.key, exchange.by);
      return run.ok ? submittedAnswer(parts, exchange, ok(run.value.submitted), run.value.isMany) : run;
    },
  ),
];

/**
 * Decodes the body and checks that its layers exist. The coordinator validates the jobs against their layers, now and
 * at each run.
 */
async function scheduleOf(
  exchange: Exchange,
  clock: Clock,
  name?: string,
): Promise<Result<RequestedSchedule, Refusal>> {
  const requested = await decodedInSteps(exchange, clock, (body) => decodeSchedule(body, name));
  if (!requested.ok) return requested;
  const unknown = unknownLayerOf(requested.value.plan.job, exchange);
  return unknown === undefined ? requested : refuse(unknown);
}

/** Decodes the body in slices, because an area may have 250,000 corners. */
async function decodedInSteps<T>(
  exchange: Exchange,
  clock: Clock,
  decode: (body: Uint8Array) => Decoding<T>,
): Promise<Result<T, Refusal>> {
  const body = await exchange.body(ok);
  if (!body.ok) return body;
  const slices = new Slices(clock);
  const decoded = await slices.run(decode(body.value));
  // Sending an area of tens of thousands of corners to the coordinator takes as long as a slice.
  if (slices.isOver) await slices.next();
  return decoded;
}

/** Returns the refusal of the first unknown layer of a scheduled job. Undefined if all layers exist. */
function unknownLayerOf(
  { many: { layers, layersAre } }: ScheduledJob,
  { catalogue }: Pick<Exchange, "catalogue">,
): Refusal | undefined {
  const unknown = layers.find((layer) => layersNamed(layer, layersAre, catalogue.layers).length === 0);
  if (unknown === undefined) return undefined;
  const { details } = unknownLayer(unknown, catalogue.layers);
  // Not a 404, which would mean that the schedule does not exist.
  return layersAre === "names"
    ? badField("job.layer", "the name of a layer", unknown, details)
    : badField("job.layers", "names of layers, in which * stands for any characters", unknown, details);
}

/** Describes a schedule by its name and its changed fields. */
function scheduleDetail(before: ScheduleView | undefined, after: ScheduleView): string {
  const definition = (view: ScheduleView) => {
    const { cron, timeZone, missed, window, job } = scheduleDocument(view, "in a list");
    return { cron, timeZone, missed, window, job };
  };
  return `schedule ${after.schedule.name}: ${differences(before === undefined ? {} : definition(before), definition(after))}`;
}

/** Returns the document of a schedule with its runs, or the refusal. */
const shown = (view: Result<ScheduleView, Refusal>): Result<Documents["Schedule"], Refusal> =>
  view.ok ? ok(scheduleDocument(view.value, "with runs")) : view;

const addressOf = ({ base }: Exchange, name: string): string => `${base}/api/v1/schedules/${encodeURIComponent(name)}`;
