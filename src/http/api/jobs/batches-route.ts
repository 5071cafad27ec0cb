import { batchOf } from "../../../jobs/view/batch-view.ts";
import { conflict, type Refusal, unknownJob } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { BatchView, JobView } from "../../../plan/job/job-documents.ts";
import type { RouteOptions } from "../../resource.ts";
import { type ApiOperation, numberedOperation } from "../api-operation.ts";
import { JOB_ACTIONS, type JobAction } from "./jobs-route.ts";
import { waitForJob, waitQuery } from "./wait-for-job.ts";

/** One more than the most jobs of one request, so that a list of this length is complete. */
const ALL = 1001;

const keyDescription = "The id of any job of the batch";

export const batchOperations = [
  numberedOperation(
    "GET /batches/{id}",
    "getBatch",
    "Returns the jobs of one request as one document; with wait, when all jobs have ended or after this number of seconds",
    { keyDescription, query: waitQuery, answer: "Batch", failures: [404] },
    async (parts, { key: id, fields: { wait }, signal }) => {
      const waitMs = wait * 1_000;
      const deadline = parts.clock.monotonicNow() + waitMs;
      const jobs = await jobsOf(parts, id);
      const unended = waitMs === 0 ? [] : jobs.filter(isLive);
      for (const job of unended) {
        const leftMs = deadline - parts.clock.monotonicNow();
        if (leftMs <= 0 || signal.aborted) break;
        await waitForJob(job.id, leftMs, parts, signal);
      }
      return viewOf(id, unended.length === 0 ? jobs : await jobsOf(parts, id));
    },
  ),
  actionOperation("cancel", "Ends all jobs of the batch that have not ended"),
  actionOperation("pause", "Pauses all jobs of the batch that have not ended"),
  actionOperation("resume", "Resumes the paused jobs of the batch"),
];

function actionOperation(action: JobAction, summary: string): ApiOperation {
  const wanted = action === "cancel" ? "aborted" : undefined;
  return numberedOperation(
    `POST /batches/{id}/${action}`,
    `${action}Batch`,
    summary,
    { need: "operate", keyDescription, answer: "Batch", failures: [404, 409] },
    (parts, { key, by }) => toAll(parts, key, (job) => parts.operations[JOB_ACTIONS[action]](job, by), wanted),
  );
}

/**
 * Returns the jobs of a batch, newest first. In this order an action reaches waiting jobs before running ones, so no
 * job starts because an older one was cancelled or paused.
 */
const jobsOf = ({ operations }: Pick<RouteOptions, "operations">, id: number): Promise<readonly JobView[]> =>
  operations.jobs({ requestedWith: id, limit: ALL });

const isLive = ({ outcome }: JobView): boolean => outcome === null;

function viewOf(id: number, jobs: readonly JobView[]): Result<BatchView, Refusal> {
  const [newest] = jobs;
  return newest === undefined ? refuse(unknownJob(id)) : ok(batchOf(newest.requestedWith ?? newest.id, jobs));
}

/**
 * Applies an action to all unfinished jobs of a batch. Refuses if all jobs have ended.
 * @param wanted a batch that ended with this outcome is not refused, because the action has already had its effect
 */
async function toAll(
  parts: Pick<RouteOptions, "operations">,
  id: number,
  act: (job: number) => Promise<Result<JobView, Refusal>>,
  wanted?: BatchView["outcome"],
): Promise<Result<BatchView, Refusal>> {
  const jobs = (await jobsOf(parts, id)).filter(isLive);
  // A job that refuses the action has just ended. The batch view shows its outcome.
  await Promise.all(jobs.map((job) => act(job.id)));
  const after = viewOf(id, await jobsOf(parts, id));
  if (!after.ok || jobs.length > 0 || after.value.outcome === wanted) return after;
  return refuse(conflict(`Batch ${id} has ended: ${after.value.outcome}.`));
}
