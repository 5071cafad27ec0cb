import fc from "fast-check";
import { expect, test } from "vitest";
import { STALE_BEFORE_MS, staleTime, writtenTime } from "./stale-time.ts";

const times = fc.integer({ min: Date.UTC(2016, 0, 2), max: Date.UTC(2035, 11, 1) });

test("a mark has the time of the tile, and is stale", () => {
  fc.assert(
    fc.property(times, (ms) => {
      expect(writtenTime(staleTime(ms))).toEqual({ ms, isStale: true });
      expect(writtenTime(ms)).toEqual({ ms, isStale: false });
      expect(staleTime(staleTime(ms))).toBe(staleTime(ms));
      expect(staleTime(ms)).toBeLessThan(STALE_BEFORE_MS);
    }),
  );
});

test("a tile of any time can be marked, and a fixed time of an archive is no mark", () => {
  for (const ms of [0, 1, Date.UTC(1980, 0, 1), Date.UTC(1985, 9, 26, 8, 15), Date.UTC(2008), Date.UTC(2050)]) {
    expect(writtenTime(ms).isStale).toBe(false);
    expect(writtenTime(staleTime(ms)).isStale).toBe(true);
  }
});
