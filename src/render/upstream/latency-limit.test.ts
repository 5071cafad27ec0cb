import { expect, test } from "vitest";
import { LatencyLimit } from "./latency-limit.ts";

/** An upstream with its own clock. The duration of a render depends on the load at its start. */
function simulated(connections: number) {
  const limit = new LatencyLimit(connections);
  let now = 0;
  let joined: { readonly endMs: number; readonly tookMs: number }[] = [];
  return {
    limit,
    /**
     * Simulates `answers` answers with as many renders in flight as the limit allows, but at most `demand`. Returns the
     * limit after each answer.
     */
    run(answers: number, latencyMs: (load: number) => number, demand = Number.POSITIVE_INFINITY): readonly number[] {
      const seen: number[] = [];
      for (let n = 0; n < answers; n++) {
        while (joined.length < Math.min(limit.connections, demand)) {
          const tookMs = latencyMs(joined.length + 1);
          joined.push({ endMs: now + tookMs, tookMs });
        }
        const [first, ...others] = joined.sort((a, b) => a.endMs - b.endMs);
        if (first === undefined) throw new Error("nothing in flight");
        now = first.endMs;
        limit.answered(first.tookMs, joined.length);
        joined = others;
        seen.push(limit.connections);
      }
      return seen;
    },
  };
}

const beyond = (knee: number, ms: number) => (load: number) => ms * Math.max(1, load / knee);
const most = (limits: readonly number[]): number => limits.reduce((a, b) => Math.max(a, b), 0);
const mean = (limits: readonly number[]): number => limits.reduce((a, b) => a + b, 0) / limits.length;

test.each([4, 8, 16])("with a knee at %i of 64 connections it settles near, and stays there for long", (knee) => {
  const { run } = simulated(64);
  run(4_000, beyond(knee, 200));
  const settled = run(50_000, beyond(knee, 200));
  expect(most(settled)).toBeLessThanOrEqual(2 * knee);
  expect(mean(settled)).toBeGreaterThan(0.7 * knee);
  expect(mean(settled)).toBeLessThan(1.6 * knee);
});

test("when the knee goes away all connections come back", () => {
  const { run, limit } = simulated(32);
  run(5_000, beyond(4, 200));
  expect(limit.connections).toBeLessThanOrEqual(8);
  run(10_000, () => 200);
  expect(mean(run(5_000, () => 200))).toBeGreaterThan(30);
});

test("an upstream that is always slow, or becomes so by itself, keeps its connections", () => {
  const { run } = simulated(16);
  expect(mean(run(5_000, () => 2_000))).toBeGreaterThan(15);
  expect(mean(run(5_000, () => 8_000))).toBeGreaterThan(15);
});

test("a few slow pictures among fast ones change nothing", () => {
  const { run } = simulated(16);
  let n = 0;
  expect(mean(run(20_000, () => (n++ % 20 === 0 ? 5_000 : 200)))).toBeGreaterThan(14);
});

test("fast answers are fast enough, whatever the load does to them", () => {
  const { run } = simulated(16);
  expect(new Set(run(5_000, beyond(1, 2)))).toEqual(new Set([16]));
});

test("while connections are free nothing is learnt", () => {
  const { run } = simulated(16);
  expect(new Set(run(5_000, beyond(1, 200), 8))).toEqual(new Set([16]));
});

test("it never falls below one, and a reload changes the bound", () => {
  const { run, limit } = simulated(2);
  expect(new Set(run(5_000, (load) => 100 * load ** 4))).toEqual(new Set([1, 2]));
  limit.setConnections(1);
  expect(limit.connections).toBe(1);
  const fresh = new LatencyLimit(4);
  fresh.setConnections(9);
  expect(fresh.connections).toBe(9);
});

test("half of the load that users do not allow is given up", () => {
  const limit = new LatencyLimit(8);
  for (let n = 0; n < 270; n++) limit.answered(500, 8);
  expect(limit.connections).toBe(4);
  for (let n = 0; n < 60; n++) limit.answered(500, 7);
  expect(limit.connections).toBe(8);
});
