import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { jobRequest } from "../../test/support/job-request.ts";
import { JobStore } from "../jobs/record/job-store.ts";
import { countRanges } from "../plan/count-tiles.ts";
import { emptyProgress } from "../plan/job/job-progress.ts";
import { DEFAULT_QUOTA } from "../quota/quota-configuration.ts";
import { QuotaStore } from "../quota/quota-store.ts";
import type { Database } from "../state/database.ts";
import { openDatabase } from "../state/embedded-database.ts";
import { copiesOf } from "../state/state-copies.ts";
import { migrate } from "./build/build-ledger.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-unreleased-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The migration steps of builds before the first release. */
const STEPS = {
  "access log": 2,
  account: 2,
  activity: 2,
  adoption: 1,
  clock: 1,
  configured_objects: 2,
  drops: 1,
  feeds: 1,
  grid_set_places: 1,
  jobs: 13,
  layer_stores: 1,
  ledger: 10,
  mass_truncations: 2,
  quota: 2,
  schedules: 3,
  session: 1,
  store_copies: 2,
  "usage trend": 3,
  webhooks: 1,
};

const file = (): string => join(directory, "state.db");

/** Makes the database of a build before the first release: today's tables with that build's record of steps. */
function openOld(steps: Readonly<Record<string, number>>): Database {
  const db = openDatabase(file());
  migrate(db);
  db.exec("DROP TABLE schema_step; CREATE TABLE access_batch (id INTEGER PRIMARY KEY)");
  db.exec("CREATE TABLE migration (floor TEXT, step INTEGER, PRIMARY KEY (floor, step))");
  for (const [module, count] of Object.entries(steps))
    for (let step = 0; step < count; step++) db.prepare("INSERT INTO migration VALUES (?, ?)").run(module, step);
  return db;
}

test("a database with all steps of the last build before the release is copied and taken over with its rows", () => {
  const db = openOld(STEPS);
  const jobs = new JobStore(db);
  const request = jobRequest({ limit: "area", selection: { kind: "area", polygons: [], levels: [] } });
  const made = { request, progress: emptyProgress(countRanges(request)), origin: { by: null }, retryOf: null };
  const [kept, old] = [1, 2].flatMap((ms) => jobs.insertAll([{ ...made, schedule: null, hold: null }], ms));
  db.prepare("UPDATE job SET progress = ? WHERE id = ?").run('{"total":"4","stored":"4"}', old?.id ?? 0);
  db.exec("UPDATE selection SET digest = NULL");
  db.exec("INSERT INTO usage_sample VALUES (1, 7, NULL, NULL, NULL), (2, 7, 4096, 1, NULL)");
  db.exec("INSERT INTO ledger_boot VALUES ('boot', NULL)");
  db.prepare("INSERT INTO quota_configuration VALUES (1, ?, NULL, NULL)").run(JSON.stringify(DEFAULT_QUOTA));
  db.close();

  const taken = openDatabase(file());
  migrate(taken);
  // One copy is made before the take-over, another one before the later steps.
  expect(copiesOf(file())).toHaveLength(2);
  const all = new JobStore(taken).list({ limit: 9 });
  expect(all.map(({ id }) => id)).toEqual([kept?.id]);
  expect(new JobStore(taken).besides(kept?.id ?? 0).selection).toMatchObject({ kind: "area" });
  expect(taken.prepare("SELECT at_ms FROM usage_sample").all()).toEqual([{ at_ms: 2 }]);
  expect(taken.prepare("SELECT block_bytes FROM ledger_boot").all()).toEqual([{ block_bytes: -1 }]);
  expect(new QuotaStore(taken, DEFAULT_QUOTA, undefined).current).toEqual(DEFAULT_QUOTA);
  expect(taken.prepare("SELECT count(*) AS steps FROM schema_step").get()).toEqual({
    // Jobs and schedules have a second step.
    steps: Object.keys(STEPS).length - 1 + 2,
  });
  migrate(taken);
  expect(copiesOf(file()), "it is taken over once").toHaveLength(2);
  taken.close();
});

test("a database of an older build is refused with the steps that it lacks and what to do, and left as it is", () => {
  openOld({ ...STEPS, ledger: 9 }).close();
  const db = openDatabase(file());
  expect(() => migrate(db)).toThrow(/with other steps than the last one \(ledger 9 instead of 10\): start the commit/);
  expect(() => migrate(db)).toThrow(`the state database ${file()} was written by a build before the first release`);
  expect(copiesOf(file())).toEqual([]);
  db.close();
});
