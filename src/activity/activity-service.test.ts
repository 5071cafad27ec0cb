import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { inPostgres, openTestDatabase } from "../../test/support/postgres/test-database.ts";
import type { Database } from "../state/database.ts";
import { type ActivityFilter, ActivityService, activityTables } from "./activity-service.ts";

let directory: string;
let db: Database;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-activity-"));
  db = openTestDatabase(join(directory, "state.db"));
  db.createTables([activityTables]);
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
  detail: null,
  requestId: String(n),
});
const pathsOf = async (service: ActivityService, limit: number): Promise<readonly string[]> =>
  (await service.activity({ limit }, {})).map(({ path }) => path);

test("50,000 entries are kept, none is lost between two writes, and old ones go", async () => {
  const clock = new ManualClock(0);
  const service = new ActivityService({
    db,
    clock,
    state: { fault: (error) => expect(error).toBeUndefined() },
    keepDays: () => 90,
    written: () => {},
  });
  for (let n = 0; n < 50_003; n++) await service.recordActivity(entry(n));
  const kept = await pathsOf(service, 100_000);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([50_000, "/50002", "/3"]);
  clock.set(90 * 86_400_000 + 50_000);
  await service.recordActivity(entry(1, clock.now()));
  expect(await pathsOf(service, 100_000)).toEqual(["/1", "/50002", "/50001", "/50000"]);
});

// The next id is raised in copies of a file.
test.skipIf(inPostgres)("entries stay when the next id is raised, as after a restore of the database", async () => {
  const service = new ActivityService({
    db,
    clock: new ManualClock(0),
    state: { fault: (error) => expect(error).toBeUndefined() },
    keepDays: () => 90,
    written: () => {},
  });
  await service.recordActivity(entry(1));
  service.flush();
  db.exec("UPDATE sqlite_sequence SET seq = seq + 1000000");
  await service.recordActivity(entry(2));
  expect(await pathsOf(service, 10)).toEqual(["/2", "/1"]);
});

test("a filter finds entries behind many others, page by page", async () => {
  const service = new ActivityService({
    db,
    clock: new ManualClock(0),
    state: { fault: (error) => expect(error).toBeUndefined() },
    keepDays: () => 90,
    written: () => {},
  });
  const rare = { user: "Anna", path: "/rest/seed/WS:roads.json", reason: "no such level", detail: "seed of roads" };
  for (let n = 0; n < 9_000; n++) await service.recordActivity({ ...entry(n), ...(n % 3_000 === 7 ? rare : {}) });
  const ids = async (filter: ActivityFilter, limit = 10, after?: number) =>
    (await service.activity({ limit, ...(after === undefined ? {} : { after }) }, filter)).map(
      ({ requestId }) => requestId,
    );
  for (const filter of [
    { user: "Anna" },
    { refused: true },
    { text: "ws:ROADS" },
    { text: "SUCH", method: "POST" },
    { text: "of ROADS" },
  ])
    expect(await ids(filter)).toEqual(["6007", "3007", "7"]);
  expect(await ids({ user: "anna" })).toEqual([]);
  expect(await ids({ text: "roads", refused: false })).toEqual([]);
  expect(await ids({ text: "roads" }, 1, 6_008)).toEqual(["3007"]);
  expect(await ids({ method: "DELETE" })).toEqual([]);
});
