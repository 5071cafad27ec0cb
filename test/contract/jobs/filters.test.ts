import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

let server: TestServer;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  upstream.behaviour = (_, response) => {
    response.writeHead(404).end();
    return "handled";
  };
  const states = "source: { type: demo, dataset: states }";
  server = await startServer({
    configuration: `
users:
  - { name: root, password: "administrator", roles: [admin] }
  - { name: Anna, password: "operator-1", roles: [operator] }
layers:
  - { name: "ws:States", ${states} }
  - { name: b, ${states} }
  - { name: broken, source: { type: wms, url: "${upstream.url}", layers: [roads] } }
`,
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
const ROOT = basic("root:administrator");
const send = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${server.url}/api/v1/jobs${path}`, { headers: ROOT, ...init });
  return { status: response.status, body: JSON.parse((await response.text()) || "null") };
};

async function make(layer: string, { by = ROOT, ...more }: { by?: Record<string, string>; end?: boolean } = {}) {
  const body = JSON.stringify({ layer, gridSet: "EPSG:4326", zoomStop: more.end === false ? 9 : 1 });
  const { body: made } = await send("", { method: "POST", headers: by, body });
  if (more.end !== false) await send(`/${made.id}?wait=60`);
  return made as { id: number; createdAt: string };
}

test("jobs are filtered by outcome, pause, account, time and text, and counted over the other filters", async () => {
  const first = await make("ws:States");
  const second = await make("broken", { by: basic("Anna:operator-1") });
  const third = await make("b", { end: false });
  await send(`/${third.id}/pause`, { method: "POST" });
  const fourth = await make("b", { end: false });
  await send(`/${fourth.id}/cancel`, { method: "POST" });
  const ids = async (query: string) =>
    (await send(`?${query}`)).body.jobs.map(({ id }: { id: number }) => id) as readonly number[];
  expect(await ids("outcome=done")).toEqual([first.id]);
  expect(await ids("outcome=failed")).toEqual([second.id]);
  expect(await ids("outcome=aborted")).toEqual([fourth.id]);
  expect(await ids("paused=true")).toEqual([third.id]);
  expect(await ids("paused=false&layer=b")).toEqual([fourth.id]);
  expect(await ids("createdBy=Anna")).toEqual([second.id]);
  expect(await ids("createdBy=anna")).toEqual([]);
  expect(await ids("q=anNA")).toEqual([second.id]);
  expect(await ids("q=ws%3Astates")).toEqual([first.id]);
  expect(await ids(`q=${third.id}`)).toEqual([third.id]);
  expect(await ids(`since=${third.createdAt}`)).toEqual([fourth.id, third.id]);
  expect(await ids(`until=${third.createdAt}`)).toEqual([second.id, first.id]);
  expect(await ids("since=PT1H&until=P1D")).toEqual([]);
  expect(await ids("since=P1M&paused=false&limit=2")).toEqual([fourth.id, second.id]);
  expect(await ids(`limit=2&after=${fourth.id}&until=2999-01-01T00:00:00Z`)).toEqual([third.id, second.id]);
  const none = { running: 0, pending: 0, paused: 0, done: 0, done_with_failures: 0, failed: 0, aborted: 0 };
  const counts = async (query: string) => (await send(`?counts=true&limit=1&${query}`)).body.counts;
  expect(await counts("")).toEqual({ ...none, paused: 1, done: 1, failed: 1, aborted: 1 });
  expect(await counts("layer=b&outcome=done&state=running&paused=true")).toEqual({ ...none, paused: 1, aborted: 1 });
  expect(await counts("q=no+such")).toEqual(none);
  expect(Object.keys((await send("")).body)).toEqual(["jobs"]);
});

test.each([
  ["outcome=odd", "outcome: expected one of done, done_with_failures, failed, aborted, got"],
  ["paused=maybe", 'paused: expected true or false, got "maybe"'],
  ["counts=1", 'counts: expected true or false, got "1"'],
  ["since=yesterday", "since: expected a time such as 2026-11-01T00:00:00Z or an age such as P7D or PT12H, got"],
  ["until=2026-02-30T00:00:00Z", "until: expected a time such as"],
])("%s is a problem that names the field", async (query, detail) => {
  const { status, body } = await send(`?${query}`);
  expect([status, body.code]).toEqual([400, "bad_field"]);
  expect(body.detail).toContain(detail);
});
