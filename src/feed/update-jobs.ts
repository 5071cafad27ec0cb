import type { JobRunner } from "../jobs/job-runner.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result } from "../lib/result.ts";
import { countPlanned } from "../plan/count-planned.ts";
import type { JobCounter } from "../plan/job/job-counter.ts";
import type { JobRequest } from "../plan/job/job-request.ts";
import type { RunWindows } from "../schedule/run-windows.ts";

export interface UpdateJobsParts {
  readonly state: Pick<StateWriter, "write">;
  readonly runner: Pick<JobRunner, "submitAll">;
  readonly windows: Pick<RunWindows, "begun">;
  readonly counter: Pick<JobCounter, "count">;
}

/**
 * Makes the planned jobs of a change of the data, all in one transaction. Returns their ids.
 * @param also writes in the same transaction, also if there are no jobs
 * @throws StateError while the state database is unavailable
 */
export async function submitUpdate(
  requests: readonly JobRequest[],
  { counter, runner, windows, state }: UpdateJobsParts,
  also: () => void = () => undefined,
): Promise<Result<readonly number[], Refusal>> {
  if (requests.length === 0) {
    state.write(also);
    return ok([]);
  }
  const counted = await countPlanned({ requests, empty: "left out" }, counter);
  if (!counted.ok) return counted;
  const made = counted.value.jobs.map((job) =>
    windows.begun({ ...job, origin: { by: null }, retryOf: null, schedule: null }),
  );
  return ok(runner.submitAll(made, also).jobIds);
}
