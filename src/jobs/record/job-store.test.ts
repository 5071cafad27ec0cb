import { expect, test } from "vitest";
import { jobRequest } from "../../../test/support/jobs/job-request.ts";
import { inPostgres, openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { countRanges } from "../../plan/count-tiles.ts";
import { emptyProgress } from "../../plan/job/job-progress.ts";
import type { JobFilter } from "../../plan/job/job-request.ts";
import { STANDARD_TERMS } from "../../plan/job/job-terms.ts";
import { JobStore } from "./job-store.ts";
import { jobTables } from "./job-tables.ts";
import type { TrimLimits } from "./job-trimming.ts";
import type { NewJob } from "./stored-job.ts";
import { MOST_EVENTS } from "./timeline-store.ts";

const request = jobRequest({ type: "truncate", gridSet: null, format: null, parameters: null, parametersId: null });

const progress = emptyProgress(countRanges(request));
const newJob: NewJob = { request, progress, origin: { by: null }, retryOf: null, schedule: null, hold: null };

/** A history of jobs that ended one millisecond after the other, beginning at 1 ms. */
function history(jobs: number) {
  const db = openTestDatabase(":memory:");
  db.createTables([jobTables]);
  const store = new JobStore(db);
  for (let n = 1; n <= jobs; n++) {
    const [job] = store.insertAll([newJob], n);
    if (job === undefined) throw new Error("the job was not inserted");
    store.save({
      id: job.id,
      state: "done",
      progress,
      startedMs: n,
      endedMs: n,
      paused: false,
      hold: null,
      terms: STANDARD_TERMS,
    });
  }
  const ids = () => store.list({ limit: 1_000 }).map(({ id }) => id);
  return { db, store, ids };
}

const NO_LIMIT = { endedBeforeMs: 0, jobs: 1_000, bytes: 1e12 };

test("a history is trimmed by age and by number, and never by more jobs at once than the caller allows", () => {
  const { db, store, ids } = history(10);
  const trim = (limits: Partial<TrimLimits>, most: number) => store.trim({ ...NO_LIMIT, ...limits }, most);
  expect(trim({ endedBeforeMs: 4 }, 100)).toMatchObject({ trimmed: { age: 3 }, hasMore: false });
  expect(ids()).toEqual([10, 9, 8, 7, 6, 5, 4]);
  expect(trim({ jobs: 4 }, 2)).toMatchObject({ trimmed: { number: 2 }, hasMore: true });
  expect(ids()).toEqual([10, 9, 8, 7, 6]);
  expect(trim({ jobs: 4 }, 2)).toMatchObject({ trimmed: { number: 1 }, hasMore: false });
  expect(trim({ jobs: 4 }, 2)).toMatchObject({ trimmed: { age: 0, number: 0, bytes: 0 }, hasMore: false });
  expect(ids()).toEqual([10, 9, 8, 7]);
  db.close();
});

test("a job that has not ended is never trimmed", () => {
  const { db, store, ids } = history(1);
  for (const nowMs of [2, 3]) store.insertAll([newJob], nowMs);
  expect(store.trim({ endedBeforeMs: 1_000, jobs: 1, bytes: 0 }, 100).trimmed).toEqual({
    age: 1,
    number: 0,
    bytes: 0,
  });
  expect(ids()).toEqual([3, 2]);
  db.close();
});

// The query plans are those of SQLite.
test.skipIf(inPostgres)("lists ask an index, whatever they are filtered by", () => {
  const { db } = history(1);
  for (const where of ["layer = 'a'", "state = 'done'", "type = 'seed'", "layer = 'a' AND type = 'seed' AND id < 7"]) {
    const [step] = db
      .prepare(`EXPLAIN QUERY PLAN SELECT * FROM job WHERE 1 = 1 AND ${where} ORDER BY id DESC LIMIT 5`)
      .all();
    expect(step?.["detail"], where).toMatch(/USING INDEX/);
  }
  db.close();
});

test("the jobs of a batch are listed by any of them, and still when the first has been deleted", () => {
  const { db, store } = history(1);
  expect(store.insertAll([newJob, newJob, newJob], 2).map(({ id, requestedWith }) => [id, requestedWith])).toEqual(
    [2, 3, 4].map((id) => [id, 2]),
  );
  store.insertAll([newJob], 3);
  const batchOf = (requestedWith: number) => store.list({ requestedWith, limit: 10 }).map(({ id }) => id);
  expect([2, 3, 4].map(batchOf)).toEqual([2, 3, 4].map(() => [4, 3, 2]));
  expect([batchOf(5), batchOf(99)]).toEqual([[5], []]);
  expect(store.list({ limit: 10 }).map((job) => job.requestedWith)).toEqual([null, 2, 2, 2, null]);
  expect(store.list({ requestedWith: 3, limit: 10, after: 4, layer: request.layer }).map(({ id }) => id)).toEqual([
    3, 2,
  ]);
  store.delete(2);
  expect([2, 3, 4].map(batchOf)).toEqual([2, 3, 4].map(() => [4, 3]));
  expect(store.find(3)?.requestedWith).toBe(2);
  store.delete(3);
  expect([3, 4].map(batchOf)).toEqual([[], [4]]);
  db.close();
});

test("jobs are found by outcome, pause, account, time and text, and counted by the same filters", () => {
  const { db, store } = history(0);
  const made = (layer: string, by: string | null, schedule: string | null, nowMs: number, hold: "held" | null = null) =>
    store.insertAll([{ ...newJob, request: { ...request, layer }, origin: { by }, schedule, hold }], nowMs);
  const end = (id: number, outcome: "done" | "failed" | "aborted") => {
    const state = outcome === "aborted" ? "aborted" : "done";
    const ended = { ...progress, outcome };
    store.save({
      id,
      state,
      progress: ended,
      startedMs: 1,
      endedMs: 2,
      paused: false,
      hold: null,
      terms: STANDARD_TERMS,
    });
  };
  made("ws:Straße", "Ann", null, 10);
  made("ws:rivers", "bob", "Nightly", 20);
  made("ws:rivers", null, null, 30, "held");
  made("ws:roads", "ann", null, 40);
  made("ws:roads", "ann", "weekly", 50);
  end(1, "failed");
  end(2, "aborted");
  end(4, "done");
  const ids = (filter: JobFilter) => store.list({ ...filter, limit: 10 }).map(({ id }) => id);
  expect(ids({ outcome: "failed" })).toEqual([1]);
  expect([ids({ paused: true }), ids({ paused: false })]).toEqual([[3], [5, 4, 2, 1]]);
  expect(ids({ createdBy: "ann" })).toEqual([5, 4]);
  expect([ids({ sinceMs: 40 }), ids({ untilMs: 40 }), ids({ sinceMs: 20, untilMs: 40 })]).toEqual([
    [5, 4],
    [3, 2, 1],
    [3, 2],
  ]);
  expect(["STRASSE", "straße", "STRAßE", "NIGHT", "ANN", "ws:r", "4", "%"].map((text) => ids({ text }))).toEqual([
    [],
    [1],
    [1],
    [2],
    [5, 4, 1],
    [5, 4, 3, 2],
    [4],
    [],
  ]);
  expect(new Map(store.count({}))).toEqual(
    new Map([
      ["aborted", 1],
      ["done", 1],
      ["failed", 1],
      ["paused", 1],
      ["pending", 1],
    ]),
  );
  expect(store.count({ text: "roads", from: 5 })).toEqual([["pending", 1]]);
  db.close();
});

test.skipIf(inPostgres)("a search of a page of a long history reads an index and no requests", () => {
  const { db } = history(1);
  const plan = db
    .prepare(
      "EXPLAIN QUERY PLAN SELECT id FROM job WHERE created_ms >= ? AND instr(search || char(10) || id, ?) > 0 AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?",
    )
    .all(1, "x", 1, 9, 10);
  expect(plan.map(({ detail }) => detail)).toEqual(["SEARCH job USING COVERING INDEX job_filter (id>? AND id<?)"]);
  db.close();
});

test("the timeline of a job keeps its latest events, and goes with the job without a trace in the size", () => {
  const { db, store } = history(1);
  const before = store.sizes.total();
  const event = (atMs: number) => ({ event: "waiting", atMs, by: null, reason: "the upstream is down" }) as const;
  for (let n = 0; n < MOST_EVENTS + 50; n++) db.transaction(() => store.timeline.add(1, event(n)));
  const kept = store.timeline.of(1);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([MOST_EVENTS, event(50), event(MOST_EVENTS + 49)]);
  expect(store.sizes.total()).toBe(before + MOST_EVENTS * (32 + "the upstream is down".length));
  store.delete(1);
  expect([store.timeline.of(1), store.sizes.total()]).toEqual([[], 0]);
  db.close();
});
