import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    configuration: `
users:
  - { name: root, password: "administrator", roles: [admin] }
  - { name: view, password: "viewer-1", roles: [viewer] }
layers:
  - { name: a, source: { type: demo, dataset: states } }
`,
  });
});
afterAll(() => server.close());

const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
const ROOT = basic("root:administrator");
const VIEW = basic("view:viewer-1");
const send = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);

interface Entry {
  readonly id: number;
  readonly time: string;
}
async function activity(query = "", headers: Record<string, string> = VIEW): Promise<readonly Entry[]> {
  const response = await send(`/api/v1/activity${query}`, { headers });
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly activity: readonly Entry[] }).activity;
}

test("changes, refused changes and log-ins are listed, newest first, for every role; reads are not", async () => {
  await send("/rest/seed/a.json", {
    method: "POST",
    headers: { ...ROOT, "X-Request-Id": "seed-1" },
    body: '{"seedRequest":{"gridSetId":"EPSG:4326","zoomStart":0,"zoomStop":0,"type":"seed"}}',
  });
  await send("/masstruncate?x=1", { method: "POST", headers: VIEW, body: "<x/>" });
  await send("/api/v1/jobs", { headers: basic("root:guess") });
  await send("/api/v1/jobs", { headers: ROOT });
  await send("/api/v1/session", { method: "POST", body: '{"name":"view","password":"viewer-1"}' });
  await send("/api/v1/session", { method: "POST", body: '{"name":"eve","password":"guess"}' });
  await expect.poll(async () => (await activity()).length).toBe(5);
  const entries = await activity();
  const address = "127.0.0.1";
  expect(entries).toMatchObject([
    { user: "eve", address, method: "POST", path: "/api/v1/session", status: 401, reason: expect.any(String) },
    { user: "view", method: "POST", path: "/api/v1/session", status: 200, reason: null },
    { user: "root", method: "GET", path: "/api/v1/jobs", status: 401 },
    { user: "view", path: "/masstruncate", status: 403, reason: expect.stringContaining("viewer"), jobId: null },
    { user: "root", path: "/rest/seed/a.json", status: 200, reason: null, jobId: 1, requestId: "seed-1" },
  ]);
  expect(JSON.stringify(entries)).not.toContain("guess");
  const [, second, third] = entries;
  expect(await activity(`?limit=1&after=${second?.id}`)).toEqual([third]);
  expect(await activity("?refused=false&user=root")).toEqual(entries.slice(4));
  expect(await activity("?q=MASSTRUNCATE")).toEqual([entries[3]]);
  expect(await activity("?method=GET&refused=true")).toEqual([third]);
  server = await server.restart();
  expect(await activity(), "after a kill").toEqual(entries);

  // An entry names the object of the change, with its old and new values and without secrets.
  const json = (method: string, path: string, body: unknown) =>
    send(path, { method, headers: { ...ROOT, "X-Request-Id": "detail" }, body: JSON.stringify(body) });
  const layer = (password: string) => ({
    source: {
      type: "wms",
      url: "http://127.0.0.1:1/wms?key=topsecret",
      layers: ["x"],
      username: "u",
      password,
    },
  });
  const done = [
    await json("POST", "/api/v1/jobs", { layer: "a", type: "seed", gridSet: "EPSG:4326", zoomStart: 0, zoomStop: 1 }),
    await json("PATCH", "/api/v1/quota", { enabled: true, globalQuota: { value: 80, units: "GiB" } }),
    await json("PATCH", "/api/v1/quota", { globalQuota: { value: 90, units: "MiB" } }),
    await json("POST", "/api/v1/truncations", { layer: "a" }),
    await json("PUT", "/api/v1/layers/b", layer("topsecret")),
    await json("PATCH", "/api/v1/layers/b", { title: "B", source: { password: "topsecret-2" } }),
    await json("PUT", "/api/v1/schedules/nightly", { cron: "@daily", job: { layer: "a", zoomStart: 0, zoomStop: 1 } }),
    await json("PATCH", "/api/v1/schedules/nightly", { cron: "30 2 * * *" }),
    await json("POST", "/api/v1/users", { name: "joe", password: "topsecret-3", roles: ["viewer"] }),
    await json("PATCH", "/api/v1/users/joe", { password: "topsecret-4", roles: ["operator"] }),
    await json("PATCH", "/api/v1/quota", { globalQuota: { value: -1 } }),
  ];
  expect(done.map(({ status }) => status)).toEqual([201, 200, 200, 201, 201, 200, 201, 200, 201, 200, 400]);
  const changes = (await (await send("/api/v1/activity?limit=11", { headers: VIEW })).json()) as {
    readonly activity: readonly { readonly detail: string | null }[];
  };
  const details = changes.activity.map(({ detail }) => detail).reverse();
  expect(details).toEqual([
    "seed of a, EPSG:4326, image/png, levels 0 to 1",
    expect.stringContaining("enabled: false → true"),
    "globalQuota.value: 80 → 90; globalQuota.units: GiB → MiB",
    expect.stringMatching(/^truncation \d+ of a: truncateLayer, hard$/),
    "layer b: made",
    "layer b: source.password: *** → ***; title: none → B",
    expect.stringContaining("schedule nightly: cron: none → @daily"),
    "schedule nightly: cron: @daily → 30 2 * * *",
    "user joe: made, roles viewer",
    'user joe: roles: ["viewer"] → ["operator"]; a new password',
    null,
  ]);
  expect(JSON.stringify(details)).not.toContain("topsecret");
  expect(await activity("?q=80%20%E2%86%92%2090")).toHaveLength(1);
});

test("without credentials it is 401, and a limit that is none is 400", async () => {
  expect((await send("/api/v1/activity")).status).toBe(401);
  const response = await send("/api/v1/activity?limit=0", { headers: VIEW });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("limit: expected")]);
});
