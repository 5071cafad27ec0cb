import { expect, test } from "vitest";
import { jittered, pauseAfter, pauseAfterWait } from "./back-off.ts";

const backOff = { firstMs: 500, longestMs: 15_000 };

test("pauses double from the first to the longest, however many failures there are", () => {
  expect([1, 2, 3, 5, 6, 7, 5_000].map((failures) => pauseAfter(failures, backOff))).toEqual([
    500, 1_000, 2_000, 8_000, 15_000, 15_000, 15_000,
  ]);
});

test("a pause by the time waited so far doubles that time, within the bounds", () => {
  expect([0, 400, 500, 3_000, 1e9].map((ms) => pauseAfterWait(ms, backOff))).toEqual([500, 500, 500, 3_000, 15_000]);
});

test("jitter changes a pause by at most a quarter", () => {
  expect([0, 0.5, 1].map((random) => jittered(1_000, random))).toEqual([750, 1_000, 1_250]);
});
