import { expect, test } from "vitest";
import { noTraffic, type TrafficByLayer } from "../../tiles/tile-traffic.ts";
import { TrafficRates } from "./traffic-rates.ts";

const hits = (count: number): TrafficByLayer =>
  new Map([
    ["a", { ...noTraffic(), hits: count, bytes: count * 100 }],
    ["b", { ...noTraffic(), misses: 1, failed: 1 }],
  ]);

test("rates are those of the actual time, the peak is the highest of one sample, and the total has all", () => {
  const rates = new TrafficRates(5, 1_000);
  expect(rates.view()).toMatchObject({ startedMs: 5, total: { hits: 0 }, peakRequests: undefined });
  rates.add(hits(28));
  // A late sample: 30 requests in 6 seconds.
  rates.sample(7_000, 7_000);
  rates.add(hits(8));
  rates.sample(10_000, 10_000);
  rates.add(hits(1));
  const { total, recent, peakRequests, peakBytes } = rates.view();
  expect(total).toMatchObject({ hits: 37, misses: 3, failed: 3, bytes: 3_700 });
  expect(recent).toEqual([
    { seconds: 3, lengthMs: 3_000, requests: 10, bytes: 800 },
    { seconds: 15, lengthMs: 9_000, requests: 40, bytes: 3_600 },
    { seconds: 60, lengthMs: 9_000, requests: 40, bytes: 3_600 },
  ]);
  expect(peakRequests).toEqual({ perSecond: 5, atMs: 7_000 });
  expect(peakBytes).toEqual({ perSecond: 2_800 / 6, atMs: 7_000 });
});

test("a minute of samples is kept, and an idle minute leaves the peak", () => {
  const rates = new TrafficRates(0, 0);
  rates.add(hits(1));
  for (let n = 1; n <= 40; n++) rates.sample(n * 3_000, n * 3_000);
  expect(rates.view().recent.at(-1)).toEqual({ seconds: 60, lengthMs: 60_000, requests: 0, bytes: 0 });
  expect(rates.view().peakRequests).toEqual({ perSecond: 1, atMs: 3_000 });
});
