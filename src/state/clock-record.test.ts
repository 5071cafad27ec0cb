import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { ClockRecord, clockTables } from "./clock-record.ts";

const HOUR = 3_600_000;

test("the latest time outlives a clock that is set back, and a restart, until the clock has caught up", () => {
  const db = openTestDatabase(":memory:");
  db.createTables([clockTables]);
  let now = 10 * HOUR;
  const clock = () => now;
  const record = new ClockRecord(db, clock);
  record.note();
  now += 1_000;
  expect(record.latestMs()).toBe(10 * HOUR + 1_000);
  record.note();
  now -= HOUR;
  record.note();
  const latest = record.latestMs();
  expect(latest).toBeGreaterThanOrEqual(10 * HOUR + 1_000);
  const restarted = new ClockRecord(db, clock);
  expect(restarted.latestMs()).toBe(latest);
  now += HOUR + 5_000;
  restarted.note();
  expect(restarted.latestMs()).toBe(now);
  now -= 500;
  expect(new ClockRecord(db, clock).latestMs()).toBe(now);
  db.close();
});
