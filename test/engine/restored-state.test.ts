import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectExact } from "../support/exact.ts";
import { closedAfterEach } from "../support/running.ts";
import { ended, massTruncate, seed, startServer, type TestServer, usage } from "../support/server.ts";
import { changeState } from "../support/state-database.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const running = closedAfterEach();
const world = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png", type: "seed", threadCount: 1 };

const lossOf = async (at: TestServer): Promise<unknown> =>
  JSON.parse(await (await fetch(`${at.url}/api/v1/status`)).text()).stateLoss;

test("a copy that is put in the place of the database is counted again, and no id is given twice", async () => {
  running.upstream = await startUpstream();
  const configuration = smallTiles(running.upstream.url, [{ name: "a" }, { name: "b" }]);
  const first = await startServer({ configuration });
  running.server = first;
  await ended(first, await seed(first, "a", { ...world, zoomStop: 3 }));
  await first.kill("SIGTERM");
  // A database before the tables of sessions: the next start copies and migrates it.
  changeState(first.dataDir, "DROP TABLE session");
  changeState(first.dataDir, "DELETE FROM schema_step WHERE module = 'session'");
  const at = await first.restart();
  running.server = at;
  const copy = readdirSync(at.dataDir).find((name) => name.startsWith("state.db.before-")) ?? "";
  expect(await lossOf(at)).toBeNull();

  await massTruncate(at, "a");
  const last = await seed(at, "b", { ...world, zoomStop: 2 });
  await ended(at, last);
  await at.kill("SIGKILL");
  // The write-ahead log of the replaced database is still there.
  copyFileSync(join(at.dataDir, copy), join(at.dataDir, "state.db"));

  const restored = await at.restart();
  running.server = restored;
  expect(await lossOf(restored)).toEqual({
    file: join(at.dataDir, "state.db"),
    reason: expect.stringMatching(/^it is a copy of 2\S+Z that was put in place$/),
  });
  await until("everything is counted", async () => ((await usage(restored)).total.tiles === 21 ? true : undefined));
  await expectExact(restored);
  const next = await seed(restored, "b", { ...world, zoomStart: 3, zoomStop: 3 });
  expect(Number(next)).toBeGreaterThan(Number(last) + 1_000);
  await ended(restored, next);

  const again = await restored.restart("SIGKILL");
  running.server = again;
  expect(await lossOf(again), "it is told once").toBeNull();
  await expectExact(again);
});
