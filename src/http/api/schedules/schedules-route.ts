import * as z from "zod";
import { Slices } from "../../../lib/process/slices.ts";
import { badField, type Refusal, unknownLayer, unknownSchedule } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { layersNamed } from "../../../plan/plan-batch.ts";
import { MOST_RUNS, type ScheduledJob, type ScheduleView } from "../../../schedule/schedule.ts";
import { differences, withDetail } from "../../activity-detail.ts";
import { type Exchange, operating, type Reply, type RouteOptions } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";
import { operation } from "../api-operation.ts";
import type { Decoding } from "../jobs/decoding.ts";
import { createdJobs, submittedAnswer } from "../jobs/jobs-route.ts";
import { answer, created, gone } from "../openapi/openapi-parts.ts";
import { readingQuery, wholeNumber } from "../query-fields.ts";
import {
  decodeSchedule,
  decodeScheduleChange,
  ofJob,
  type RequestedSchedule,
  scheduleDocument,
} from "./schedule-codec.ts";

/** The query of schedules. */
const schedulesQuery = z.object({
  runs: wholeNumber({ least: 0, most: MOST_RUNS, standard: 0 }).meta({
    description: "The number of last runs of each schedule, with the outcomes of their jobs. 0: as without the field",
  }),
});

type Parts = Pick<RouteOptions, "operations">;

export const scheduleOperations = [
  operation(
    "GET /schedules",
    "listSchedules",
    "Lists schedules by name",
    { query: schedulesQuery, answers: "Schedules", failures: [400] },
    ({ operations }: Parts) =>
      readingQuery(schedulesQuery, async ({ runs }) => {
        const schedules = await operations.schedules(Math.max(1, runs));
        const shown = runs === 0 ? "in a list" : "with outcomes";
        return documentAnswer("Schedules", {
          schedules: schedules.map((schedule) => scheduleDocument(schedule, shown)),
        });
      }),
  ),
  operation(
    "POST /schedules",
    "createSchedule",
    "Creates a schedule, which creates jobs at the times of a cron expression in a time zone. name is required",
    { body: "ScheduleRequest", answers: { 201: created("Schedule") }, failures: [400, 409, 413] },
    ({ operations }: Parts) =>
      operating(async (exchange) => {
        const requested = await scheduleOf(exchange);
        if (!requested.ok) return requested;
        const { name, plan } = requested.value;
        const made = await operations.addSchedule(name, plan, exchange.by);
        return made.ok
          ? withDetail(madeAnswer(exchange, made.value), scheduleDetail(undefined, made.value))
          : refuse(ofJob(made.error));
      }),
  ),
  operation(
    "GET /schedules/{name}",
    "getSchedule",
    "Returns one schedule with the outcomes of its last runs",
    { query: schedulesQuery, answers: "Schedule", failures: [400, 404] },
    ({ operations }: Parts, name) =>
      readingQuery(schedulesQuery, async ({ runs }) => {
        const view = await operations.schedule(name);
        if (view === undefined) return refuse(unknownSchedule(name));
        if (runs === 0) return scheduleAnswer(ok(view));
        const last = { ...view, runs: view.runs.slice(0, runs) };
        return documentAnswer("Schedule", scheduleDocument(last, "with outcomes"));
      }),
  ),
  operation(
    "PUT /schedules/{name}",
    "putSchedule",
    "Creates a schedule, or replaces the jobs and times of an existing one",
    {
      body: "ScheduleRequest",
      answers: { 200: answer("Schedule"), 201: created("Schedule") },
      failures: [400, 409, 413],
    },
    ({ operations }: Parts, name) =>
      operating(async (exchange) => {
        const requested = await scheduleOf(exchange, name);
        if (!requested.ok) return requested;
        const before = await operations.schedule(name);
        const put = await operations.putSchedule(name, requested.value.plan, exchange.by);
        if (!put.ok) return refuse(ofJob(put.error));
        const { view, isNew } = put.value;
        const reply = isNew ? madeAnswer(exchange, view) : scheduleAnswer(ok(view));
        return withDetail(reply, scheduleDetail(isNew ? undefined : before, view));
      }),
  ),
  operation(
    "PATCH /schedules/{name}",
    "changeSchedule",
    "Changes the given fields of a schedule; null is the default of a PUT",
    { body: "ScheduleChange", answers: "Schedule", failures: [400, 404, 409, 413] },
    ({ operations }: Parts, name) =>
      operating(async (exchange) => {
        const change = await decodedInSteps(exchange, (body) => decodeScheduleChange(body, name));
        if (!change.ok) return change;
        const unknown = change.value.job === undefined ? undefined : unknownLayerOf(change.value.job, exchange);
        if (unknown !== undefined) return refuse(unknown);
        const before = await operations.schedule(name);
        const changed = await operations.changeSchedule(name, change.value, exchange.by);
        return changed.ok
          ? withDetail(scheduleAnswer(changed), scheduleDetail(before, changed.value))
          : refuse(ofJob(changed.error));
      }),
  ),
  operation(
    "DELETE /schedules/{name}",
    "removeSchedule",
    "Removes a schedule. Its jobs stay",
    { answers: gone, failures: [404] },
    ({ operations }: Parts, name) =>
      operating(async () => {
        const removed = await operations.removeSchedule(name);
        return removed.ok ? { status: 204, body: "", detail: `schedule ${name}: removed` } : removed;
      }),
  ),
  operation(
    "POST /schedules/{name}/pause",
    "pauseSchedule",
    "Pauses a schedule until it is resumed. It stays paused over restarts",
    { answers: "Schedule", failures: [404] },
    ({ operations }: Parts, name) => operating(async () => scheduleAnswer(await operations.pauseSchedule(name))),
  ),
  operation(
    "POST /schedules/{name}/resume",
    "resumeSchedule",
    "Resumes a schedule at its next time",
    { answers: "Schedule", failures: [404] },
    ({ operations }: Parts, name) => operating(async () => scheduleAnswer(await operations.resumeSchedule(name))),
  ),
  operation(
    "POST /schedules/{name}/run",
    "runSchedule",
    "Creates the jobs of a schedule now; 409 while an earlier job of the schedule has not ended",
    { answers: { 201: createdJobs("Job", "Jobs") }, failures: [400, 404, 409] },
    (parts: Parts, name) =>
      operating(async (exchange) => {
        const run = await parts.operations.runSchedule(name, exchange.by);
        return run.ok ? submittedAnswer(parts, exchange, ok(run.value.submitted), run.value.isMany) : run;
      }),
  ),
];

/**
 * Decodes the body and checks that its layers exist. The coordinator validates the jobs against their layers, now and
 * at each run.
 */
async function scheduleOf(exchange: Exchange, name?: string): Promise<Result<RequestedSchedule, Refusal>> {
  const requested = await decodedInSteps(exchange, (body) => decodeSchedule(body, name));
  if (!requested.ok) return requested;
  const unknown = unknownLayerOf(requested.value.plan.job, exchange);
  return unknown === undefined ? requested : refuse(unknown);
}

/** Decodes the body in slices, because an area may have 250,000 corners. */
async function decodedInSteps<T>(
  exchange: Exchange,
  decode: (body: Uint8Array) => Decoding<T>,
): Promise<Result<T, Refusal>> {
  const body = await exchange.body(ok);
  if (!body.ok) return body;
  const slices = new Slices(machineClock);
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

const scheduleAnswer = (view: Result<ScheduleView, Refusal>): Reply =>
  view.ok ? documentAnswer("Schedule", scheduleDocument(view.value, "with runs")) : view;

const madeAnswer = ({ base }: Exchange, view: ScheduleView): Reply =>
  documentAnswer("Schedule", scheduleDocument(view, "with runs"), 201, {
    Location: `${base}/api/v1/schedules/${encodeURIComponent(view.schedule.name)}`,
  });
