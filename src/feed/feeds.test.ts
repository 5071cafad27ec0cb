import { expect, test } from "vitest";
import { JOB_OPTIONS } from "../../test/support/jobs/job-options.ts";
import { nothingStored } from "../../test/support/jobs/nothing-kept.ts";
import { layerNamed } from "../../test/support/layer.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import type { NewJob } from "../jobs/record/stored-job.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import { FeedStore, feedTables } from "./feed-store.ts";
import { Feeds } from "./feeds.ts";

const POLL_SECONDS = 60;
const FEED = `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml">
  <entry><updated>2020-01-01</updated><georss:where><gml:Point><gml:pos>3 4</gml:pos></gml:Point></georss:where></entry>
</feed>`;

/** Polls a feed with one entry of 2020-01-01. The jobs of a poll are stored when the test lets them. */
function polling() {
  const clock = new ManualClock();
  const db = openTestDatabase();
  db.createTables([feedTables]);
  const store = new FeedStore(db);
  const layer = layerNamed("a", {
    updateSources: [
      {
        type: "georss",
        url: "http://127.0.0.1:9/?{lastUpdate}",
        gridSet: "EPSG:900913",
        pollSeconds: POLL_SECONDS,
        operation: "truncate",
        threadCount: 1,
      },
    ],
  });
  const scene = {
    /** The time of the last entry in the database at each submission of jobs. */
    lastUpdates: [] as (string | undefined)[],
    fault: undefined as Error | undefined,
  };
  const feeds = new Feeds({
    catalogue: () => catalogueOf([layer]),
    state: { write: (also) => db.transaction(() => also?.()) },
    store,
    runner: {
      submitAll: (_: readonly NewJob[], also) => {
        scene.lastUpdates.push(store.all()[0]?.lastUpdate);
        if (scene.fault !== undefined) throw scene.fault;
        db.transaction(() => also?.([1]));
        return { jobId: 1, jobIds: [1], taskIds: [1], known: false };
      },
    },
    windows: { begun: (job) => ({ ...job, hold: null }) },
    counter: nothingStored.counter,
    options: () => JOB_OPTIONS,
    fetch: async () => FEED,
    clock,
    log: silentLog,
  });
  feeds.start();
  const poll = () => clock.passSlowly(POLL_SECONDS * 1_000, 1_000);
  return { scene, store, feeds, poll, close: () => db.close() };
}

test("an entry makes jobs once, and its time is stored with them", async () => {
  const { scene, store, feeds, poll, close } = polling();
  await poll();
  await poll();
  expect(scene.lastUpdates).toEqual([undefined]);
  expect(store.all()).toMatchObject([{ layer: "a", lastUpdate: "2020-01-01" }]);
  await feeds.close();
  close();
});

test("an entry whose jobs cannot be stored is new at the next poll", async () => {
  const { scene, store, feeds, poll, close } = polling();
  scene.fault = new Error("the database is away");
  await poll();
  expect(store.all()).toMatchObject([{ lastUpdate: "" }]);
  scene.fault = undefined;
  await poll();
  expect(scene.lastUpdates).toEqual([undefined, ""]);
  expect(store.all()).toMatchObject([{ lastUpdate: "2020-01-01" }]);
  await feeds.close();
  close();
});
