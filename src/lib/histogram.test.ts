import fc from "fast-check";
import { expect, test } from "vitest";
import { Histogram, quantileSeconds } from "./histogram.ts";

test("a quantile lies evenly in its bucket, and beyond the last bound at that bound", () => {
  const histogram = new Histogram([0.1, 0.2, 1]);
  expect(quantileSeconds(histogram.view(), 0.5)).toBeUndefined();
  for (const ms of [150, 150, 150, 150]) expect(histogram.observe(ms)).toBe(1);
  expect(quantileSeconds(histogram.view(), 0.5)).toBeCloseTo(0.15);
  expect(quantileSeconds(histogram.view(), 1)).toBeCloseTo(0.2);
  expect(histogram.observe(5_000)).toBe(3);
  expect(quantileSeconds(histogram.view(), 0.99)).toBe(1);
});

test("a quantile is within the bucket of the duration that has this rank", () => {
  const bounds = [0.001, 0.01, 0.1, 1];
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 999 }), { minLength: 1 }),
      fc.constantFrom(0.5, 0.95, 0.99),
      (durations, share) => {
        const histogram = new Histogram(bounds);
        for (const ms of durations) histogram.observe(ms);
        const exact = (durations.sort((a, b) => a - b)[Math.ceil(share * durations.length) - 1] ?? 0) / 1000;
        const at = bounds.findIndex((bound) => exact <= bound);
        const quantile = quantileSeconds(histogram.view(), share) ?? Number.NaN;
        expect(quantile).toBeGreaterThanOrEqual(bounds[at - 1] ?? 0);
        expect(quantile).toBeLessThanOrEqual(bounds[at] ?? Number.NaN);
      },
    ),
  );
});
