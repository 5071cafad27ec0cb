import { expect, test } from "vitest";
import { activeJob } from "../../../test/support/jobs/active-job.ts";
import { InstantStop } from "../../../test/support/jobs/instant-stop.ts";
import { JOB_OPTIONS } from "../../../test/support/jobs/job-options.ts";
import { layerNamed } from "../../../test/support/layer.ts";
import { evenRandom } from "../../../test/support/random.ts";
import type { RenderOutcome } from "../../render/render-order.ts";
import { metatileOf } from "../seed/seed-metatile.ts";
import type { SeedBatch } from "../seed/seed-renders.ts";
import { UpstreamOutage } from "./upstream-outage.ts";

const layer = layerNamed("a");
const [subset] = layer.gridSubsets;
const gridSet = subset?.gridSet.id ?? "";
/** 256 metatiles of one tile each. */
const request = { gridSet, ranges: [{ gridSet, rects: [{ z: 4, minX: 0, minY: 0, maxX: 15, maxY: 15 }] }] };
const signal = new AbortController().signal;

const stored: RenderOutcome = { kind: "stored", bytes: 0, upstreamMs: 1, unchanged: [] };
const failed = (failure: "refused" | "exception", more: { answeredMsAgo?: number } = {}): RenderOutcome => ({
  kind: "failed",
  failure,
  message: "no answer",
  retryAfterMs: undefined,
  ...more,
});

/** An outage whose probes are answered with the outcomes one after the other; the last one is repeated. */
function outageWith(outcomes: readonly RenderOutcome[], outageLimitSeconds = 3600) {
  const stop = new InstantStop();
  const probed: bigint[] = [];
  const job = activeJob({ ...request, metatile: [1, 1] });
  const outage = new UpstreamOutage({
    stop,
    options: () => ({ ...JOB_OPTIONS, outageLimitSeconds }),
    clock: stop.clock,
    random: evenRandom,
    renders: {
      render: async ({ metatiles: [probe] }: SeedBatch) => {
        if (probe === undefined) throw new Error("a probe has one metatile");
        expect(probe.wanted?.some((wanted) => wanted === 1)).toBe(false);
        probed.push(probe.metatile.n);
        return outcomes[Math.min(probed.length, outcomes.length) - 1] ?? stored;
      },
    },
  });
  const wait = () => outage.wait(job, layer, metatileOf(job, layer, 0n), "no answer", signal);
  return { job, outage, stop, probed, wait };
}

test.each([
  ["a stored tile", stored],
  ["a tile that could not be stored", { kind: "full", reason: "no space" }],
  ["an exception of the upstream", failed("exception")],
] as const)("%s as the answer to the first probe shows that the upstream is up", async (_, outcome) => {
  const { wait, stop, probed } = outageWith([outcome]);
  expect(await wait()).toBe("alive");
  expect([probed.length, stop.waits]).toEqual([1, []]);
});

test("a job waits with growing pauses and a reason until the upstream answers again", async () => {
  const { wait, stop, job } = outageWith([failed("refused"), failed("refused"), failed("refused"), stored]);
  const waited = wait();
  expect(await waited).toBe("was_down");
  expect(stop.waits).toEqual([500, 500, 1000]);
  expect(job.reason).toBe(null);
});

test("a job is aborted with the upstream's message when the outage has lasted for the limit, and not later", async () => {
  const { wait, stop } = outageWith([failed("refused")], 4);
  await expect(wait()).rejects.toThrow("the upstream has been down for 4 seconds: no answer");
  expect(stop.clock.monotonicNow()).toBe(4_000);
});

test("probes hit different metatiles until one is answered, and that one from then on", async () => {
  const { wait, probed } = outageWith([failed("refused"), failed("refused"), stored, failed("refused"), stored]);
  await wait();
  expect(new Set(probed).size).toBe(3);
  expect(probed).not.toContain(0n);
  await wait();
  expect(probed.slice(3)).toEqual([probed[2], probed[2]]);
});

test("an answer of the upstream to other requests since the last probe shows that only the metatile is bad", async () => {
  const { wait, probed } = outageWith([failed("refused"), failed("refused", { answeredMsAgo: 1 })]);
  expect(await wait()).toBe("alive");
  expect(probed).toHaveLength(2);
});

test("all tasks of a job share one wait", async () => {
  const { wait, probed } = outageWith([failed("refused"), stored]);
  expect(await Promise.all([wait(), wait(), wait()])).toEqual(["was_down", "was_down", "was_down"]);
  expect(probed).toHaveLength(2);
});
