import { randomFillSync } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serialize } from "node:v8";
import Sqlite from "libsql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JOB_OPTIONS } from "../../../test/support/job-options.ts";
import { jobRequest } from "../../../test/support/job-request.ts";
import { openTestDatabase } from "../../../test/support/test-database.ts";
import type { Selection } from "../../grid/selection.ts";
import { tileList } from "../../grid/tile-list.ts";
import type { Logger } from "../../lib/logger.ts";
import { countRanges } from "../../plan/count-tiles.ts";
import { emptyProgress } from "../../plan/job-progress.ts";
import { STANDARD_TERMS } from "../../plan/job-terms.ts";
import { type Database, int } from "../../state/database.ts";
import { sqliteStep } from "../../state/dialect.ts";
import { FreeSpace, makeShrinkable } from "../../state/free-space.ts";
import { HistoryTrimmer } from "./history-trimmer.ts";
import { jobMigrations } from "./job-migrations.ts";
import { JobStore } from "./job-store.ts";
import { encodeProgress } from "./stored-job.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-history-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const file = (): string => join(directory, "state.db");
const fileBytes = (): number => statSync(file()).size;

function loggedBy(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const note = (sentence: string): void => void lines.push(sentence);
  return { log: { info: note, warn: note, error: note }, lines };
}

/** An area that does not compress: 200 kB. */
function area(): Selection {
  const ring = new Float64Array(25_000);
  randomFillSync(ring);
  return { kind: "area", polygons: [[ring]], levels: [] };
}

function historyIn(db: Database, { historyMiB = 1024, now = (): number => 0 } = {}) {
  const { log, lines } = loggedBy();
  const jobs = new JobStore(db);
  const history = new HistoryTrimmer({
    jobs,
    options: () => ({ ...JOB_OPTIONS, historyMiB }),
    persist: (also) => db.transaction(also),
    unsynced: (body) => db.unsynced(body),
    monotonicNow: now,
    log,
  });
  return { jobs, history, lines };
}

function open() {
  const db = openTestDatabase(file());
  makeShrinkable(db, loggedBy().log);
  db.migrate([jobMigrations]);
  return db;
}

/** @returns the job's id */
function addJob(db: Database, jobs: JobStore, selection: Selection, endedMs: number | null): number {
  const request = jobRequest({ limit: selection.kind, selection });
  const progress = emptyProgress(countRanges(request));
  return db.unsynced(() => {
    const made = { request, progress, origin: { by: null }, retryOf: null, schedule: null, hold: null };
    const [{ id } = { id: 0 }] = jobs.insertAll([made], 1);
    const times = { startedMs: 1, endedMs, paused: false, hold: null, terms: STANDARD_TERMS };
    jobs.save({ id, state: endedMs === null ? "running" : "done", progress, ...times });
    return id;
  });
}

const count = (db: Database, table: string): number =>
  int(db.prepare(`SELECT count(*) AS n FROM ${table}`).get() ?? {}, "n");

/** The reported size equals the size that a count gives. */
function expectExactBytes(db: Database, jobs: JobStore): void {
  const sum = db.prepare("SELECT (SELECT sum(bytes) FROM job) + (SELECT sum(bytes) FROM selection) AS n").get();
  expect(jobs.bytes()).toBe(int(sum ?? {}, "n"));
  expect(count(db, "selection")).toBe(count(db, "selection_body"));
}

test("200 jobs with large areas are trimmed by what they take up, oldest first, and the file is small again", () => {
  const db = open();
  const { jobs, history, lines } = historyIn(db, { historyMiB: 1 });
  for (let n = 1; n <= 200; n++) addJob(db, jobs, area(), n);
  const running = addJob(db, jobs, area(), null);
  expectExactBytes(db, jobs);
  expect(fileBytes()).toBeGreaterThan(35_000_000);

  let rounds = 0;
  while (history.trim(1_000)) rounds++;
  // 40 MB, of which 16 MiB are removed at once.
  expect(rounds).toBe(2);
  expect(jobs.list({ limit: 1_000 }).map(({ id }) => id)).toEqual([running, 200, 199, 198, 197, 196]);
  expectExactBytes(db, jobs);
  expect(history.metrics().trimmed).toEqual([
    { reason: "age", count: 0 },
    { reason: "number", count: 0 },
    { reason: "bytes", count: 195 },
  ]);
  expect(lines).toEqual(Array(3).fill("the oldest jobs have left the history, as it is larger than jobs.historyMiB"));

  const space = new FreeSpace(db);
  do space.giveBackSome();
  while (space.hasMore);
  expect(fileBytes()).toBeLessThan(7_000_000);
  expect(jobs.selections.find(200)).toMatchObject({ kind: "area" });
  db.close();
});

test("what jobs at work take up leaves the history alone", () => {
  const db = open();
  const { jobs, history } = historyIn(db, { historyMiB: 1 });
  const ended = addJob(db, jobs, area(), 1);
  for (let n = 0; n < 10; n++) addJob(db, jobs, area(), null);
  expect(jobs.bytes()).toBeGreaterThan(2_000_000);
  expect(history.trim(1_000)).toBe(false);
  expect(jobs.find(ended)).toBeDefined();
  db.close();
});

test("jobs share the area that they have in common, and it goes with the last of them", async () => {
  const db = open();
  const { jobs, history } = historyIn(db);
  const shared = area();
  const first = addJob(db, jobs, shared, 1);
  const second = addJob(db, jobs, shared, 2);
  // Read from the database, as a retry does.
  const third = addJob(db, jobs, structuredClone(shared), 3);
  expect(count(db, "selection")).toBe(1);
  jobs.delete(first);
  history.compressNext();
  await history.close();
  for (const id of [second, third]) expect(jobs.besides(id).selection).toEqual(shared);
  jobs.delete(second);
  expect(jobs.besides(third).selection).toEqual(shared);
  expectExactBytes(db, jobs);
  jobs.delete(third);
  expect(count(db, "selection_body")).toBe(0);
  expect(jobs.bytes()).toBe(0);
  db.close();
});

test("a list of tiles is compressed in the background, read as before, and shared by later jobs", async () => {
  const db = open();
  const { jobs, history } = historyIn(db);
  const tiles = tileList(Array.from({ length: 10_000 }, (_, n) => ({ z: 14, x: n % 100, y: Math.floor(n / 100) })));
  const id = addJob(db, jobs, tiles, 1);
  const before = jobs.bytes();
  history.compressNext();
  await history.close();
  expect(jobs.bytes()).toBeLessThan(before / 4);
  expectExactBytes(db, jobs);
  expect(jobs.selections.find(id)).toEqual(tiles);
  expect(jobs.selections.find(addJob(db, jobs, structuredClone(tiles), null))).toEqual(tiles);
  expect(count(db, "selection")).toBe(1);
  db.close();
});

test("a job that is removed while its area is being compressed leaves nothing behind", async () => {
  const db = open();
  const { jobs, history } = historyIn(db);
  const id = addJob(db, jobs, area(), 1);
  history.compressNext();
  jobs.delete(id);
  await history.close();
  expect([count(db, "selection"), count(db, "selection_body"), jobs.bytes()]).toEqual([0, 0, 0]);
  db.close();
});

test("an area that cannot be compressed is logged once a minute, and stays as it was", async () => {
  const db = open();
  let nowMs = 0;
  const { jobs, history, lines } = historyIn(
    {
      ...db,
      unsynced: () => {
        throw new Error("no room");
      },
    },
    { now: () => nowMs },
  );
  const id = addJob(db, jobs, area(), 1);
  history.compressNext();
  await expect.poll(() => lines).toHaveLength(1);
  history.compressNext();
  nowMs = 60_000;
  history.compressNext();
  await history.close();
  expect(lines).toEqual(Array(2).fill("the area of a job cannot be compressed"));
  expect(jobs.selections.find(id)).toMatchObject({ kind: "area" });
  db.close();
});

test("a database of an older version is rewritten once, keeps its areas, and then shares and compresses them", async () => {
  const old = new Sqlite(file());
  old.exec("PRAGMA journal_mode = WAL");
  old.exec("CREATE TABLE migration (floor TEXT, step INTEGER, PRIMARY KEY (floor, step))");
  const sqliteSteps = jobMigrations.steps.map(sqliteStep);
  const steps = sqliteSteps.findIndex((sql) => sql.includes("RENAME TO selection_body"));
  for (let step = 0; step < steps; step++) {
    old.exec(sqliteSteps[step] ?? "");
    old.prepare("INSERT INTO migration VALUES ('jobs', ?)").run([step]);
  }
  const [common, other] = [area(), tileList([{ z: 1, x: 1, y: 0 }])];
  const request = JSON.stringify(jobRequest({ limit: "area" }));
  const progress = encodeProgress(emptyProgress(countRanges(jobRequest())));
  for (const [n, selection] of [common, common, other].entries()) {
    old
      .prepare(
        "INSERT INTO job (id, layer, type, state, request, progress, created_ms, ended_ms) VALUES (?,?,?,?,?,?,?,?)",
      )
      .run([n + 7, "a", "seed", "done", request, progress, 1, 1]);
    old.prepare("INSERT INTO job_selection VALUES (?, ?)").run([n + 7, serialize(selection)]);
  }
  old.close();

  const db = openTestDatabase(file());
  const { log, lines } = loggedBy();
  makeShrinkable(db, log);
  makeShrinkable(db, log);
  expect(lines).toEqual(["the state database has been rewritten, so that it can give back space"]);
  db.migrate([jobMigrations]);
  const { jobs } = historyIn(db);
  expect([7, 8, 9].map((id) => jobs.selections.find(id))).toEqual([common, common, other]);
  for (let n = 0; n < 3; n++) {
    const { history } = historyIn(db);
    history.compressNext();
    await history.close();
  }
  expect(jobs.selections.nextNew()).toBeUndefined();
  expect(count(db, "selection")).toBe(2);
  expectExactBytes(db, jobs);
  expect([7, 8, 9].map((id) => jobs.besides(id).selection)).toEqual([common, common, other]);
  jobs.delete(7);
  expect(jobs.besides(8).selection).toEqual(common);
  db.close();
});

test("a database that cannot be rewritten is used as it is, and its free pages are read no more than once a minute", () => {
  const old = new Sqlite(file());
  old.exec("PRAGMA journal_mode = WAL; CREATE TABLE large (body BLOB); INSERT INTO large VALUES (zeroblob(8000000))");
  old.exec("DROP TABLE large");
  old.close();
  const db = openTestDatabase(file());
  const { log, lines } = loggedBy();
  const failing: Database = {
    ...db,
    exec(sql) {
      if (sql === "VACUUM") throw new Error("database or disk is full");
      db.exec(sql);
    },
  };
  makeShrinkable(failing, log);
  expect(lines).toEqual([
    "the state database cannot be rewritten, and does not give back space: the next start tries again",
  ]);
  db.migrate([jobMigrations]);
  const space = new FreeSpace(db);
  space.giveBackSome();
  expect(space.hasMore).toBe(false);
  expect(fileBytes()).toBeGreaterThan(8_000_000);
  db.close();
});
