import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { UsageTrend, usageTrendTables } from "./usage-trend.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

test("the trend is that of what the quota counts", () => {
  const db = openTestDatabase(":memory:");
  db.createTables([usageTrendTables]);
  const trend = new UsageTrend(db);
  trend.sample({ tiles: 2n, bytes: 1000n, allocated: 8_192n }, new Map(), HOUR);
  const now = { tiles: 6n, bytes: 3000n, allocated: 24_576n };
  // One seed of some hours is no trend.
  expect(trend.view(now, "content", 7 * HOUR - MINUTE)).toBeUndefined();
  expect(trend.view(now, "content", 7 * HOUR)).toEqual({ sinceMs: HOUR, bytesPerDay: 4 * 2000 });
  expect(trend.view(now, "allocated", 7 * HOUR)).toEqual({ sinceMs: HOUR, bytesPerDay: 4 * 16_384 });
  trend.sample(now, new Map(), 7 * HOUR);
  // Samples are ten minutes apart.
  trend.sample({ tiles: 9n, bytes: 9000n, allocated: 90_000n }, new Map(), 7 * HOUR + MINUTE);
  const later = { tiles: 8n, bytes: 4000n, allocated: 32_768n };
  expect(trend.view(later, "allocated", 13 * HOUR)).toEqual({ sinceMs: HOUR, bytesPerDay: 2 * 24_576 });
  db.close();
});

const usage = (tiles: number) => ({ tiles: BigInt(tiles), bytes: BigInt(tiles * 10), allocated: BigInt(tiles * 4096) });

test("the history has the last sample of each step, of all layers and of each, for thirty days", () => {
  const db = openTestDatabase(":memory:");
  db.createTables([usageTrendTables]);
  const trend = new UsageTrend(db);
  for (let n = 0; n < 6 * 6; n++)
    trend.sample(usage(100 + n), new Map([["a", usage(n)]]), 100 * HOUR + n * 10 * MINUTE);
  expect(trend.samples({ layer: undefined, sinceMs: 0, stepMs: 10 * MINUTE })).toHaveLength(36);
  expect(trend.samples({ layer: undefined, sinceMs: 104 * HOUR, stepMs: HOUR })).toEqual([
    { atMs: 104 * HOUR + 50 * MINUTE, ...usage(129) },
    { atMs: 105 * HOUR + 50 * MINUTE, ...usage(135) },
  ]);
  // The layers are sampled once an hour. A layer that a sample lacks had no tiles.
  const ofLayer = (name: string) => trend.samples({ layer: name, sinceMs: 103 * HOUR, stepMs: HOUR });
  const hours = [103, 104, 105].map((hour) => hour * HOUR);
  expect(ofLayer("a")).toEqual([18, 24, 30].map((tiles, i) => ({ atMs: hours[i], ...usage(tiles) })));
  expect(ofLayer("b")).toEqual(hours.map((atMs) => ({ atMs, ...usage(0) })));
  // A new process continues where this one has stopped.
  new UsageTrend(db).sample(usage(1), new Map([["a", usage(1)]]), 105 * HOUR + 59 * MINUTE);
  expect(trend.samples({ layer: "a", sinceMs: 0, stepMs: MINUTE })).toHaveLength(6);
  expect(trend.samples({ layer: undefined, sinceMs: 0, stepMs: MINUTE })).toHaveLength(36);
  trend.sample(usage(7), new Map(), 105 * HOUR + 30 * 24 * HOUR);
  expect(trend.samples({ layer: undefined, sinceMs: 0, stepMs: MINUTE }).map(({ atMs }) => atMs / HOUR)).toEqual([
    ...[0, 1, 2, 3, 4, 5].map((n) => 105 + n / 6),
    105 + 30 * 24,
  ]);
  db.close();
});

test("of more layers than a sample holds those with the most bytes are sampled, and the others are not known", () => {
  const db = openTestDatabase(":memory:");
  db.createTables([usageTrendTables]);
  const trend = new UsageTrend(db);
  trend.sample(usage(9), new Map(Array.from({ length: 400 }, (_, i) => [`l${i}`, usage(i)])), HOUR);
  expect(trend.samples({ layer: "l399", sinceMs: 0, stepMs: HOUR })).toEqual([{ atMs: HOUR, ...usage(399) }]);
  expect(trend.samples({ layer: "l99", sinceMs: 0, stepMs: HOUR })).toEqual([]);
  expect(trend.samples({ layer: "l100", sinceMs: 0, stepMs: HOUR })).toHaveLength(1);
  db.close();
});
