import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Database, openDatabase } from "../state/database.ts";
import { ActivityService, activityMigrations } from "./activity-service.ts";

let directory: string;
let db: Database;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-activity-"));
  db = openDatabase(join(directory, "state.db"));
  db.migrate([activityMigrations]);
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

const entry = (n: number, timeMs = n) => ({
  timeMs,
  user: null,
  address: "127.0.0.1",
  method: "POST",
  path: `/${n}`,
  status: 200,
  reason: null,
  jobId: null,
  requestId: String(n),
});
const pathsOf = async (service: ActivityService, limit: number): Promise<readonly string[]> =>
  (await service.activity(limit, undefined)).map(({ path }) => path);

test("50,000 entries are kept, none is lost between two writes, and old ones go", async () => {
  let now = 0;
  const service = new ActivityService({
    db,
    now: () => now,
    fault: (error) => expect(error).toBeUndefined(),
    written: () => {},
  });
  for (let n = 0; n < 50_003; n++) await service.recordActivity(entry(n));
  const kept = await pathsOf(service, 100_000);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([50_000, "/50002", "/3"]);
  now = 90 * 86_400_000 + 50_000;
  await service.recordActivity(entry(1, now));
  expect(await pathsOf(service, 100_000)).toEqual(["/1", "/50002", "/50001", "/50000"]);
});

test("entries stay when the next id is raised, as after a restore of the database", async () => {
  const service = new ActivityService({
    db,
    now: () => 0,
    fault: (error) => expect(error).toBeUndefined(),
    written: () => {},
  });
  await service.recordActivity(entry(1));
  service.flush();
  db.exec("UPDATE sqlite_sequence SET seq = seq + 1000000");
  await service.recordActivity(entry(2));
  expect(await pathsOf(service, 10)).toEqual(["/2", "/1"]);
});
