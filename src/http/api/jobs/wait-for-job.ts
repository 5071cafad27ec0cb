import * as z from "zod";
import type { ServerEvent } from "../../../coordinator/server-event.ts";
import type { JobView } from "../../../plan/job/job-documents.ts";
import type { RouteOptions } from "../../resource.ts";
import { wholeNumber } from "../query-fields.ts";

/** `wait` of a query: the most seconds that the answer may wait. Common proxies close requests that wait longer. */
export const waitQuery = z.object({ wait: wholeNumber({ least: 0, most: 120, standard: 0, unit: "seconds, " }) });

/**
 * Waits until a job has ended, the time is over, the server closes or the client disconnects. Returns the job at that
 * time. Undefined if the job does not exist.
 */
export async function waitForJob(
  id: number,
  waitMs: number,
  { operations, events, clock }: Pick<RouteOptions, "operations" | "events" | "clock">,
  signal: AbortSignal,
): Promise<JobView | undefined> {
  const deadline = clock.monotonicNow() + waitMs;
  // Read before the job, so that no event between the two is missed.
  let seen = events.last;
  const now = await operations.job(id);
  if (now === undefined || now.outcome !== null) return now;
  for (;;) {
    const leftMs = deadline - clock.monotonicNow();
    if (leftMs <= 0 || events.closed || signal.aborted) return operations.job(id);
    await events.next(seen, leftMs, signal);
    for (; seen < events.last; seen++) {
      const next = events.at(seen + 1);
      if (next !== "gone" && (next === undefined || !isEndOf(id, next.event))) continue;
      const job = await operations.job(id);
      if (job === undefined || job.outcome !== null) return job;
    }
  }
}

/** Returns whether an event reports that a job has ended or was removed from the history. */
function isEndOf(id: number, event: ServerEvent): boolean {
  if (event.kind === "job") return event.job.id === id && event.job.outcome !== null;
  return event.kind === "forgotten" && event.id === id;
}
