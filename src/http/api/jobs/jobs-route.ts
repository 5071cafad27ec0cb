import { createHash } from "node:crypto";
import * as z from "zod";
import type { Configuration } from "../../../configuration/configuration.ts";
import type { Operations } from "../../../coordinator/operations.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { defined } from "../../../lib/defined.ts";
import { text } from "../../../lib/document-fields.ts";
import { Slices } from "../../../lib/process/slices.ts";
import { badField, type Refusal, unknownJob, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { JobView } from "../../../plan/job/job-documents.ts";
import {
  type IdempotencyKey,
  JOB_OUTCOMES,
  JOB_STATES,
  type JobOrigin,
  type JobRequest,
  type SubmittedJob,
} from "../../../plan/job/job-request.ts";
import { planBatch } from "../../../plan/plan-batch.ts";
import { API_RULES, planSeedInSteps } from "../../../plan/plan-job.ts";
import { JOB_TYPES } from "../../../plan/seed-request.ts";
import { differences, jobDetail } from "../../activity/activity-detail.ts";
import type { Exchange, Reply, RouteOptions } from "../../resource.ts";
import { type ApiOperation, detailed, json, noContent, numberedOperation, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { created } from "../openapi/openapi-parts.ts";
import { id, layer, moment, msOf, page, yesOrNo } from "../query-fields.ts";
import { jobChangeSchema, jobRequestSchema } from "./job-document.ts";
import { decodeJobBody, type RequestedJob, type RequestedJobs } from "./job-request-codec.ts";
import { decodeTermsChange } from "./job-terms-codec.ts";
import { waitForJob, waitQuery } from "./wait-for-job.ts";

const LONGEST_KEY = 255;

const jobsQuery = z.object({
  layer,
  state: z.enum(JOB_STATES).exactOptional(),
  outcome: z.enum(JOB_OUTCOMES).exactOptional(),
  paused: yesOrNo.exactOptional(),
  type: z.enum(JOB_TYPES).exactOptional(),
  // Unknown names are accepted: jobs outlive the schedule and the account that made them.
  schedule: text.exactOptional(),
  createdBy: text.exactOptional(),
  requestedWith: id("the id of a job"),
  since: moment("The jobs that were made at this time or later: a time, or an age such as P1D"),
  until: moment("The jobs that were made before this time: a time, or an age such as P1D"),
  q: text
    .exactOptional()
    .meta({ description: "Text in the layer, the id, the schedule or the account, in upper or lower case" }),
  counts: yesOrNo
    .default(false)
    .meta({ description: "Whether to count all jobs that match the filters other than state, outcome and paused" }),
  ...page({ most: 1_000, standard: 100, cursor: "the id of a job" }),
});

/** The parts that a plan of a job needs. */
export interface PlanParts extends Pick<RouteOptions, "clock"> {
  readonly configured: () => Pick<Configuration, "jobs">;
}
type Parts = Pick<RouteOptions, "operations" | "configured" | "clock">;

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A second request with the same key and the same body returns the job of the first one, as long as the history has it.",
  schema: { type: "string", minLength: 1, maxLength: LONGEST_KEY, pattern: "^[\\x21-\\x7e]+$" },
};

/** Returns the answer to a request that makes jobs, for the OpenAPI document. */
export function createdJobs(...names: readonly string[]): object {
  const { headers, ...rest } = created(...names);
  return {
    ...rest,
    description: "Created now, or by an earlier request with this key",
    headers: {
      ...headers,
      "Idempotency-Replayed": {
        description: "true: an earlier request with this key created the job",
        schema: { type: "string" },
      },
    },
  };
}

export const jobOperations = [
  operation(
    "GET /jobs",
    "listJobs",
    "Lists jobs, the newest first",
    { query: jobsQuery, answer: "Jobs", failures: [404] },
    async (parts, { fields }) => ok(await listJobs(parts, fields)),
  ),
  operation(
    "POST /jobs",
    "createJob",
    "Creates a seed, a reseed or a truncate. A request with a plural field creates all of its jobs or none",
    {
      need: "operate",
      headers: [idempotencyKey],
      body: { JobRequest: jobRequestSchema },
      answers: { 201: createdJobs("Job", "Jobs") },
      failures: [404, 409, 422],
    },
    async (parts, exchange) => {
      const body = await exchange.body(ok);
      if (!body.ok) return body;
      const slices = new Slices(parts.clock);
      const requested = await slices.run(decodeJobBody(body.value));
      if (!requested.ok) return requested;
      await slices.next();
      const origin = originOf(exchange, requested.value.digest);
      if (!origin.ok) return origin;
      const submitted = await submit(parts, exchange, requested.value, origin.value);
      return submittedAnswer(parts, exchange, submitted, "many" in requested.value);
    },
  ),
  numberedOperation(
    "GET /jobs/{id}",
    "getJob",
    "Returns one job; with wait, when the job has ended or after this number of seconds",
    { query: waitQuery, answer: "Job", failures: [404] },
    async (parts, { key, fields: { wait }, signal }) => {
      const job = await waitForJob(key, wait * 1_000, parts, signal);
      return job === undefined ? refuse(unknownJob(key)) : ok(job);
    },
  ),
  numberedOperation(
    "PATCH /jobs/{id}",
    "changeJob",
    "Changes the terms of an unfinished job. Absent fields stay unchanged, null sets the default",
    { need: "operate", body: { JobTerms: jobChangeSchema }, answer: "Job", failures: [404, 409] },
    async ({ operations }, { key, body }) => {
      const terms = await body(decodeTermsChange);
      if (!terms.ok) return terms;
      const before = await operations.job(key);
      return detailed(
        await operations.change(key, terms.value),
        (job) => `${jobDetail(job)}; ${differences(before && termsOf(before), termsOf(job))}`,
      );
    },
  ),
  numberedOperation(
    "DELETE /jobs/{id}",
    "forgetJob",
    "Removes an ended job from the history",
    { need: "operate", failures: [404, 409] },
    async ({ operations }, { key }) => {
      const job = await operations.job(key);
      const deleted = await operations.deleteJob(key);
      return deleted.ok ? noContent(job && jobDetail(job)) : deleted;
    },
  ),
  actionOperation(
    "cancel",
    "Ends a job. When it is answered, no more tiles are fetched, written or deleted for the job",
  ),
  actionOperation("pause", "Pauses a job until it is resumed. It stays paused over restarts"),
  actionOperation("resume", "Resumes a paused job"),
  numberedOperation(
    "POST /jobs/{id}/retry",
    "retryJob",
    "Creates a job over the failed tiles of a job, and over the tiles that an aborted job did not reach",
    {
      need: "operate",
      headers: [idempotencyKey],
      answers: { 201: createdJobs("Job") },
      failures: [404, 409, 422],
    },
    async (parts, exchange) => {
      const origin = originOf(exchange, () => `retry of job ${exchange.key}`);
      if (!origin.ok) return origin;
      return submittedAnswer(parts, exchange, await parts.operations.retry(exchange.key, origin.value), false);
    },
  ),
];

/** Returns a page of jobs. Includes the counts of the whole list if they are requested. */
async function listJobs(
  { operations, clock }: Pick<RouteOptions, "operations" | "clock">,
  { state, outcome, paused, since, until, q, counts, limit, after, ...rest }: z.output<typeof jobsQuery>,
): Promise<Documents["Jobs"]> {
  const counted = { ...rest, ...defined({ sinceMs: msOf(since, clock), untilMs: msOf(until, clock), text: q }) };
  const filter = { ...counted, ...defined({ state, outcome, paused, after }), limit };
  const list = await operations.jobList(filter);
  // Without the ended jobs the counts would be wrong.
  if (!counts || list.endedMissing !== undefined) return list;
  return { ...list, counts: await operations.countJobs(counted) };
}

/**
 * Submits the jobs of a request. A known idempotency key is answered without planning, because the layer may have been
 * reconfigured since the first request.
 */
async function submit(
  parts: Parts,
  { catalogue }: Exchange,
  requested: RequestedJob | RequestedJobs,
  origin: JobOrigin,
): Promise<Result<SubmittedJob, Refusal>> {
  const { operations, configured, clock } = parts;
  const known = origin.key === undefined ? undefined : await operations.keyed(origin.by, origin.key);
  if (known !== undefined) return known;
  const options = configured().jobs;
  const limited = requested.confirmed ? origin : { ...origin, mostTiles: options.confirmTiles };
  if ("many" in requested) {
    const many = await planBatch(requested.many, catalogue, {
      options,
      nowMs: clock.now(),
      slices: new Slices(clock),
    });
    return many.ok ? operations.submitAll(many.value, limited) : many;
  }
  const planned = await planRequested(requested, catalogue, parts);
  return planned.ok ? operations.submit(planned.value, limited) : planned;
}

/**
 * Plans a request for its layer. Refuses an invalid one.
 * @throws the reason of the signal
 */
export async function planRequested(
  { layer: name, request }: RequestedJob,
  { layers }: Catalogue,
  { configured, clock }: PlanParts,
  signal?: AbortSignal,
): Promise<Result<JobRequest, Refusal>> {
  const layer = layers.get(name);
  if (layer === undefined) return refuse(unknownLayer(name, layers));
  const slices = new Slices(clock, signal);
  const planned = await slices.run(
    planSeedInSteps(request, layer, configured().jobs, { rules: API_RULES, nowMs: clock.now() }),
  );
  // Sending an area of tens of thousands of polygons to the coordinator takes as long as a slice.
  if (planned.ok && planned.value.selection !== undefined) await slices.next();
  return planned;
}

const termsOf = ({ priority, rateLimit, runWindow, threadCount, maxFailures }: JobView) => ({
  priority,
  rateLimit,
  runWindow,
  threadCount,
  maxFailures,
});

/** The actions on a job and on the jobs of a batch, by the last segment of the path. */
export const JOB_ACTIONS = { cancel: "cancel", pause: "pause", resume: "unpause" } as const satisfies Readonly<
  Record<string, keyof Operations>
>;
export type JobAction = keyof typeof JOB_ACTIONS;

function actionOperation(action: JobAction, summary: string): ApiOperation {
  return numberedOperation(
    `POST /jobs/{id}/${action}`,
    `${action}Job`,
    summary,
    { need: "operate", answer: "Job", failures: [404, 409] },
    async ({ operations }, { key, by }) => detailed(await operations[JOB_ACTIONS[action]](key, by), jobDetail),
  );
}

/**
 * Returns the answer to a request that makes jobs: the job, or, if the request may make several jobs, the list of the
 * jobs in the order in which they were made. A repeated idempotency key is answered with 201 too: a client that lost
 * the first answer must get the same status.
 */
export async function submittedAnswer(
  { operations }: Pick<RouteOptions, "operations">,
  { base }: Exchange,
  submitted: Result<SubmittedJob, Refusal>,
  isMany: boolean,
): Promise<Reply> {
  if (!submitted.ok) return submitted;
  const { jobId, jobIds: ids, known } = submitted.value;
  const made = isMany
    ? { jobs: [...(await operations.jobs({ ids, limit: ids.length }))].reverse() }
    : await operations.job(jobId);
  const headers = {
    Location: `${base}/api/v1/${isMany ? "batches" : "jobs"}/${jobId}`,
    ...(known ? { "Idempotency-Replayed": "true" } : {}),
  };
  return { ...json(made, 201), headers, ...(known ? {} : { jobId, ...madeDetail(made) }) };
}

/** Returns the detail that describes the jobs of a request. */
function madeDetail(made: JobView | { readonly jobs: readonly JobView[] } | undefined): { readonly detail?: string } {
  if (made === undefined) return {};
  if (!("jobs" in made)) return { detail: jobDetail(made) };
  return { detail: `${made.jobs.length} jobs: ${made.jobs.slice(0, 5).map(jobDetail).join("; ")}` };
}

/**
 * Returns the user and the `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header). The key may be
 * quoted.
 */
function originOf({ by, headers }: Exchange, requested: () => string): Result<JobOrigin, Refusal> {
  const given = headers["idempotency-key"];
  if (given === undefined) return ok({ by });
  const text = Array.isArray(given) ? given.join(",") : given;
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > LONGEST_KEY)
    return refuse(badField("Idempotency-Key", `1 to ${LONGEST_KEY} printable ASCII characters without blanks`, text));
  const digest = createHash("sha256").update(requested()).digest("hex");
  const identity: IdempotencyKey = { key, digest };
  return ok({ by, key: identity });
}
