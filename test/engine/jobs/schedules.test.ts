import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, type JobJson, startServer, type TestServer } from "../../support/server/server.ts";
import { changeState } from "../../support/server/state-database.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

interface ScheduleJson {
  readonly nextRun: string;
  readonly runs: readonly {
    readonly result: string;
    readonly job: number | null;
    readonly jobs: readonly number[];
    readonly dueAt: string | null;
  }[];
}

const schedule = async (server: TestServer, name: string): Promise<ScheduleJson> =>
  JSON.parse(await (await fetch(`${server.url}/api/v1/schedules/${name}`)).text());

async function jobsOf(server: TestServer, name: string): Promise<readonly JobJson[]> {
  const text = await (await fetch(`${server.url}/api/v1/jobs?schedule=${name}`)).text();
  const answer: { jobs: JobJson[] } = JSON.parse(text);
  return answer.jobs;
}

/** All schedules are due while the server is down: an hour before now. Returns this time. */
function comeDue(server: TestServer): string {
  const dueMs = Date.now() - 3_600_000;
  changeState(server.dataDir, `UPDATE schedule SET next_ms = ${dueMs}`);
  return new Date(dueMs).toISOString();
}

test("a schedule survives kill -9, and a time that came meanwhile makes one job, whenever the next kill comes", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const job = { layer: "ws:roads", gridSet: "EPSG:900913", zoomStop: 3 };
  for (const [name, missed] of [
    ["once", "run_once"],
    ["never", "skip"],
  ]) {
    // Once a year, so that no second time is due during the test.
    const body = JSON.stringify({ name, missed, cron: "0 3 1 1 *", timeZone: "Europe/Zurich", job });
    expect((await fetch(`${running.server.url}/api/v1/schedules`, { method: "POST", body })).status).toBe(201);
  }
  const { nextRun } = await schedule(running.server, "once");
  await running.server.kill("SIGKILL");
  const dueAt = comeDue(running.server);
  // The run may have been made, or not yet.
  running.server = await running.server.restart();
  running.server = await running.server.restart();
  const server = running.server;
  const made = await until("the job is made", async () => (await jobsOf(server, "once"))[0], 30_000, server);
  running.server = await server.restart();
  const jobs = await jobsOf(running.server, "once");
  expect(jobs.map(({ id }) => id)).toEqual([made.id]);
  expect(await schedule(running.server, "once")).toMatchObject({
    nextRun,
    runs: [{ result: "started", job: made.id, dueAt }],
  });
  expect(await ended(running.server, made.id)).toMatchObject({
    outcome: "done",
    schedule: "once",
    tiles: { total: 85, failed: 0 },
  });
  expect(await jobsOf(running.server, "never")).toEqual([]);
  expect(await schedule(running.server, "never")).toMatchObject({ nextRun, runs: [{ result: "skipped", job: null }] });
});

test("a run of several jobs in an area is made whole and once, wherever in its planning a kill comes", async () => {
  running.upstream = await startUpstream();
  const layers = ["ws:roads", "ws:rivers"].map((name) => ({ name }));
  running.server = await startServer({ configuration: smallTiles(running.upstream.url, layers) });
  // So many corners that planning and counting take a while.
  const corners = Array.from({ length: 5_000 }, (_, i) => {
    const turn = (i / 5_000) * 2 * Math.PI;
    const far = 30 + 3 * Math.sin(40 * turn);
    return [far * Math.cos(turn), far * Math.sin(turn)];
  });
  const area = { type: "Polygon", coordinates: [[...corners, ...corners.slice(0, 1)]] };
  const job = { layers: ["ws:*"], gridSets: "*", zoomStop: 4, area, type: "reseed", priority: "low" };
  const body = JSON.stringify({ name: "area", cron: "0 3 1 1 *", job });
  const made = await fetch(`${running.server.url}/api/v1/schedules`, { method: "POST", body });
  expect(made.status, await made.text()).toBe(201);
  await running.server.kill("SIGKILL");
  const dueAt = comeDue(running.server);
  for (let life = 0; life < 3; life++) running.server = await running.server.restart("SIGKILL");
  const server = running.server;
  const jobs = await until(
    "the jobs are made",
    async () => {
      const found = await jobsOf(server, "area");
      return found.length > 0 ? found : undefined;
    },
    30_000,
    server,
  );
  const ids = jobs.map(({ id }) => id).sort((a, b) => a - b);
  expect(ids).toHaveLength(4);
  const { runs } = await schedule(server, "area");
  expect(runs).toMatchObject([{ result: "started", job: ids[0], jobs: ids, dueAt }]);
  for (const id of ids) expect(await ended(server, id)).toMatchObject({ outcome: "done", tiles: { failed: 0 } });
  running.server = await server.restart("SIGKILL");
  expect(await jobsOf(running.server, "area")).toHaveLength(4);
});
