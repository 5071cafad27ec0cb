import { expect, test } from "vitest";
import { openDatabase } from "../state/database.ts";
import { UsageTrend, usageTrendMigrations } from "./usage-trend.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

test("the trend is that of what the quota counts, and samples from before allocated bytes have none of them", () => {
  const db = openDatabase(":memory:");
  db.migrate([{ ...usageTrendMigrations, steps: usageTrendMigrations.steps.slice(0, 1) }]);
  db.prepare("INSERT INTO usage_sample VALUES (?, ?)").run(HOUR, 1000);
  db.migrate([usageTrendMigrations]);
  const trend = new UsageTrend(db);
  const now = { bytes: 3000n, allocated: 24_576n };
  expect(trend.view(now, "content", 2 * HOUR)).toEqual({ sinceMs: HOUR, bytesPerDay: 24 * 2000 });
  expect(trend.view(now, "allocated", 2 * HOUR)).toBeUndefined();
  trend.sample(now, 2 * HOUR);
  // Samples are ten minutes apart.
  trend.sample({ bytes: 9000n, allocated: 90_000n }, 2 * HOUR + MINUTE);
  const later = { bytes: 4000n, allocated: 32_768n };
  expect(trend.view(later, "allocated", 3 * HOUR)).toEqual({ sinceMs: 2 * HOUR, bytesPerDay: 24 * 8192 });
  db.close();
});
