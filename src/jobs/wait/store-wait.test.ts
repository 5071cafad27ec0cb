import { expect, test } from "vitest";
import { activeJob } from "../../../test/support/jobs/active-job.ts";
import { InstantStop } from "../../../test/support/jobs/instant-stop.ts";
import { JOB_OPTIONS } from "../../../test/support/jobs/job-options.ts";
import { evenRandom } from "../../../test/support/random.ts";
import { StoreError } from "../../store/tile-store.ts";
import { StoreWait, waitingForStore } from "./store-wait.ts";

const { signal } = new AbortController();

/** Work whose steps fail with the errors one after the other, on a store that is available again after some checks. */
function workThatFails(errors: readonly StoreError[], checks: number, outageLimitSeconds = 3600) {
  const stop = new InstantStop();
  let [steps, looks] = [0, 0];
  const reasons: (string | null)[] = [];
  const job = activeJob({ type: "truncate" });
  const wait = new StoreWait({
    stop,
    options: () => ({ ...JOB_OPTIONS, outageLimitSeconds }),
    clock: stop.clock,
    random: evenRandom,
    store: {
      check: async () => {
        reasons.push(job.waitReason ?? null);
        if (++looks < checks) throw new StoreError("unavailable", "still away", undefined);
      },
    },
  });
  const work = waitingForStore(
    {
      step: async () => {
        const error = errors[steps++];
        if (error !== undefined) throw error;
        return false;
      },
    },
    wait,
  );
  const [task] = job.tasks;
  if (task === undefined) throw new Error("the job has a task");
  return { reasons, steps: () => steps, step: () => work.step(job, task, signal, () => false) };
}

test("a step that could not use the store is done again when the store is back, and the job tells why it waits", async () => {
  const away = new StoreError("unavailable", "store main: tiles cannot be deleted: ECONNRESET", undefined);
  const { step, steps, reasons } = workThatFails([away], 3);
  expect(await step()).toBe(true);
  expect(reasons).toEqual([
    "waiting for the store: store main: tiles cannot be deleted: ECONNRESET",
    "waiting for the store: still away",
    "waiting for the store: still away",
  ]);
  expect(await step()).toBe(false);
  expect(steps()).toBe(2);
});

test("a fault that does not pass ends the work, and so does a store that stays away for longer than the limit", async () => {
  const corrupt = new StoreError("corrupt", "a tile is corrupt", undefined);
  await expect(workThatFails([corrupt], 1).step()).rejects.toThrow("a tile is corrupt");
  const away = new StoreError("unavailable", "away", undefined);
  const long = workThatFails([away], Number.POSITIVE_INFINITY, 60);
  await expect(long.step()).rejects.toThrow("the store has been away for 60 seconds: still away");
});
