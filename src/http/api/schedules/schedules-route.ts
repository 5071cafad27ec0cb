import { badField, type Refusal, unknownSchedule } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { layersNamed } from "../../../plan/plan-batch.ts";
import type { ScheduleView } from "../../../schedule/schedule.ts";
import { refusalProblem } from "../../errors.ts";
import type { Answer } from "../../reply.ts";
import type { Exchange, Resource } from "../../resource.ts";
import { type ApiParts, documentAnswer, doing } from "../api-parts.ts";
import { submittedAllAnswer, submittedAnswer } from "../jobs/jobs-route.ts";
import { decodeSchedule, ofJob, type RequestedSchedule, scheduleDocument } from "./schedule-codec.ts";

/** `schedules`: GET lists schedules, POST makes one. */
export function schedulesResource(parts: ApiParts): Resource {
  const { operations } = parts;
  return {
    methods: {
      GET: {
        need: "read",
        async handle() {
          const schedules = await operations.schedules();
          return documentAnswer("Schedules", {
            schedules: schedules.map((schedule) => scheduleDocument(schedule, "in a list")),
          });
        },
      },
      POST: {
        need: "operate",
        async handle(exchange) {
          const requested = await scheduleOf(exchange);
          if (!requested.ok) return refusalProblem(requested.error);
          const { name, plan } = requested.value;
          const made = await operations.addSchedule(name, plan, exchange.by);
          return made.ok ? madeAnswer(exchange, made.value) : refusalProblem(ofJob(made.error));
        },
      },
    },
  };
}

/** `schedules/NAME`: GET returns a schedule, PUT makes or replaces it, DELETE removes it. */
export function scheduleResource(parts: ApiParts, name: string): Resource {
  const { operations } = parts;
  return {
    methods: {
      GET: {
        need: "read",
        async handle() {
          const view = await operations.schedule(name);
          return view === undefined ? refusalProblem(unknownSchedule(name)) : wholeAnswer(view);
        },
      },
      PUT: {
        need: "operate",
        async handle(exchange) {
          const requested = await scheduleOf(exchange, name);
          if (!requested.ok) return refusalProblem(requested.error);
          const put = await operations.putSchedule(name, requested.value.plan, exchange.by);
          if (!put.ok) return refusalProblem(ofJob(put.error));
          const { view, isNew } = put.value;
          return isNew ? madeAnswer(exchange, view) : wholeAnswer(view);
        },
      },
      DELETE: {
        need: "operate",
        async handle() {
          const removed = await operations.removeSchedule(name);
          return removed.ok ? { status: 204, body: "" } : refusalProblem(removed.error);
        },
      },
    },
  };
}

/** Returns the resource `schedules/NAME/pause`, `/resume` or `/run`; undefined for an unknown action. */
export function scheduleActionResource(parts: ApiParts, name: string, action: string): Resource | undefined {
  const { operations } = parts;
  switch (action) {
    case "pause":
      return doing(async () => changedAnswer(await operations.pauseSchedule(name)));
    case "resume":
      return doing(async () => changedAnswer(await operations.resumeSchedule(name)));
    case "run":
      return doing(async (exchange) => {
        const run = await operations.runSchedule(name, exchange.by);
        if (!run.ok) return refusalProblem(run.error);
        const submitted = ok(run.value.submitted);
        return run.value.isMany
          ? submittedAllAnswer(parts, exchange, submitted)
          : submittedAnswer(parts, exchange, submitted);
      });
    default:
      return undefined;
  }
}

/**
 * Decodes the body and checks that its layers exist. The coordinator validates the jobs against their layers, now and
 * at each run.
 */
async function scheduleOf({ body, catalogue }: Exchange, name?: string): Promise<Result<RequestedSchedule, Refusal>> {
  const bytes = await body();
  if (!bytes.ok) return bytes;
  const requested = decodeSchedule(bytes.value, name);
  if (!requested.ok) return requested;
  const { layers, layersAre } = requested.value.plan.job.many;
  const unknown = layers.find((layer) => layersNamed(layer, layersAre, catalogue.layers).length === 0);
  if (unknown === undefined) return requested;
  // Not a 404, which would mean that the schedule does not exist.
  return refuse(
    layersAre === "names"
      ? badField("job.layer", "the name of a layer", unknown)
      : badField("job.layers", "names of layers, in which * stands for any characters", unknown),
  );
}

const wholeAnswer = (view: ScheduleView, status = 200): Answer =>
  documentAnswer("Schedule", scheduleDocument(view, "with runs"), status);

const changedAnswer = (view: Result<ScheduleView, Refusal>): Answer =>
  view.ok ? wholeAnswer(view.value) : refusalProblem(view.error);

const madeAnswer = ({ base }: Exchange, view: ScheduleView): Answer => ({
  ...wholeAnswer(view, 201),
  headers: { Location: `${base}/api/v1/schedules/${encodeURIComponent(view.schedule.name)}` },
});
