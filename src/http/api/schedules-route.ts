import type { ScheduleView } from "../../jobs/schedule.ts";
import { badField, type Refusal, unknownSchedule } from "../../lib/refusal.ts";
import { type Result, refuse } from "../../lib/result.ts";
import { refusalProblem } from "../errors.ts";
import type { Answer } from "../reply.ts";
import type { Exchange, Resource } from "../resource.ts";
import { type ApiParts, json } from "./api-parts.ts";
import { doing, planAsked, submittedAnswer } from "./jobs-route.ts";
import { type AskedSchedule, decodeSchedule, ofJob, scheduleDocument } from "./schedule-codec.ts";

/** `schedules`: GET lists them, POST makes one. */
export function schedulesResource(parts: ApiParts): Resource {
  const { operations } = parts;
  return {
    problems: true,
    methods: {
      GET: {
        need: "read",
        async handle() {
          const schedules = await operations.schedules();
          return json({ schedules: schedules.map((schedule) => scheduleDocument(schedule, "in a list")) });
        },
      },
      POST: {
        need: "operate",
        async handle(exchange) {
          const asked = await scheduleOf(parts, exchange);
          if (!asked.ok) return refusalProblem(asked.error);
          const { name, plan } = asked.value;
          const made = await operations.addSchedule(name, plan, exchange.by);
          return made.ok ? madeAnswer(exchange, made.value) : refusalProblem(made.error);
        },
      },
    },
  };
}

/** `schedules/NAME`. */
export function scheduleResource(parts: ApiParts, name: string): Resource {
  const { operations } = parts;
  return {
    problems: true,
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
          const asked = await scheduleOf(parts, exchange, name);
          if (!asked.ok) return refusalProblem(asked.error);
          const { view, isNew } = await operations.putSchedule(name, asked.value.plan, exchange.by);
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

/** `schedules/NAME/pause`, `/resume`, `/run`; undefined: there is no such thing to do. */
export function scheduleActionResource(parts: ApiParts, name: string, action: string): Resource | undefined {
  const { operations } = parts;
  switch (action) {
    case "pause":
      return doing(async () => viewAnswer(await operations.pauseSchedule(name)));
    case "resume":
      return doing(async () => viewAnswer(await operations.resumeSchedule(name)));
    case "run":
      return doing(async (exchange) =>
        submittedAnswer(parts, exchange, await operations.runSchedule(name, exchange.by)),
      );
    default:
      return undefined;
  }
}

/** What the body asks for, its job held against its layer as it is now: each run does so again. */
async function scheduleOf(
  { jobOptions }: ApiParts,
  { body, catalogue }: Exchange,
  name?: string,
): Promise<Result<AskedSchedule, Refusal>> {
  const bytes = await body();
  if (!bytes.ok) return bytes;
  const asked = decodeSchedule(bytes.value, name);
  if (!asked.ok) return asked;
  const { job } = asked.value;
  // Not a 404: that says that there is no such schedule.
  if (!catalogue.layers.has(job.layer)) return refuse(badField("job.layer", "the name of a layer", job.layer));
  const planned = planAsked(job, catalogue, jobOptions());
  return planned.ok ? asked : refuse(ofJob(planned.error));
}

const wholeAnswer = (view: ScheduleView, status = 200): Answer => json(scheduleDocument(view, "with runs"), status);

const viewAnswer = (view: Result<ScheduleView, Refusal>): Answer =>
  view.ok ? wholeAnswer(view.value) : refusalProblem(view.error);

const madeAnswer = ({ base }: Exchange, view: ScheduleView): Answer => ({
  ...wholeAnswer(view, 201),
  headers: { Location: `${base}/api/v1/schedules/${encodeURIComponent(view.schedule.name)}` },
});
