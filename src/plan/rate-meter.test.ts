import { expect, test } from "vitest";
import { RateMeter } from "./rate-meter.ts";

/** Feeds a meter every 250 ms, as the coordinator does, with a rate per second that may change over time. */
function fed(seconds: number, rateAt: (second: number) => number): { meter: RateMeter; ms: number; processed: bigint } {
  const meter = new RateMeter();
  let done = 0;
  for (let ms = 0; ms <= seconds * 1000; ms += 250) {
    meter.sample(ms, BigInt(Math.floor(done)));
    done += rateAt(ms / 1000) / 4;
  }
  return { meter, ms: seconds * 1000, processed: BigInt(Math.floor(done)) };
}

test("nothing is known before there was progress", () => {
  const { meter, ms, processed } = fed(10, () => 0);
  expect(meter.rate(ms, processed)).toBeUndefined();
  expect(meter.timeLeft(ms, { processed, left: 100n })).toBeUndefined();
});

test("a steady rate is reported within a few hundredths, with high confidence", () => {
  const { meter, ms, processed } = fed(30, () => 40);
  expect(meter.rate(ms, processed)).toBeCloseTo(40, 0);
  const left = meter.timeLeft(ms, { processed, left: 4000n });
  expect(left?.confidence).toBe("high");
  expect(left?.seconds).toBeGreaterThanOrEqual(97);
  expect(left?.seconds).toBeLessThanOrEqual(103);
  expect(left?.least).toBeLessThanOrEqual(left?.seconds ?? 0);
  expect(left?.most).toBeGreaterThanOrEqual(left?.seconds ?? 0);
});

test("the time before the first progress does not count", () => {
  const { meter, ms, processed } = fed(20, (second) => (second < 10 ? 0 : 40));
  expect(meter.timeLeft(ms, { processed, left: 4000n })?.seconds).toBeLessThanOrEqual(105);
});

test("a rate that varies much has low confidence and a larger upper limit of the time left", () => {
  const { meter, ms, processed } = fed(12, (second) => (Math.floor(second) % 4 === 0 ? 200 : 1));
  const left = meter.timeLeft(ms, { processed, left: 4000n });
  expect(left?.confidence).toBe("low");
  expect(left?.most ?? Number.POSITIVE_INFINITY).toBeGreaterThan(1.5 * (left?.seconds ?? 0));
});

test("a rate that has changed lately is not reported with high confidence", () => {
  const { meter, ms, processed } = fed(60, (second) => (second < 45 ? 100 : 20));
  expect(meter.timeLeft(ms, { processed, left: 4000n })?.confidence).not.toBe("high");
});

test("samples older than two minutes are removed, and a reset removes all", () => {
  const { meter, ms, processed } = fed(300, (second) => (second < 150 ? 1000 : 10));
  expect(meter.rate(ms, processed)).toBeCloseTo(10, 0);
  meter.reset();
  expect(meter.rate(ms, processed)).toBeUndefined();
});

test("totals beyond 2^53 do not overflow", () => {
  const { meter, ms, processed } = fed(30, () => 40);
  expect(meter.timeLeft(ms, { processed, left: 2n ** 63n - 1n })?.seconds).toBe(Number.MAX_SAFE_INTEGER);
});
