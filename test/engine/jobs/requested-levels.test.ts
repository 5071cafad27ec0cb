import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../support/server/run-program.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const LAYER = "ws:roads";
const LEVELS = "a level of the layer: 0 to 10 in EPSG:900913";

let upstream: Upstream;
let server: TestServer;
beforeAll(async () => {
  upstream = await startUpstream();
  const gridSubsets = "[{ gridSet: EPSG:4326 }, { gridSet: EPSG:900913, zoomStop: 10 }]";
  const only = "[{ gridSet: EPSG:4326 }]";
  server = await startServer({
    configuration: smallTiles(upstream.url, [
      { name: LAYER, gridSubsets },
      { name: "ws:rivers", gridSubsets: only },
    ]),
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const run = clientOf(() => server.url);

async function post(path: string, body: object) {
  const response = await fetch(`${server.url}/${path}`, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}
const jobs = (body: object) => post("api/v1/jobs", { layer: LAYER, ...body });
const cancelled = (id: number) => post(`api/v1/jobs/${id}/cancel`, {});

test("levels that the layer does not have are refused by name, value and the levels that there are", async () => {
  const refused = { status: 400, json: { code: "bad_field", detail: `zoomStop: expected ${LEVELS}, got 11` } };
  for (const type of ["seed", "reseed", "truncate"])
    expect(await jobs({ type, gridSet: "EPSG:900913", zoomStop: 11 })).toMatchObject(refused);
  expect(await post("api/v1/estimate", { layer: LAYER, zoomStop: 11 })).toMatchObject(refused);
  expect(await jobs({ zoomStart: 11 })).toMatchObject({
    status: 400,
    json: { detail: expect.stringMatching(/^zoomStart: /) },
  });
  const schedule = { name: "nightly", cron: "@daily", job: { layer: LAYER, zoomStop: 99 } };
  expect(await post("api/v1/schedules", schedule)).toMatchObject({
    status: 400,
    json: { detail: `job.zoomStop: expected ${LEVELS}, got 99` },
  });
  const command = await run(["seed", LAYER, "--zoom", "0-99"]);
  expect([command.code, command.stderr]).toEqual([1, expect.stringContaining(`zoomStop: expected ${LEVELS}, got 99`)]);
});

test("the classic interface reduces the levels", async () => {
  const response = await fetch(`${server.url}/rest/seed/${LAYER}.json`, {
    method: "POST",
    body: JSON.stringify({ seedRequest: { gridSetId: "EPSG:900913", zoomStart: 9, zoomStop: 99 } }),
  });
  expect(response.status).toBe(200);
  const id = Number(response.headers.get("x-job-id"));
  expect((await cancelled(id)).json).toMatchObject({ zoomStart: 9, zoomStop: 10 });
});

test("the default grid set is that of web maps, in the classic interface the layer's first", async () => {
  const made = await jobs({ zoomStop: 0, type: "truncate", bounds: [-1e6, -1e6, 1e6, 1e6], gridSet: "EPSG:900913" });
  expect(made.status).toBe(201);
  expect((await jobs({ zoomStop: 0 })).json).toMatchObject({ gridSet: "EPSG:900913" });
  expect((await jobs({ layer: "ws:rivers", zoomStop: 0 })).json).toMatchObject({ gridSet: "EPSG:4326" });
  expect((await post("api/v1/estimate", { layer: LAYER, zoomStop: 0 })).json).toMatchObject({ tiles: 1 });
  const command = await run(["seed", LAYER, "--zoom", "0", "--wait", "--json"]);
  expect(JSON.parse(command.stdout)).toMatchObject({ gridSet: "EPSG:900913", tiles: { total: 1 } });
  const classic = await fetch(`${server.url}/rest/seed/${LAYER}.json`, {
    method: "POST",
    body: '{"seedRequest":{"zoomStop":0}}',
  });
  const job = await fetch(`${server.url}/api/v1/jobs/${classic.headers.get("x-job-id")}`);
  expect(await job.json()).toMatchObject({ gridSet: "EPSG:4326" });
});

test("more than ten million tiles need a confirmation, of the command line too", async () => {
  const large = { layer: "ws:rivers", zoomStop: 12, runWindow: null };
  const refused = await jobs(large);
  expect(refused).toMatchObject({ status: 409, json: { code: "confirmation_needed", tiles: 44_739_242 } });
  const { json } = await jobs({ ...large, confirm: true });
  expect((await cancelled(json.id)).json.tiles.total).toBe(44_739_242);
  const asked = await run(["seed", "ws:rivers", "--zoom", "0-12"]);
  expect([asked.code, asked.stderr]).toEqual([
    1,
    expect.stringContaining("this would be a job of 44739242 tiles: --yes makes it"),
  ]);
  const made = await run(["seed", "ws:rivers", "--zoom", "0-12", "--yes", "--json"]);
  await cancelled(JSON.parse(made.stdout).id);
});

test("an unknown layer is told with the one that may be meant", async () => {
  const detail = "Unknown layer: ws:road\nDid you mean ws:roads?";
  for (const body of [{ layer: "ws:road" }, { layers: ["ws:road"] }])
    expect(await post("api/v1/jobs", body)).toMatchObject({ status: 404, json: { code: "unknown_layer", detail } });
  expect((await post("api/v1/estimate", { layer: "ws:road" })).json.detail).toBe(detail);
  expect((await post("api/v1/truncations", { layer: "ws:road" })).json.detail).toBe(detail);
  const schedule = { name: "nightly", cron: "@daily", job: { layer: "ws:road", zoomStop: 1 } };
  expect(await post("api/v1/schedules", schedule)).toMatchObject({
    status: 400,
    json: { detail: 'job.layer: expected the name of a layer, got "ws:road"\nDid you mean ws:roads?' },
  });
  const listed = await fetch(`${server.url}/api/v1/jobs?layer=ws:road`);
  expect(await listed.json()).toMatchObject({ status: 404, detail });
  expect((await jobs({ layer: "nothing:like:it" })).json.detail).toBe("Unknown layer: nothing:like:it");
  const command = await run(["truncate", "ws:road"]);
  expect([command.code, command.stderr]).toEqual([1, expect.stringContaining(detail)]);
  const classic = await fetch(`${server.url}/rest/seed/ws:road.json`, { method: "POST", body: '{"seedRequest":{}}' });
  expect([classic.status, await classic.text()]).toEqual([400, "Unknown layer: ws:road"]);
});
