import { expect, test } from "vitest";
import { limitedTime } from "./limited-time.ts";

const measured = { seconds: 10, least: 8, most: 13, confidence: "medium" } as const;

test("without a measured rate the time left follows from the rate limit: exactly for a reseed, as an upper limit for a seed", () => {
  expect(limitedTime(undefined, 100n, 0.5, true)).toEqual({ seconds: 200, least: 200, most: null, confidence: "low" });
  expect(limitedTime(undefined, 100n, 0.5, false)).toEqual({ seconds: 200, least: 0, most: null, confidence: "low" });
});

test("the estimate of a reseed is never faster than its rate limit; a seed may find stored tiles and be faster", () => {
  expect(limitedTime(measured, 100n, 2, true)).toEqual({ seconds: 50, least: 50, most: 50, confidence: "medium" });
  expect(limitedTime({ ...measured, most: null }, 100n, 2, true)).toMatchObject({ seconds: 50, most: null });
  expect(limitedTime(measured, 100n, 2, false)).toBe(measured);
  expect(limitedTime(measured, 100n, 50, true)).toBe(measured);
});
