import type { Operations } from "../../../coordinator/operations.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { JobView } from "../../../plan/job-request.ts";
import type { JobEvents } from "../events/job-events.ts";

/** Common proxies close a request that waits longer. */
const LONGEST_WAIT_SECONDS = 120;

/** Reads `wait` of a query and returns milliseconds; 0 if it is absent. */
export function waitOf(query: URLSearchParams): Result<number, Refusal> {
  const text = query.get("wait") || "0";
  return /^\d{1,3}$/.test(text) && Number(text) <= LONGEST_WAIT_SECONDS
    ? ok(Number(text) * 1000)
    : refuse(badField("wait", `seconds, a whole number from 0 to ${LONGEST_WAIT_SECONDS}`, text));
}

/**
 * Waits until a job has ended, the time is over, the server closes or the client disconnects. Returns the job as it
 * then is; undefined if there is no such job.
 */
export async function waitForJob(
  id: number,
  waitMs: number,
  { operations, events }: { readonly operations: Operations; readonly events: JobEvents },
  signal: AbortSignal,
): Promise<JobView | undefined> {
  const deadline = performance.now() + waitMs;
  // Read before the first look at the job, so that no event between the two is missed.
  let seen = events.last;
  const now = await operations.job(id);
  if (now === undefined || now.outcome !== null) return now;
  for (;;) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || events.closed || signal.aborted) return operations.job(id);
    await events.next(seen, leftMs, signal);
    for (; seen < events.last; seen++) {
      const next = events.at(seen + 1);
      const mayHaveEnded =
        next === "gone" ||
        (next?.event.kind === "job"
          ? next.event.job.id === id && next.event.job.outcome !== null
          : next?.event.id === id);
      if (!mayHaveEnded) continue;
      const job = await operations.job(id);
      if (job === undefined || job.outcome !== null) return job;
    }
  }
}
