import type { Operations } from "../../../coordinator/operations.ts";
import { Slices } from "../../../lib/process/slices.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { deadline } from "../../../lib/time/deadline.ts";
import { planBatch } from "../../../plan/plan-batch.ts";
import { limitConcurrency } from "../../limit-concurrency.ts";
import { ClientGone } from "../../request/request.ts";
import type { Exchange } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { jobRequestSchema } from "./job-document.ts";
import { decodeJobBody } from "./job-request-codec.ts";
import { type PlanParts, planRequested } from "./jobs-route.ts";

/**
 * The most concurrent estimates of one process. All users with the right to read may request estimates, which must not
 * take all of the server's time.
 */
const MOST_AT_ONCE = 4;
/** The time limit of one estimate. */
const LONGEST_MS = 20_000;

export interface EstimateParts extends PlanParts {
  readonly operations: Pick<Operations, "estimate" | "estimateAll">;
}

const bounded = limitConcurrency(MOST_AT_ONCE, "estimates are being computed");

/** An estimate changes nothing, so it needs only the right to read. */
export const estimateOperations = [
  operation(
    "POST /estimate",
    "estimateJob",
    "Estimates the tiles, bytes and time of a job, or the space that a truncate frees; null: unknown",
    {
      need: "read",
      body: { JobRequest: jobRequestSchema },
      answer: ["Estimate", "Estimates"],
      failures: [404, 409, 422],
    },
    (parts, call) => estimate(parts, call),
  ),
];

/**
 * Estimates the job or the jobs of a request.
 * @throws ClientGone if the client has disconnected
 */
export async function estimate(
  parts: EstimateParts,
  exchange: Pick<Exchange, "body" | "catalogue" | "signal">,
  longestMs = LONGEST_MS,
): Promise<Result<Estimated, Refusal>> {
  const bytes = await exchange.body(ok);
  if (!bytes.ok) return bytes;
  return bounded(() =>
    withinTime(exchange.signal, deadline(parts.clock, longestMs), longestMs, (signal) =>
      estimateOf(parts, exchange, bytes.value, signal),
    ),
  );
}

type Estimated = Documents["Estimate"] | Documents["Estimates"];

async function estimateOf(
  parts: EstimateParts,
  { catalogue }: Pick<Exchange, "catalogue">,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<Result<Estimated, Refusal>> {
  const { operations, configured, clock } = parts;
  const decoded = await new Slices(clock, signal).run(decodeJobBody(bytes));
  if (!decoded.ok) return decoded;
  const requested = decoded.value;
  if ("many" in requested) {
    const many = await planBatch(requested.many, catalogue, {
      options: configured().jobs,
      nowMs: clock.now(),
      slices: new Slices(clock, signal),
    });
    return many.ok ? operations.estimateAll(many.value.requests, signal) : many;
  }
  const planned = await planRequested(requested, catalogue, parts, signal);
  return planned.ok ? operations.estimate(planned.value, signal) : planned;
}

/**
 * Runs `work`. Aborts it when the client disconnects, or when `late` fires because the time limit has passed.
 * @throws ClientGone if the client has disconnected
 */
async function withinTime<T>(
  gone: AbortSignal,
  late: AbortSignal,
  longestMs: number,
  work: (signal: AbortSignal) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  try {
    gone.throwIfAborted();
    return await work(AbortSignal.any([gone, late]));
  } catch (error) {
    if (gone.aborted) throw new ClientGone("the client has disconnected", { cause: error });
    if (!late.aborted) throw error;
    return refuse({
      code: "too_costly",
      message: `The estimate took longer than ${longestMs / 1000} seconds: request fewer levels or jobs, or an area with fewer corners.`,
    });
  }
}
