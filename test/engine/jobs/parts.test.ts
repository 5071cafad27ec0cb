import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { type JobJson, startServer, type TestServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const configuration = (url: string): string => `
users: [{ name: root, password: "administrator", roles: [admin] }]
gridSets:
  - { id: "us:equal", srs: EPSG:2163, extent: [-2500000, -2500000, 2500000, 2500000], scaleDenominators: [50000000, 25000000, 12500000, 6250000, 3125000], tileSize: [64, 64], alignTopLeft: false }
layers:
  - name: roads
    source: { type: wms, url: "${url}", layers: [roads], connections: 2, timeoutSeconds: 10 }
    gridSubsets: [{ gridSet: "us:equal" }, { gridSet: EPSG:4326 }]
    formats: [image/png]
    metatile: [1, 1]
`;

async function start(): Promise<TestServer> {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(20);
  running.server = await startServer({ configuration: configuration(running.upstream.url) });
  return running.server;
}

const authorization = `Basic ${Buffer.from("root:administrator").toString("base64")}`;
async function send(server: TestServer, method: string, path: string, body?: object) {
  const init = { method, headers: { authorization }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${server.url}/api/v1${path}`, init);
  return { status: response.status, body: JSON.parse((await response.text()) || "null") };
}

interface Entry {
  readonly at: string;
  readonly event: string;
  readonly by: string | null;
  readonly reason: string | null;
}
const timeline = async (server: TestServer, id: number): Promise<readonly Entry[]> =>
  (await send(server, "GET", `/jobs/${id}/timeline`)).body.timeline;
type TimedJob = JobJson & { readonly createdAt: string; readonly endedAt: string | null };
const jobOf = async (server: TestServer, query: string): Promise<TimedJob> =>
  (await send(server, "GET", `/jobs/${query}`)).body;

test("the timeline tells pauses, a restart, a wait for the upstream and the end, each with who and why", async () => {
  let server = await start();
  const { upstream } = running;
  const { body: made } = await send(server, "POST", "/jobs", { layer: "roads", gridSet: "us:equal", zoomStop: 1 });
  const id: number = made.id;
  await until("it works", async () => ((await jobOf(server, `${id}`)).tiles.stored > 3 ? true : undefined));
  await send(server, "POST", `/jobs/${id}/pause`);
  server = await server.restart("SIGKILL");
  running.server = server;
  await upstream?.down();
  await send(server, "POST", `/jobs/${id}/resume`);
  await until("it waits", async () => ((await timeline(server, id)).at(-1)?.event === "waiting" ? true : undefined));
  await upstream?.up();
  const done = await jobOf(server, `${id}?wait=120`);
  expect(done.outcome).toBe("done");
  const entries = await timeline(server, id);
  const reported = entries.map(({ event, by, reason }) => [event, by, reason]);
  expect(reported).toEqual([
    ["made", "root", null],
    ["running", null, null],
    ["paused", "root", "paused by root"],
    ["restarted", null, null],
    ["resumed", "root", null],
    ["waiting", null, expect.stringContaining("upstream")],
    ["running", null, null],
    ["ended", null, null],
  ]);
  expect(entries[0]?.at).toBe(done.createdAt);
  expect(entries.at(-1)?.at).toBe(done.endedAt);
  const times = entries.map(({ at }) => Date.parse(at));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  const { body: quick } = await send(server, "POST", "/jobs", { layer: "roads", gridSet: "us:equal", zoomStop: 0 });
  await jobOf(server, `${quick.id}?wait=60`);
  const events = async (of: number) => (await timeline(server, of)).map(({ event }) => event);
  expect(await events(quick.id)).toEqual(["made", "running", "ended"]);
  expect((await send(server, "DELETE", `/jobs/${id}`)).status).toBe(204);
  expect((await send(server, "GET", `/jobs/${id}/timeline`)).status).toBe(404);
});

test("the levels of a job add up to it, its area and its failures are in the CRS of the grid set", async () => {
  const server = await start();
  const { upstream } = running;
  if (upstream === undefined) throw new Error("no upstream");
  const area = {
    type: "Polygon",
    coordinates: [
      [
        [0, 0],
        [600000, 0],
        [600000, 500000],
        [0, 0],
      ],
    ],
  };
  upstream.behaviour = (_, response) => {
    response.writeHead(404).end();
    return "handled";
  };
  const request = { layer: "roads", gridSet: "us:equal" };
  const polygon = { ...request, area, areaCrs: "EPSG:2163", zoomStart: 2, zoomStop: 4 };
  const { body: made } = await send(server, "POST", "/jobs", polygon);
  const ended = await jobOf(server, `${made.id}?wait=60`);
  expect(ended.outcome).toBe("failed");
  const { levels } = (await send(server, "GET", `/jobs/${made.id}/levels`)).body;
  expect(levels.map(({ z }: { z: number }) => z)).toEqual([2, 3, 4]);
  for (const { total, processed, failed } of levels) expect([processed, failed]).toEqual([total, total]);
  const sum = levels.reduce((all: number, { total }: { total: number }) => all + total, 0);
  expect(sum).toBe(ended.tiles.total);
  const shape = (await send(server, "GET", `/jobs/${made.id}/area`)).body;
  expect(shape).toEqual({ crs: "EPSG:2163", geometry: { type: "MultiPolygon", coordinates: [area.coordinates] } });
  const failures = (await send(server, "GET", `/jobs/${made.id}/failures?format=geojson&crs=native`)).body;
  expect(failures.crs).toEqual({ type: "name", properties: { name: "EPSG:2163" } });
  expect(failures.features).toHaveLength(ended.tiles.failed);
  const [x, y] = failures.features[0].geometry.coordinates[0][0];
  const { x: column, y: row, z } = failures.features[0].properties;
  const side = 0.00028 * 64 * (50_000_000 / 2 ** z);
  expect(x).toBeCloseTo(-2_500_000 + column * side, 3);
  expect(y).toBeCloseTo(-2_500_000 + row * side, 3);
  const degrees = await send(server, "GET", `/jobs/${made.id}/failures?format=geojson`);
  expect([degrees.status, degrees.body.detail]).toEqual([400, expect.stringMatching(/^crs: expected native, as the/)]);
  const odd = await send(server, "GET", `/jobs/${made.id}/failures?format=geojson&crs=EPSG:2163`);
  expect([odd.status, odd.body.detail]).toEqual([400, expect.stringMatching(/^crs: expected native \(/)]);

  const geometryOf = async (more: object) => {
    const { body } = await send(server, "POST", "/jobs", { ...request, zoomStop: 0, ...more });
    return (await send(server, "GET", `/jobs/${body.id}/area`)).body;
  };
  const box = (a: number, b: number, c: number, d: number) => ({
    type: "Polygon",
    coordinates: [
      [
        [a, b],
        [c, b],
        [c, d],
        [a, d],
        [a, b],
      ],
    ],
  });
  expect(await geometryOf({ bounds: [1, 2, 30000, 40000] })).toEqual({
    crs: "EPSG:2163",
    geometry: box(1, 2, 30000, 40000),
  });
  expect((await geometryOf({})).geometry.type).toBe("Polygon");
  expect(await geometryOf({ gridSet: undefined, zoomStop: undefined, type: "truncate" })).toEqual({
    crs: null,
    geometry: null,
  });
  for (const part of ["timeline", "levels", "area"])
    expect((await send(server, "GET", `/jobs/99999/${part}`)).status).toBe(404);
});

test("the number of tasks of a job may be changed while it works, and every tile is counted once", async () => {
  let server = await start();
  const { body: made } = await send(server, "POST", "/jobs", { layer: "roads", gridSet: "us:equal", zoomStop: 1 });
  const path = `/jobs/${made.id}`;
  const change = (threadCount: number | null) => send(server, "PATCH", path, { threadCount });
  const rowsOf = async (): Promise<readonly (readonly number[])[]> => {
    const response = await fetch(`${server.url}/rest/seed/roads.json`, { headers: { authorization } });
    return JSON.parse(await response.text())["long-array-array"];
  };
  const total = made.tiles.total;
  const more = await change(4);
  expect(more).toMatchObject({ status: 200, body: { threadCount: 4 } });
  expect([more.body.tasks.length, more.body.tasks[0]]).toEqual([4, made.tasks[0]]);
  await until("all work", async () => ((await rowsOf()).filter((row) => row[4] === 1).length === 4 ? true : undefined));
  expect((await rowsOf()).reduce((sum, row) => sum + (row[1] ?? 0), 0)).toBe(total);
  server = await server.restart("SIGKILL");
  running.server = server;
  expect((await rowsOf()).map((row) => row[3])).toEqual(more.body.tasks);
  const fewer = await change(2);
  expect(fewer.body).toMatchObject({ tasks: more.body.tasks, threadCount: 2, outcome: null });
  expect((await rowsOf()).map((row) => row[3])).toEqual(more.body.tasks.slice(0, 2));
  await change(null);
  expect((await rowsOf()).map((row) => row[3])).toEqual(made.tasks);
  for (const [count, detail] of [
    [0, "threadCount: expected a whole number, 1 or more, got 0"],
    [1.5, "threadCount: expected a whole number, 1 or more, got 1.5"],
  ] as const)
    expect(await change(count)).toMatchObject({ status: 400, body: { detail } });
  const done = await jobOf(server, `${made.id}?wait=60`);
  expect(done).toMatchObject({ outcome: "done", reason: null, threadCount: 1, tiles: { total, failed: 0 } });
  expect(done.tiles.stored + done.tiles.skipped).toBe(total);
  expect((await change(2)).status).toBe(409);
});
