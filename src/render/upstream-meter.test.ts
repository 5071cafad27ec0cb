import { expect, test } from "vitest";
import { LATENCY_BUCKETS_SECONDS, UpstreamMeter } from "./upstream-meter.ts";

test("a request is counted in the first bucket that holds it, and a failure by its class", () => {
  const meter = new UpstreamMeter();
  meter.observe("a", 10, undefined);
  meter.observe("a", 11, "timeout");
  meter.observe("a", 61_000, "timeout");
  meter.observe("b", 1, undefined);
  const [a, b] = meter.measures();
  expect(a).toMatchObject({ upstream: "a", requests: 3, failures: { timeout: 2 } });
  expect(a?.seconds).toBeCloseTo(61.021, 6);
  expect(a?.buckets).toEqual([1, 1, ...LATENCY_BUCKETS_SECONDS.slice(2).map(() => 0), 1]);
  expect(b).toMatchObject({ requests: 1, failures: {} });
});

test("counters of upstreams that no layer has any more are released, others go on", () => {
  const meter = new UpstreamMeter();
  meter.observe("a", 10, undefined);
  meter.observe("b", 10, undefined);
  meter.configure(["b", "c"]);
  meter.observe("b", 10, undefined);
  expect(meter.measures().map(({ upstream, requests }) => [upstream, requests])).toEqual([["b", 2]]);
});
