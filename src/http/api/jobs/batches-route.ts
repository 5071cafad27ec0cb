import { type BatchView, batchOf } from "../../../jobs/batch-view.ts";
import { conflict, type Refusal, unknownJob } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { JobView } from "../../../plan/job-request.ts";
import { refusalProblem } from "../../errors.ts";
import type { Resource } from "../../resource.ts";
import { type ApiParts, doing, reader, viewAnswer } from "../api-parts.ts";
import { waitForJob, waitOf } from "./wait-for-job.ts";

/** Jobs that one request can make, with one to spare. */
const ALL = 1001;

/** `batches/ID`: the jobs of one request as one, with `wait=SECONDS` when all have ended. `id`: any job of them. */
export function batchResource(parts: ApiParts, id: number): Resource {
  return reader(async ({ query, signal }) => {
    const waitMs = waitOf(query);
    if (!waitMs.ok) return refusalProblem(waitMs.error);
    const deadline = performance.now() + waitMs.value;
    const jobs = await jobsOf(parts, id);
    const unended = waitMs.value === 0 ? [] : jobs.filter(isLive);
    for (const job of unended) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || signal.aborted) break;
      await waitForJob(job.id, leftMs, parts, signal);
    }
    return viewAnswer(viewOf(id, unended.length === 0 ? jobs : await jobsOf(parts, id)));
  });
}

/** `batches/ID/cancel`, `/pause`, `/resume`; undefined: there is no such thing to do. */
export function batchActionResource(parts: ApiParts, id: number, action: string): Resource | undefined {
  const { operations } = parts;
  switch (action) {
    case "cancel":
      return doing(async ({ by }) =>
        viewAnswer(await toAll(parts, id, (job) => operations.cancel(job, by), "aborted")),
      );
    case "pause":
      return doing(async ({ by }) => viewAnswer(await toAll(parts, id, (job) => operations.pause(job, by))));
    case "resume":
      return doing(async () => viewAnswer(await toAll(parts, id, (job) => operations.unpause(job))));
    default:
      return undefined;
  }
}

/** Newest first: none that waits begins while those before it are dealt with. */
const jobsOf = ({ operations }: ApiParts, id: number): Promise<readonly JobView[]> =>
  operations.jobs({ requestedWith: id, limit: ALL });

const isLive = ({ outcome }: JobView): boolean => outcome === null;

function viewOf(id: number, jobs: readonly JobView[]): Result<BatchView, Refusal> {
  const [newest] = jobs;
  return newest === undefined ? refuse(unknownJob(id)) : ok(batchOf(newest.requestedWith ?? newest.id, jobs));
}

/** `wanted`: what it may have become before. */
async function toAll(
  parts: ApiParts,
  id: number,
  act: (job: number) => Promise<Result<JobView, Refusal>>,
  wanted?: BatchView["outcome"],
): Promise<Result<BatchView, Refusal>> {
  const jobs = (await jobsOf(parts, id)).filter(isLive);
  // A job that refuses has ended by itself in between: the view tells how.
  await Promise.all(jobs.map((job) => act(job.id)));
  const after = viewOf(id, await jobsOf(parts, id));
  if (!after.ok || jobs.length > 0 || after.value.outcome === wanted) return after;
  return refuse(conflict(`Batch ${id} has ended: ${after.value.outcome}.`));
}
