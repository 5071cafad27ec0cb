import { afterEach, expect, test } from "vitest";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

let server: TestServer | undefined;
let upstream: Upstream | undefined;
afterEach(async () => {
  await server?.close();
  await upstream?.close();
});

type Line = Readonly<Record<string, unknown>>;

/** Returns the lines of the log with a sentence. */
const linesOf = (at: TestServer, sentence: string): readonly Line[] =>
  at
    .log()
    .split("\n")
    .flatMap((line): Line[] => (line.startsWith("{") ? [JSON.parse(line)] : []))
    .filter(({ msg }) => msg === sentence);

const lines = (at: TestServer, sentence: string, count = 1): Promise<readonly Line[]> =>
  until(
    `the log has ${count} of "${sentence}"`,
    async () => {
      const found = linesOf(at, sentence);
      return found.length >= count ? found : undefined;
    },
    30_000,
    at,
  );

const users = `
users:
  - { name: admin, password: "administrator", roles: [admin] }
  - { name: view, password: "viewer-1", roles: [viewer] }`;
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });

test("the life of a job can be read: made, begun, paused, resumed, taken up after a restart, ended", async () => {
  upstream = await startUpstream();
  let hold = true;
  upstream.behaviour = () => until("the map is rendered", async () => (hold ? undefined : ("render" as const)));
  server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "a" }]) });
  const id = await seed(server, "a", { gridSetId: "EPSG:900913", zoomStart: 1, zoomStop: 1 });
  expect(await lines(server, "a job was made")).toMatchObject([
    { jobId: id, layer: "a", type: "seed", gridSet: "EPSG:900913", tiles: 4, user: null },
  ]);
  expect(await lines(server, "a job has begun")).toMatchObject([{ jobId: id, layer: "a" }]);
  await fetch(`${server.url}/api/v1/jobs/${id}/pause`, { method: "POST" });
  expect(await lines(server, "a job is paused")).toMatchObject([{ jobId: id, reason: expect.any(String) }]);
  await fetch(`${server.url}/api/v1/jobs/${id}/resume`, { method: "POST" });
  expect(await lines(server, "a job is resumed")).toMatchObject([{ jobId: id }]);
  server = await server.restart();
  expect(await lines(server, "a job continues after the restart")).toMatchObject([{ jobId: id, tiles: 4, left: 4 }]);
  hold = false;
  await ended(server, id);
  expect(await lines(server, "a job has ended")).toMatchObject([
    { jobId: id, layer: "a", outcome: "done", reason: null, stored: 4, failed: 0 },
  ]);
  expect(linesOf(server, "a job was made"), "of a job of the last process").toEqual([]);
});

test("an upstream that goes down and comes back, the failed tiles and the job that waits are lines", async () => {
  upstream = await startUpstream();
  const { url } = upstream;
  server = await startServer({ configuration: smallTiles(url, [{ name: "a", extra: "metatile: [1, 1]" }]) });
  const at = server;
  await upstream.down();
  await until("the upstream is down", async () => {
    await fetch(`${at.url}/xyz/a/3/1/1.png`);
    return linesOf(at, "an upstream is down").length > 0 ? true : undefined;
  });
  const origin = new URL(url).origin;
  expect(linesOf(at, "an upstream is down")).toMatchObject([{ upstream: origin, class: "refused" }]);
  expect((await lines(at, "tiles could not be rendered for users"))[0]).toMatchObject({
    layer: "a",
    class: "refused",
    count: 1,
  });
  expect(linesOf(at, "tiles could not be rendered for users"), "one line a minute").toHaveLength(1);
  const id = await seed(at, "a", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 0 });
  expect(await lines(at, "a job waits")).toMatchObject([
    { jobId: id, reason: expect.stringContaining("waiting for the upstream") },
  ]);
  await upstream.up();
  expect(await lines(at, "an upstream is back")).toMatchObject([{ upstream: origin }]);
  await ended(at, id);
  await lines(at, "a job has ended");
  expect(linesOf(at, "a job continues after a wait")).toHaveLength(1);
  await upstream.down();
  await seed(at, "a", { gridSetId: "EPSG:900913", zoomStart: 1, zoomStop: 1 });
  await lines(at, "a job waits", 2);
  await at.kill("SIGTERM");
  expect(linesOf(at, "a job continues after a wait"), "not of a job whose wait the shutdown ends").toHaveLength(1);
});

test("failed tiles of a job are lines by layer and class", async () => {
  upstream = await startUpstream();
  upstream.behaviour = (_, response) => {
    response.writeHead(404).end("no such map");
    return "handled";
  };
  server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "a" }]) });
  const made = await fetch(`${server.url}/api/v1/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"layer":"a","type":"seed","zoomStart":1,"zoomStop":1}',
  });
  const { id } = (await made.json()) as { readonly id: number };
  await ended(server, id);
  expect(await lines(server, "a request for a change was answered")).toMatchObject([
    { path: "/api/v1/jobs", jobId: id },
  ]);
  const [line] = await lines(server, "tiles of jobs have failed");
  expect(line).toMatchObject({ layer: "a", class: expect.any(String), count: 4 });
  expect(await lines(server, "a job has ended")).toMatchObject([{ jobId: id, outcome: "failed", failed: 4 }]);
});

test("refused log-ins and refused changes are lines with the account and the address, and never a password", async () => {
  upstream = await startUpstream();
  server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "a" }], users) });
  const { url } = server;
  for (let n = 0; n < 5; n++) await fetch(`${url}/api/v1/jobs`, { headers: basic(`admin:guess-${n}`) });
  expect(await lines(server, "a log-in was refused", 5)).toMatchObject(
    Array.from({ length: 5 }, () => ({ user: "admin", address: "127.0.0.1", method: "GET", path: "/api/v1/jobs" })),
  );
  await fetch(`${url}/api/v1/session`, { method: "POST", body: '{"name":"e\\nve","password":"guess-5"}' });
  expect((await lines(server, "a log-in was refused", 6))[5]).toMatchObject({ user: "e\nve", path: "/api/v1/session" });
  const body = "<truncateLayer><layerName>a</layerName></truncateLayer>";
  await fetch(`${url}/masstruncate`, { method: "POST", body, headers: basic("view:viewer-1") });
  await fetch(`${url}/masstruncate`, { method: "POST", body });
  await fetch(`${url}/masstruncate`, { method: "POST", body, headers: { Origin: "http://evil.example" } });
  await fetch(`${url}/masstruncate`, { method: "POST", body: "<x/>", headers: basic("admin:administrator") });
  expect(await lines(server, "a change was refused", 4)).toMatchObject([
    { user: "view", status: 403, path: "/masstruncate", reason: expect.stringContaining("viewer") },
    { user: null, status: 401 },
    { user: null, status: 401 },
    { user: "admin", status: 400, reason: expect.any(String) },
  ]);
  await fetch(`${url}/masstruncate`, { method: "POST", body, headers: basic("admin:administrator") });
  expect(await lines(server, "a request for a change was answered")).toMatchObject([
    { user: "admin", address: "127.0.0.1", method: "POST", path: "/masstruncate", status: 200 },
  ]);
  expect(server.log()).not.toMatch(/guess-|administrator"|viewer-1/);
});

test("the lines of truncations name their scope, and those of the quota its old and new values", async () => {
  upstream = await startUpstream();
  const filter = 'parameterFilters: [{ type: string, key: STYLES, default: "", values: [night] }]';
  server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "a", extra: filter }], users) });
  const at = server;
  const headers = basic("admin:administrator");
  const send = async (method: string, path: string, body: string) => {
    const response = await fetch(at.url + path, { method, body, headers });
    expect([path, response.status, await response.text()]).toMatchObject([path, 200, expect.anything()]);
  };
  expect((await fetch(`${at.url}/xyz/a/1/0/0.png`)).status).toBe(200);
  await send("POST", "/masstruncate", "<truncateLayer><layerName>a</layerName></truncateLayer>");
  const entry = "<entry><string>STYLES</string><string>night</string></entry>";
  const parameters = `<parameters>${entry}</parameters>`;
  await send("POST", "/masstruncate", `<truncateParameters><layerName>a</layerName>${parameters}</truncateParameters>`);
  const [whole, ofParameters] = await lines(at, "a layer was truncated", 2);
  expect(whole).toMatchObject({ layer: "a", type: "truncateLayer", mode: "hard", user: "admin" });
  expect(whole).toMatchObject({ truncationId: expect.any(Number), undoUntil: expect.stringMatching(/^2\d{3}-/) });
  expect(ofParameters).toMatchObject({ type: "truncateParameters", parameters: { STYLES: "night" }, tiles: 0 });
  await send("POST", `/api/v1/truncations/${whole?.["truncationId"]}/undo`, "");
  expect(await lines(at, "a truncation was undone")).toMatchObject([
    { truncationId: whole?.["truncationId"], layer: "a", mode: "hard", user: "admin" },
  ]);
  const bounds =
    "<bounds><coords><double>0</double><double>0</double><double>9</double><double>9</double></coords></bounds>";
  await send(
    "POST",
    "/masstruncate",
    `<truncateExtent><layerName>a</layerName><gridSetId>EPSG:900913</gridSetId>${bounds}</truncateExtent>`,
  );
  expect(await lines(at, "a job was made")).toMatchObject([
    { layer: "a", type: "truncate", gridSet: "EPSG:900913", parameters: null, bounds: [0, 0, 9, 9] },
  ]);

  const quota = { enabled: true, globalQuota: { value: 5, units: "GiB" } };
  await send("PATCH", "/api/v1/quota", JSON.stringify(quota));
  await send("PATCH", "/api/v1/quota", JSON.stringify(quota));
  const ofLayer = { layer: "a", expirationPolicyName: "LRU", quota: { value: 1, units: "MiB" } };
  await send("PUT", "/rest/diskquota.json", JSON.stringify({ gwcQuotaConfiguration: { layerQuotas: [ofLayer] } }));
  await send("PATCH", "/api/v1/quota", '{"layerQuotas":[]}');
  const said = await lines(at, "the quota was changed", 3);
  expect(said.map(({ user, before, after }) => ({ user, before, after }))).toEqual([
    {
      user: "admin",
      before: { enabled: false, globalQuota: "500 MiB" },
      after: { enabled: true, globalQuota: "5 GiB" },
    },
    { user: "admin", before: { "layerQuotas.a": null }, after: { "layerQuotas.a": "1 MiB LRU" } },
    { user: "admin", before: { "layerQuotas.a": "1 MiB LRU" }, after: { "layerQuotas.a": null } },
  ]);
});

test("a wrong password on the tile of a secured layer is a line, and requests of no right fill no disk", async () => {
  upstream = await startUpstream();
  const layers = [{ name: "a", extra: "secured: true" }];
  server = await startServer({ configuration: smallTiles(upstream.url, layers, users) });
  const { url } = server;
  await fetch(`${url}/xyz/a/1/0/0.png`, { headers: basic("admin:guess-1") });
  expect(await lines(server, "a log-in was refused")).toMatchObject([
    { user: "admin", address: "127.0.0.1", path: "/xyz/a/1/0/0.png", status: 401 },
  ]);
  for (let n = 0; n < 40; n++) {
    await fetch(`${url}/assets/icon.svg`, { method: "POST" });
    await fetch(`${url}/masstruncate`, { method: "POST", body: "x" });
  }
  expect(await lines(server, "more requests were refused")).toMatchObject([{ address: "127.0.0.1", count: 1 }]);
  expect(linesOf(server, "a change was refused").length).toBeLessThanOrEqual(20);
  expect(linesOf(server, "a request for a change was answered")).toEqual([]);
  await server.kill("SIGTERM");
  expect(linesOf(server, "more requests were refused"), "the rest is counted at the end").toHaveLength(2);
});

test("NUTHATCH_LOG_FORMAT, before LOG_FORMAT, chooses text; a request cannot make a second line", async () => {
  server = await startServer({ configuration: users, env: { NUTHATCH_LOG_FORMAT: "text", LOG_FORMAT: "json" } });
  const name = 'x\n2026-01-01T00:00:00.000Z info  listening user="';
  const refused = await fetch(`${server.url}/rest/reload`, { method: "POST", headers: basic(`${name}:wrong`) });
  expect(refused.status).toBe(401);
  const at = server;
  await until("the log has the refusal", async () => at.log().includes("a log-in was refused") || undefined);
  const lines = at.log().split("\n");
  const time = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  expect(lines.filter((line) => /^\S+ info {2}listening /.test(line))).toHaveLength(1);
  const line = lines.find((text) => text.includes("a log-in was refused"));
  expect(line).toMatch(
    new RegExp(`${time} warn  a log-in was refused requestId=\\S+ user=${'(?:null|"x)'}.* status=401`),
  );
});

test("LOG_FORMAT alone counts, and nothing below the level is logged", async () => {
  server = await startServer({ env: { LOG_FORMAT: "text", NUTHATCH_LOG_LEVEL: "warn" } });
  const refused = await fetch(`${server.url}/rest/masstruncate`, { method: "POST", body: "no" });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  const at = server;
  await until(
    "the log has the refusal",
    async () => /^\S+Z warn {2}a change was refused /m.test(at.log()) || undefined,
  );
  expect(at.log()).not.toContain("listening address");
});

test("in a pipe a line is JSON with an ISO time and the word of its level", async () => {
  server = await startServer();
  expect(await lines(server, "listening")).toEqual([
    expect.objectContaining({ level: "info", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/) }),
  ]);
});
