import { expect, test } from "vitest";
import { UpstreamMeter } from "./upstream-meter.ts";

const [a, b] = [
  { upstream: "http://a", source: "http://a/wms" },
  { upstream: "http://a", source: "http://a/other" },
];

test("a request is counted in the first bucket that holds it, and a failure by its class, both by source", () => {
  const meter = new UpstreamMeter();
  meter.observe(a, 10, undefined);
  meter.observe(a, 11, "timeout");
  meter.observe(a, 61_000, "timeout");
  meter.observe(b, 1, undefined);
  const [first, second] = meter.measures();
  expect(first).toMatchObject({ ...a, times: { count: 3 }, failures: { timeout: 2 } });
  expect(first?.times.seconds).toBeCloseTo(61.021, 6);
  expect(first?.times.buckets).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  expect(second).toMatchObject({ ...b, times: { count: 1 }, failures: {} });
});

test("counters of sources that no layer has any more are released, others go on", () => {
  const meter = new UpstreamMeter();
  meter.observe(a, 10, undefined);
  meter.observe(b, 10, undefined);
  meter.configure(() => [b]);
  meter.observe(b, 10, undefined);
  expect(meter.measures().map(({ source, times }) => [source, times.count])).toEqual([[b.source, 2]]);
});
