import { afterAll, afterEach, expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  type JobJson,
  job,
  massTruncate,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { killAll } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const VALUES = Array.from({ length: 50 }, (_, n) => `s${n}`);
const FILTER = (values: readonly string[]): string =>
  `parameterFilters: [{ type: string, key: STYLES, default: s0, values: [${values.join(", ")}] }]`;
/** A third grid set, with the tiles of EPSG:4326. */
const THIRD = `
  - id: third
    srs: EPSG:4326
    extent: [-180, -90, 180, 90]
    tileSize: [64, 64]
    levels: 5
`;
const GRID_SETS = "[{ gridSet: EPSG:4326 }, { gridSet: EPSG:900913 }, { gridSet: third }]";

const HOURS = Array.from({ length: 24 }, (_, hour) => new Date(Date.UTC(2026, 10, 21, hour)).toISOString());
const HOURLY = `parameterFilters: [{ type: string, key: STYLES, default: s0, values: [s0, s1, s2] }, { type: string, key: TIME, default: "${HOURS[0]}", values: [${HOURS.map((hour) => `"${hour}"`).join(", ")}] }]`;

const configurationOf = ({ url }: Upstream, more = ""): string =>
  smallTiles(
    url,
    [
      { name: "ws:roads", gridSubsets: GRID_SETS, extra: FILTER(VALUES) },
      { name: "ws:rivers" },
      { name: "other", extra: "parameterFilters: [{ type: regex, key: CQL_FILTER, default: '', regex: '.*' }]" },
      { name: "hourly", extra: HOURLY },
    ],
    THIRD + more,
  );

/** The server of all tests but one. Each test finds it without tiles and without jobs at work. */
let begun: { server: TestServer; readonly upstream: Upstream } | undefined;
async function shared() {
  if (begun === undefined) {
    const upstream = await startUpstream();
    begun = { upstream, server: await startServer({ configuration: configurationOf(upstream) }) };
  }
  return begun;
}
/** Kills the shared server and starts it again. */
async function restarted(): Promise<TestServer> {
  const at = await shared();
  at.server = await at.server.restart("SIGKILL");
  return at.server;
}
afterEach(async () => {
  if (begun === undefined) return;
  const { server, upstream } = begun;
  await killAll(server);
  upstream.behaviour = () => "render";
  upstream.asked.length = 0;
  for (const { layer, tiles } of (await usage(server)).layers) if (tiles > 0) await massTruncate(server, layer);
});
afterAll(async () => {
  await begun?.server.close();
  await begun?.upstream.close();
});

async function post(server: TestServer, path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${server.url}/api/v1/${path}`, { method: "POST", body: JSON.stringify(body), headers });
  return { status: response.status, headers: response.headers, json: JSON.parse(await response.text()) };
}

const api = async (server: TestServer, path: string) =>
  JSON.parse(await (await fetch(`${server.url}/api/v1/${path}`)).text());

async function made(server: TestServer, body: object): Promise<readonly JobJson[]> {
  const { status, json } = await post(server, "jobs", body);
  expect([status, json]).toEqual([201, { jobs: expect.any(Array) }]);
  return json.jobs;
}

async function allEnded(server: TestServer, jobs: readonly JobJson[]): Promise<readonly JobJson[]> {
  const views: JobJson[] = [];
  // One after the other: hundreds of simultaneous requests would keep the server from working.
  for (const { id } of jobs) views.push(await ended(server, id));
  return views;
}

test("one request removes an area from every grid set, format and parameter set, and nothing else", async () => {
  const { server } = await shared();
  const all = { layer: "ws:roads", gridSets: "*", formats: "*", parameterSets: "*", zoomStop: 1 };
  const seeds = await allEnded(server, await made(server, { ...all, type: "seed", threadCount: 4 }));
  expect(seeds).toHaveLength(6);
  expect(new Set(seeds.map(({ outcome }) => outcome))).toEqual(new Set(["done"]));
  expect((await usage(server)).total.tiles).toBe(100 * (10 + 5 + 10));

  // The west half of the first level, and of the next the one tile in the north-west.
  const box = { bounds: [-170, 10, -100, 80], boundsCrs: "EPSG:4326" };
  const truncates = await allEnded(server, await made(server, { ...all, ...box, type: "truncate" }));
  expect(
    truncates.map(({ gridSet, format, parameters, tiles }) => [gridSet, format, parameters, tiles.deleted]),
  ).toEqual(["EPSG:4326", "EPSG:900913", "third"].map((gridSet) => [gridSet, null, null, 200]));
  expect(scanStore(server.dataDir).tiles).toBe(100 * (8 + 3 + 8));
  await expectExact(server);
  const again = await allEnded(server, await made(server, { ...all, ...box, type: "truncate" }));
  expect(again.map(({ tiles }) => tiles.deleted)).toEqual([0, 0, 0]);
});

test("one job seeds three styles of each of 24 hours, one takes the hours before another away", async () => {
  const { server, upstream } = await shared();
  const all = { layer: "hourly", gridSet: "EPSG:900913", zoomStop: 1 };
  const styles = ["s0", "s1", "s2"];
  const combinations = styles.flatMap((STYLES) => HOURS.map((TIME) => ({ STYLES, TIME })));
  const chosen = [{ TIME: HOURS, STYLES: { like: "*" } }];
  const estimated = (await post(server, "estimate", { ...all, parameterSets: chosen })).json;
  expect(estimated).toMatchObject({ tiles: 72 * 5, missing: 72 * 5, jobs: [{ parameterSets: chosen, tiles: 72 * 5 }] });
  const [seeded, ...others] = await allEnded(server, await made(server, { ...all, parameterSets: chosen }));
  expect([seeded?.outcome, seeded?.tiles, others]).toEqual([
    "done",
    { total: 72 * 5, stored: 72 * 5, skipped: 0, failed: 0 },
    [],
  ]);
  const view = await api(server, `jobs/${seeded?.id}`);
  expect(view).toMatchObject({ parameters: null, parameterSets: chosen, requestedWith: null });
  const defaults = { STYLES: "s0", TIME: HOURS[0] };
  expect(view.combinations.map((one: object) => ({ ...defaults, ...one }))).toEqual(
    expect.arrayContaining(combinations),
  );
  expect(view.combinations).toHaveLength(72);
  expect((await api(server, "jobs")).jobs[0]).not.toHaveProperty("combinations");
  const old = [{ TIME: { olderThan: HOURS[17] }, STYLES: { like: "*" } }];
  const truncates = await allEnded(server, await made(server, { ...all, parameterSets: old, type: "truncate" }));
  expect(truncates).toEqual([expect.objectContaining({ parameters: null, parameterSets: old, outcome: "done" })]);
  expect(truncates.map(({ tiles }) => [tiles.total, tiles.deleted])).toEqual([[17 * 3 * 5, 17 * 3 * 5]]);
  expect(scanStore(server.dataDir).tiles).toBe(7 * 3 * 5);
  await expectExact(server);
  // The remaining tiles are not requested again.
  const requested = upstream.asked.length;
  const young = HOURS.slice(17).flatMap((TIME) => styles.map((STYLES) => ({ TIME, STYLES })));
  const again = await allEnded(server, await made(server, { ...all, parameterSets: young }));
  expect([again.reduce((sum, { tiles }) => sum + tiles.skipped, 0), upstream.asked.length]).toEqual([105, requested]);
});

test("a job of several combinations continues after a kill, shows the failed tiles of each, and a retry renders them", async () => {
  const { server: first, upstream } = await shared();
  const stylesOf = (target: string): string => new URL(target, "http://any").searchParams.get("STYLES") ?? "";
  upstream.behaviour = ({ target }, response) => {
    if (stylesOf(target) !== "s4") return "render";
    response.writeHead(400).end("no such style");
    return "handled";
  };
  const body = {
    layer: "ws:roads",
    gridSet: "EPSG:900913",
    zoomStop: 3,
    parameterSets: [{ STYLES: ["s1", "s2", "s4", "s5"] }],
    tileFailureRetryCount: 0,
  };
  const [{ id } = { id: 0 }] = await made(first, { ...body, type: "reseed", rateLimit: 100 });
  await until("something is stored", async () => ((await job(first, id)).tiles.stored > 20 ? true : undefined));
  const server = await restarted();
  const done = await ended(server, id);
  const { total, stored, skipped, failed } = done.tiles;
  // Tiles that were stored and not yet counted at the kill are found in the store.
  expect([done.outcome, total, stored + skipped, failed]).toEqual(["done_with_failures", 4 * 85, 3 * 85, 85]);
  const failures = await api(server, `jobs/${id}/failures?limit=1000`);
  expect(new Set(failures.failures.map((one: object) => JSON.stringify(one)))).toHaveProperty("size", 85);
  for (const one of failures.failures) expect(one).toMatchObject({ parameters: { STYLES: "s4" } });
  const features = (await api(server, `jobs/${id}/failures?format=geojson&limit=1`)).features;
  expect(features[0].properties).toMatchObject({ parameters: { STYLES: "s4" }, class: "http_status" });
  upstream.behaviour = () => "render";
  const sent = upstream.asked.length;
  const retried = (await post(server, `jobs/${id}/retry`, {})).json;
  expect(retried).toMatchObject({ tiles: { total: 85 }, retryOf: id });
  expect((await ended(server, retried.id)).tiles).toMatchObject({ stored: 85, failed: 0 });
  expect(upstream.asked.length - sent).toBeLessThanOrEqual(85);
});

test("the jobs of a request are watched, paused, resumed and cancelled as one", async () => {
  const { server } = await shared();
  // One tile in a quarter of an hour.
  const seed = { layers: ["ws:*"], formats: "*", zoomStop: 4, rateLimit: 0.001 };
  const first = await post(server, "jobs", seed);
  const id = first.json.jobs[0].id;
  expect(first.headers.get("location")).toBe(`${server.url}/api/v1/batches/${id}`);
  const act = (action: string) => post(server, `batches/${id}/${action}`, {});
  expect((await act("pause")).json).toMatchObject({ id, jobs: { pending: 4 }, paused: true, outcome: null });
  expect((await act("resume")).json).toMatchObject({ paused: false, endedAt: null });
  const waiting = api(server, `batches/${id}?wait=60`);
  expect((await act("cancel")).json).toMatchObject({ jobs: { aborted: 4 }, state: "aborted", outcome: "aborted" });
  expect(await waiting).toMatchObject({ outcome: "aborted", endedAt: expect.any(String) });
  expect((await act("cancel")).status).toBe(200);
  const late = await act("pause");
  expect([late.status, late.json.detail]).toEqual([409, `Batch ${id} has ended: aborted.`]);
  expect((await post(server, "batches/999/pause", {})).status).toBe(404);
});

test("a request for many jobs is all or nothing: what one of them may not be makes none", async () => {
  const { server } = await shared();
  const before = (await api(server, "jobs")).jobs;
  for (const [body, status, detail] of [
    [{ layers: ["ws:*", "sw:*"] }, 404, "Unknown layer: sw:*"],
    [
      { layers: "ws:*", gridSets: ["EPSG:4326", "third"], zoomStop: 1 },
      400,
      'gridSet: expected one of EPSG:900913, EPSG:4326, got "third"\nThe layer is ws:rivers.',
    ],
    [
      { layer: "other", parameterSets: "*" },
      400,
      'parameterSets: expected a list of sets, as the values of CQL_FILTER cannot be listed (a value that matches .*), got "*"\nThe layer is other.',
    ],
    [
      { layer: "ws:roads", gridSets: "*", bounds: [0, 0, 10, 10] },
      400,
      "boundsCrs: expected the CRS of the bounds, as those of the grid sets differ (EPSG:4326, EPSG:3857), got null",
    ],
    [
      { layers: "other", formats: "*", parameterSets: Array.from({ length: 501 }, (_, n) => ({ CQL_FILTER: `${n}` })) },
      400,
      'parameterSets: expected what comes to at most 1000 tile sets in all, got "1002 tile sets"',
    ],
  ] as const) {
    const refused = await post(server, "jobs", { zoomStop: 1, ...body });
    expect([refused.status, refused.json.detail]).toEqual([status, detail]);
  }
  expect((await api(server, "jobs")).jobs).toEqual(before);
  const schedule = { name: "a", cron: "@daily", job: { layers: ["ws:*"], gridSets: ["third"] } };
  expect((await post(server, "schedules", schedule)).json.detail).toBe(
    'job.gridSet: expected one of EPSG:900913, EPSG:4326, got "third"\nThe layer is ws:rivers.',
  );
});

test("a key covers the whole request, over a kill: again it answers with the same jobs", async () => {
  const { server } = await shared();
  const body = { layers: ["ws:*"], formats: "*", zoomStop: 2 };
  const key = { "Idempotency-Key": "all-of-them" };
  const first = await post(server, "jobs", body, key);
  expect(first.headers.get("idempotency-replayed")).toBeNull();
  const ids = first.json.jobs.map(({ id }: JobJson) => id);
  expect(ids).toHaveLength(4);
  const later = await restarted();
  const again = await post(later, "jobs", body, key);
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  expect(again.json.jobs.map(({ id }: JobJson) => id)).toEqual(ids);
  expect((await post(later, "jobs", { ...body, zoomStop: 1 }, key)).status).toBe(422);
  expect((await post(later, "jobs", { layer: "ws:roads", zoomStop: 1 }, key)).status).toBe(422);
  expect((await allEnded(later, again.json.jobs)).map(({ outcome }) => outcome)).toEqual(ids.map(() => "done"));
  expect((await fetch(`${later.url}/api/v1/jobs/${ids[0]}`, { method: "DELETE" })).status).toBe(204);
  expect((await job(later, ids[1])).id).toBe(ids[1]);
});

test("the jobs of one request tell so and are listed by any of them, with a key and without, over a kill", async () => {
  const { server } = await shared();
  const first = await made(server, { layers: ["ws:*"], zoomStop: 1 });
  const { status, json: second } = await post(server, "jobs", { layer: "other", formats: ["image/png"], zoomStop: 1 });
  const ids = first.map(({ id }) => id);
  expect(first.map(({ requestedWith }) => requestedWith)).toEqual(ids.map(() => ids[0]));
  expect([status, second.jobs[0].requestedWith]).toEqual([201, null]);
  const later = await restarted();
  const listed = async (query: string) => {
    const response = await fetch(`${later.url}/api/v1/jobs?${query}`);
    return [response.status, JSON.parse(await response.text())];
  };
  const idsOf = async (query: string) =>
    (await listed(query))[1].jobs.map((one: JobJson) => [one.id, one.requestedWith]);
  for (const id of ids)
    expect(await idsOf(`requestedWith=${id}`)).toEqual([...ids].reverse().map((one) => [one, ids[0]]));
  expect(await idsOf(`requestedWith=${ids[1]}&layer=ws:roads`)).toEqual([[ids[0], ids[0]]]);
  expect(await idsOf(`requestedWith=${second.jobs[0].id}`)).toEqual([[second.jobs[0].id, null]]);
  expect(await idsOf("requestedWith=999")).toEqual([]);
  expect(await listed("requestedWith=a")).toEqual([
    400,
    expect.objectContaining({ detail: 'requestedWith: expected the id of a job, got "a"' }),
  ]);
  expect((await job(later, ids[1] ?? 0)).requestedWith).toBe(ids[0]);
});

test("an estimate of the same body shows the sum and each job", async () => {
  const { server } = await shared();
  const body = { layers: ["ws:roads"], gridSets: "*", formats: "*", zoomStop: 2 };
  const { status, json } = await post(server, "estimate", body);
  expect([status, json]).toEqual([
    200,
    expect.objectContaining({ tiles: 2 * (42 + 21 + 42), kept: 0, missing: 210, bytes: null, fitsQuota: null }),
  ]);
  expect(json.jobs.map((one: Record<string, unknown>) => [one["gridSet"], one["format"], one["tiles"]])).toEqual([
    ["EPSG:4326", "image/png", 42],
    ["EPSG:4326", "image/jpeg", 42],
    ["EPSG:900913", "image/png", 21],
    ["EPSG:900913", "image/jpeg", 21],
    ["third", "image/png", 42],
    ["third", "image/jpeg", 42],
  ]);
  await allEnded(server, await made(server, { ...body, formats: ["image/png"] }));
  const after = (await post(server, "estimate", body)).json;
  expect([after.kept, after.missing, after.bytes]).toEqual([105, 105, null]);
  const png = (await post(server, "estimate", { ...body, formats: ["image/png"], type: "reseed" })).json;
  expect(png.bytes).toBe((await usage(server)).total.bytes);
  expect(png.seconds).toBe(png.jobs.reduce((sum: number, one: { seconds: number }) => sum + one.seconds, 0));
});

test("many jobs are confirmed by what they come to together, and jobs over what exists count each their own", async () => {
  running.upstream = await startUpstream();
  const configuration = configurationOf(running.upstream, "jobs: { confirmTiles: 100 }\n");
  running.server = await startServer({ configuration });
  const { server } = running;
  const body = { layer: "ws:roads", gridSets: "*", zoomStop: 2 };
  const large = await post(server, "jobs", body);
  expect([large.status, large.json.code, large.json.tiles]).toEqual([409, "confirmation_needed", 105]);
  expect(large.json.detail).toMatch(/^This would be 3 jobs of 105 tiles; /);
  await allEnded(server, await made(server, { ...body, gridSets: ["EPSG:4326", "EPSG:900913"] }));
  expect(await made(server, { ...body, confirm: true })).toHaveLength(3);
  const again = {
    layer: "ws:roads",
    gridSet: "EPSG:4326",
    type: "reseed",
    formats: "*",
    zoomStop: 2,
    onlyExisting: true,
  };
  const totals = (await made(server, again)).map(({ format, tiles }) => [format, tiles.total]);
  expect(totals).toEqual([
    ["image/png", 42],
    ["image/jpeg", 0],
  ]);
});
