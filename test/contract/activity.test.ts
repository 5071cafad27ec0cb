import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server.ts";

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
});

test("without credentials it is 401, and a limit that is none is 400", async () => {
  expect((await send("/api/v1/activity")).status).toBe(401);
  const response = await send("/api/v1/activity?limit=0", { headers: VIEW });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("limit: expected")]);
});
