import { ActiveJob } from "../../../src/jobs/active/active-job.ts";
import type { StoredJob } from "../../../src/jobs/record/stored-job.ts";
import { countRanges } from "../../../src/plan/count-tiles.ts";
import { emptyProgress } from "../../../src/plan/job/job-progress.ts";
import type { JobRequest } from "../../../src/plan/job/job-request.ts";
import { STANDARD_TERMS } from "../../../src/plan/job/job-terms.ts";
import { jobRequest } from "./job-request.ts";
import { nothingStored } from "./nothing-kept.ts";

/** Returns a job in memory with one task for each thread; `more` has the fields that the test is about. */
export function activeJob(
  request: Partial<JobRequest> = {},
  more: Partial<StoredJob> = {},
  resumed = false,
): ActiveJob {
  const whole = jobRequest(request);
  const stored: StoredJob = {
    id: 1,
    state: "pending",
    request: whole,
    progress: emptyProgress(countRanges(whole)),
    createdMs: 1_000,
    startedMs: null,
    endedMs: null,
    tasks: Array.from({ length: whole.threadCount }, (_, i) => ({ id: i + 1, state: "live", processed: 0n })),
    paused: false,
    createdBy: null,
    retryOf: null,
    schedule: null,
    requestedWith: null,
    hold: null,
    terms: STANDARD_TERMS,
    ...more,
  };
  return new ActiveJob(stored, resumed, nothingStored.storedMetatiles, () => undefined);
}
