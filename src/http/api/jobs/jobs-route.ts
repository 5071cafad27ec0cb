import { createHash } from "node:crypto";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { defined } from "../../../lib/defined.ts";
import { badField, type Refusal, unknownJob, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { Slices } from "../../../lib/slices.ts";
import type { JobOptions } from "../../../plan/job-options.ts";
import {
  type IdempotencyKey,
  JOB_STATES,
  type JobFilter,
  type JobOrigin,
  type JobRequest,
  type SubmittedJob,
} from "../../../plan/job-request.ts";
import { planBatch } from "../../../plan/plan-batch.ts";
import { planSeedInSteps } from "../../../plan/plan-job.ts";
import { JOB_TYPES } from "../../../plan/seed-request.ts";
import { refusalProblem } from "../../errors.ts";
import type { Answer } from "../../reply.ts";
import type { Exchange, Resource } from "../../resource.ts";
import { type ApiParts, documentAnswer, doing, idOf, json, layerOf, oneOf, pageOf, viewAnswer } from "../api-parts.ts";
import { jobAction } from "./job-action.ts";
import { decodeJobBody, type RequestedJob, type RequestedJobs } from "./job-request-codec.ts";
import { decodeTermsChange } from "./job-terms-codec.ts";
import { waitForJob, waitOf } from "./wait-for-job.ts";

const LONGEST_KEY = 255;

/** `jobs`: GET lists jobs, POST makes one or several. */
export function jobsResource(parts: ApiParts): Resource {
  const { operations, catalogue } = parts;
  return {
    methods: {
      GET: {
        need: "read",
        async handle({ query }) {
          const filter = decodeFilter(query, catalogue());
          return filter.ok
            ? documentAnswer("Jobs", { jobs: await operations.jobs(filter.value) })
            : refusalProblem(filter.error);
        },
      },
      POST: {
        need: "operate",
        async handle(exchange) {
          const body = await exchange.body();
          if (!body.ok) return refusalProblem(body.error);
          const requested = decodeJobBody(body.value);
          if (!requested.ok) return refusalProblem(requested.error);
          const origin = originOf(exchange, requested.value.digest);
          if (!origin.ok) return refusalProblem(origin.error);
          const submitted = await submit(parts, exchange, requested.value, origin.value);
          return "many" in requested.value
            ? submittedAllAnswer(parts, exchange, submitted)
            : submittedAnswer(parts, exchange, submitted);
        },
      },
    },
  };
}

/**
 * Submits the jobs of a request. A known idempotency key is answered before planning, because the layer may have been
 * reconfigured since the first request.
 */
async function submit(
  { operations, jobOptions }: ApiParts,
  { catalogue }: Exchange,
  requested: RequestedJob | RequestedJobs,
  origin: JobOrigin,
): Promise<Result<SubmittedJob, Refusal>> {
  const known = origin.key === undefined ? undefined : await operations.keyed(origin.by, origin.key);
  if (known !== undefined) return known;
  const options = jobOptions();
  const isRequested = !requested.confirmed && options.confirmTiles !== undefined;
  const asking = isRequested ? { ...origin, mostTiles: options.confirmTiles } : origin;
  if ("many" in requested) {
    const many = await planBatch(requested.many, catalogue, { options, nowMs: Date.now() });
    return many.ok ? operations.submitAll(many.value, asking) : many;
  }
  const planned = await planRequested(requested, catalogue, options);
  return planned.ok ? operations.submit(planned.value, asking) : planned;
}

/**
 * Plans a request: validates it against its layer.
 * @throws the reason of the signal
 */
export async function planRequested(
  { layer: name, request }: RequestedJob,
  { layers }: Catalogue,
  options: JobOptions,
  signal?: AbortSignal,
): Promise<Result<JobRequest, Refusal>> {
  const layer = layers.get(name);
  if (layer === undefined) return refuse(unknownLayer(name));
  return new Slices(signal).run(
    planSeedInSteps(request, layer, options, { gridSetField: "gridSet", nowMs: Date.now() }),
  );
}

/**
 * `jobs/ID`: GET returns a job; with `wait=SECONDS` when the job has ended, or after that time. PATCH changes its
 * terms. DELETE removes an ended job from the history.
 */
export function jobResource(parts: ApiParts, id: number): Resource {
  return {
    methods: {
      GET: {
        need: "read",
        async handle({ query, signal }) {
          const waitMs = waitOf(query);
          if (!waitMs.ok) return refusalProblem(waitMs.error);
          const job = await waitForJob(id, waitMs.value, parts, signal);
          return job === undefined ? refusalProblem(unknownJob(id)) : documentAnswer("Job", job);
        },
      },
      PATCH: {
        need: "operate",
        async handle(exchange) {
          const body = await exchange.body();
          if (!body.ok) return refusalProblem(body.error);
          const terms = decodeTermsChange(body.value);
          return terms.ok
            ? viewAnswer("Job", await parts.operations.change(id, terms.value))
            : refusalProblem(terms.error);
        },
      },
      DELETE: {
        need: "operate",
        async handle() {
          const forgotten = await parts.operations.deleteJob(id);
          return forgotten.ok ? { status: 204, body: "" } : refusalProblem(forgotten.error);
        },
      },
    },
  };
}

/** Returns the resource `jobs/ID/cancel`, `/pause`, `/resume` or `/retry`; undefined for an unknown action. */
export function jobActionResource(parts: ApiParts, id: number, action: string): Resource | undefined {
  if (action === "retry") return retryResource(parts, id);
  const act = jobAction(parts, action);
  return act === undefined ? undefined : doing(async ({ by }) => viewAnswer("Job", await act(id, by)));
}

const retryResource = (parts: ApiParts, id: number): Resource =>
  doing(async (exchange) => {
    const origin = originOf(exchange, `retry of job ${id}`);
    if (!origin.ok) return refusalProblem(origin.error);
    return submittedAnswer(parts, exchange, await parts.operations.retry(id, origin.value));
  });

/**
 * Returns the answer to a request that makes one job. A repeated idempotency key gets a 201 too: a client that lost the
 * first answer must see the same status.
 */
export async function submittedAnswer(
  { operations }: ApiParts,
  { base }: Exchange,
  submitted: Result<SubmittedJob, Refusal>,
): Promise<Answer> {
  if (!submitted.ok) return refusalProblem(submitted.error);
  const { jobId, known } = submitted.value;
  const headers = {
    Location: `${base}/api/v1/jobs/${jobId}`,
    ...(known ? { "Idempotency-Replayed": "true" } : {}),
  };
  return { ...json(await operations.job(jobId), 201), headers };
}

/**
 * Returns the answer to a request that may make several jobs: the jobs in the order in which they were made, as the
 * list of jobs shows them.
 */
export async function submittedAllAnswer(
  { operations }: ApiParts,
  { base }: Exchange,
  submitted: Result<SubmittedJob, Refusal>,
): Promise<Answer> {
  if (!submitted.ok) return refusalProblem(submitted.error);
  const { jobId, jobIds: ids, known } = submitted.value;
  const jobs = await operations.jobs({ ids, limit: ids.length });
  const headers = {
    Location: `${base}/api/v1/batches/${jobId}`,
    ...(known ? { "Idempotency-Replayed": "true" } : {}),
  };
  return { ...documentAnswer("Jobs", { jobs: [...jobs].reverse() }, 201), headers };
}

/**
 * Returns the user and the `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header). The key may be
 * quoted.
 */
function originOf({ by, headers }: Exchange, requested: string): Result<JobOrigin, Refusal> {
  const given = headers["idempotency-key"];
  if (given === undefined) return ok({ by });
  const text = Array.isArray(given) ? given.join(",") : given;
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > LONGEST_KEY)
    return refuse(badField("Idempotency-Key", `1 to ${LONGEST_KEY} printable ASCII characters without blanks`, text));
  const digest = createHash("sha256").update(requested).digest("hex");
  const identity: IdempotencyKey = { key, digest };
  return ok({ by, key: identity });
}

function decodeFilter(query: URLSearchParams, catalogue: Catalogue): Result<JobFilter, Refusal> {
  const layer = layerOf(query, catalogue);
  if (!layer.ok) return layer;
  const state = oneOf(query, "state", JOB_STATES);
  if (!state.ok) return state;
  const type = oneOf(query, "type", JOB_TYPES);
  if (!type.ok) return type;
  // The name is not checked: jobs outlive the schedule that made them.
  const schedule = query.get("schedule") || undefined;
  const requestedWith = idOf(query, "requestedWith", "the id of a job");
  if (!requestedWith.ok) return requestedWith;
  const page = pageOf(query, { standard: 100, most: 1_000 }, "the id of a job");
  if (!page.ok) return page;
  const fields = {
    layer: layer.value,
    state: state.value,
    type: type.value,
    schedule,
    requestedWith: requestedWith.value,
  };
  return ok({ ...page.value, ...defined(fields) });
}
