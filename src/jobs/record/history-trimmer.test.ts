import { randomFillSync } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JOB_OPTIONS } from "../../../test/support/jobs/job-options.ts";
import { jobRequest } from "../../../test/support/jobs/job-request.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { limitOf, type Selection } from "../../grid/selection.ts";
import { tileList } from "../../grid/tile-list.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { countRanges } from "../../plan/count-tiles.ts";
import { emptyProgress } from "../../plan/job/job-progress.ts";
import { STANDARD_TERMS } from "../../plan/job/job-terms.ts";
import { type Database, int } from "../../state/database.ts";
import { FreeSpace } from "../../state/free-space.ts";
import { HistoryTrimmer } from "./history-trimmer.ts";
import { JobStore } from "./job-store.ts";
import { jobTables } from "./job-tables.ts";

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

function historyIn(db: Database, { historyMiB = 1024, clock = new ManualClock(0) } = {}) {
  const { log, lines } = loggedBy();
  const jobs = new JobStore(db);
  const history = new HistoryTrimmer({
    jobs,
    options: () => ({ ...JOB_OPTIONS, historyMiB }),
    state: { write: (also = () => undefined) => db.transaction(also) },
    db,
    clock,
    log,
  });
  return { jobs, history, lines };
}

function open() {
  const db = openTestDatabase(file());
  db.createTables([jobTables]);
  return db;
}

/** @returns the job's id */
function addJob(db: Database, jobs: JobStore, selection: Selection, endedMs: number | null): number {
  const request = jobRequest({ limit: limitOf(selection), selection });
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

/** Expects the reported size to equal the counted size. */
function expectExactBytes(db: Database, jobs: JobStore): void {
  const sum = db.prepare("SELECT (SELECT sum(bytes) FROM job) + (SELECT sum(bytes) FROM selection) AS n").get();
  expect(jobs.sizes.total()).toBe(int(sum ?? {}, "n"));
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
  // 40 MB, of which one call removes 16 MiB.
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
  expect(jobs.sizes.total()).toBeGreaterThan(2_000_000);
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
  expect(jobs.sizes.total()).toBe(0);
  db.close();
});

test("a list of tiles is compressed in the background, read as before, and shared by later jobs", async () => {
  const db = open();
  const { jobs, history } = historyIn(db);
  const tiles = tileList(Array.from({ length: 10_000 }, (_, n) => ({ z: 14, x: n % 100, y: Math.floor(n / 100) })));
  const id = addJob(db, jobs, tiles, 1);
  const before = jobs.sizes.total();
  history.compressNext();
  await history.close();
  expect(jobs.sizes.total()).toBeLessThan(before / 4);
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
  expect([count(db, "selection"), count(db, "selection_body"), jobs.sizes.total()]).toEqual([0, 0, 0]);
  db.close();
});

test("an area that cannot be compressed is logged once a minute, and stays as it was", async () => {
  const db = open();
  const clock = new ManualClock(0);
  const { jobs, history, lines } = historyIn(
    {
      ...db,
      unsynced: () => {
        throw new Error("no room");
      },
    },
    { clock },
  );
  const id = addJob(db, jobs, area(), 1);
  history.compressNext();
  await expect.poll(() => lines).toHaveLength(1);
  history.compressNext();
  clock.pass(60_000);
  history.compressNext();
  await history.close();
  expect(lines).toEqual(Array(2).fill("the area of a job cannot be compressed"));
  expect(jobs.selections.find(id)).toMatchObject({ kind: "area" });
  db.close();
});
