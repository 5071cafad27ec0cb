import { expect, test } from "vitest";
import { jobRequest } from "../../test/support/job-request.ts";
import { countRanges } from "../plan/count-tiles.ts";
import { emptyProgress } from "../plan/job-progress.ts";
import { STANDARD_TERMS } from "../plan/job-terms.ts";
import { sqliteStep } from "../state/dialect.ts";
import { openDatabase } from "../state/embedded-database.ts";
import { jobMigrations } from "./record/job-migrations.ts";
import { JobStore } from "./record/job-store.ts";

test("a job of an older version in an order that was removed begins again by zoom, an ended one keeps its counts", () => {
  const db = openDatabase(":memory:");
  db.migrate([jobMigrations]);
  const store = new JobStore(db);
  const ranges = [{ gridSet: "g", rects: [{ z: 2, minX: 0, minY: 0, maxX: 3, maxY: 3 }] }];
  const request = jobRequest({ ranges, threadCount: 1 });
  const fresh = emptyProgress(countRanges(request));
  const counts = { stored: 5n, skipped: 1n, unchanged: 0n, failed: 2n };
  const begun = {
    ...fresh,
    finished: [["3", "11"] as const],
    errors: [{ class: "upstream", count: 2, message: "away", tile: null }],
    zooms: fresh.zooms.map((zoom) => ({ ...zoom, ...counts, bytes: 100n })),
  };
  const made = ["depth-first", "centre-out", "hot"].map((order, i) => {
    // The types no longer allow the removed orders, so the order is written as an older version has written it.
    const job = { request, progress: begun, origin: { by: null }, retryOf: null, schedule: null, hold: null };
    const [stored] = store.insertAll([job], i);
    if (stored === undefined) throw new Error("the job was not inserted");
    db.prepare("UPDATE job SET request = json_set(request, '$.order', ?) WHERE id = ?").run(order, stored.id);
    for (const { id } of stored.tasks) store.saveTask(id, "live", 8n);
    store.addFailedTiles(stored.id, [{ z: 2, x: 0, y: 0, combination: 0, class: "upstream", message: "away" }]);
    return stored.id;
  });
  const [unfinished = 0, ended = 0, hot = 0] = made;
  const end = { endedMs: 9, startedMs: 1, paused: false, hold: null, terms: STANDARD_TERMS } as const;
  store.save({ id: ended, state: "aborted", progress: { ...begun, outcome: "aborted" }, ...end });

  // The store writes the tables of this version, so the step that removes the orders runs again on them.
  const step = jobMigrations.steps.findIndex((one) => sqliteStep(one).includes("'depth-first'"));
  db.prepare("DELETE FROM migration WHERE floor = 'jobs' AND step = ?").run(step);
  db.migrate([jobMigrations]);
  const again = store.find(unfinished);
  expect(again?.request.order).toBeUndefined();
  expect(again?.progress).toEqual(fresh);
  expect(again?.tasks).toMatchObject([{ processed: 0n }]);
  expect(store.failedTiles(unfinished)).toEqual([]);
  const before = store.find(ended);
  expect([before?.request.order, before?.progress]).toEqual([
    undefined,
    { ...begun, outcome: "aborted", finished: [] },
  ]);
  expect(store.failedTiles(ended)).toHaveLength(1);
  expect(store.find(hot)).toMatchObject({ request: { order: "hot" }, progress: begun, tasks: [{ processed: 8n }] });
  db.close();
});
