import { expect, test } from "vitest";
import { openTestDatabase } from "../../../test/support/test-database.ts";
import { ScheduleStore, scheduleMigrations } from "../../schedule/schedule-store.ts";
import { jobMigrations } from "./job-migrations.ts";
import { JobStore } from "./job-store.ts";

test("requests that an older build has stored have the names of their fields", () => {
  const db = openTestDatabase(":memory:");
  const all = [jobMigrations, scheduleMigrations];
  db.migrate(all.map(({ module, steps }) => ({ module, steps: steps.slice(0, 1) })));
  const insert = db.prepare(
    "INSERT INTO job (layer, type, state, request, progress, created_ms) VALUES ('a', 'seed', 'pending', ?, '{}', 1)",
  );
  insert.run('{"layer":"a \\"failureLimit\\":","retryCount":1,"failureLimit":7,"failurePercent":2.5}');
  insert.run(`{"layer":"a","failureLimit":${Number.MAX_SAFE_INTEGER}}`);
  db.prepare("INSERT INTO schedule (name, plan, created_ms, job) VALUES ('s', '{}', 1, ?)").run(
    JSON.stringify({
      many: { layers: ["a"], layersAre: "names" },
      request: {
        type: "seed",
        gridSetId: "g",
        tileFailureRetryCount: 1,
        tileFailureRetryWaitMs: 2,
        totalFailuresBeforeAborting: 3,
      },
      parameters: [],
      confirmed: false,
    }),
  );
  db.migrate(all);
  const jobs = new JobStore(db).list({ limit: 10 });
  expect(jobs.map(({ request }) => request)).toEqual([
    { layer: "a", maxFailures: null },
    { layer: 'a "failureLimit":', retryCount: 1, maxFailures: 7, maxFailurePercent: 2.5 },
  ]);
  expect(new ScheduleStore(db).find("s")?.plan.job.many.request).toMatchObject({
    gridSet: "g",
    retryCount: 1,
    retryWaitMs: 2,
    maxFailures: 3,
  });
});
