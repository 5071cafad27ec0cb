import { expect, test } from "vitest";
import { runProgram } from "../../support/server/run-program.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

interface UpstreamJson {
  readonly id: string;
  readonly origin: string;
  readonly layers: readonly string[];
  readonly state: string;
  readonly since: string;
  readonly lastError: { readonly at: string; readonly class: string; readonly message: string } | null;
  readonly connections: { readonly inUse: number; readonly allowed: number };
  readonly waiting: { readonly users: number; readonly jobs: number };
  readonly latency: { readonly requests: number; readonly p50Ms: number; readonly p95Ms: number } | null;
  readonly pausedUntil: string | null;
}

async function upstreams(server: TestServer): Promise<readonly UpstreamJson[]> {
  const answer: { readonly upstreams: readonly UpstreamJson[] } = JSON.parse(
    await (await fetch(`${server.url}/api/v1/upstreams`)).text(),
  );
  return answer.upstreams;
}

async function probe(server: TestServer, id: string) {
  const response = await fetch(`${server.url}/api/v1/upstreams/${id}/probe`, { method: "POST" });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const attention = async (server: TestServer): Promise<readonly { readonly kind: string; readonly message: string }[]> =>
  JSON.parse(await (await fetch(`${server.url}/api/v1/status`)).text()).attention;

const statusOf = async (url: string): Promise<number> => {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
};

test("an upstream is unknown, up and down, a probe asks it, and the status tells who has to look", async () => {
  const upstream = await startUpstream();
  running.upstream = upstream;
  const { host } = new URL(upstream.url);
  const source = (path: string) =>
    `{ type: wms, url: "http://${host}/${path}?key=sesame-sesame", username: u, password: opensesame, layers: [roads] }`;
  const server = await startServer({
    configuration: `jobs: { outageLimitSeconds: 3600 }\nlayers:\n  - { name: a, source: ${source("wms")} }\n  - { name: b, source: ${source("wms")} }\n  - { name: demo, source: { type: demo, dataset: states } }\n`,
  });
  running.server = server;
  const [first, second] = await upstreams(server);
  expect(first).toMatchObject({
    origin: `http://${host}`,
    layers: ["a", "b"],
    state: "unknown",
    lastError: null,
    connections: { inUse: 0, allowed: 8, configured: 8 },
    waiting: { users: 0, jobs: 0 },
    latency: null,
    pausedUntil: null,
  });
  expect(second).toMatchObject({ origin: "demo", layers: ["demo"] });
  const id = first?.id ?? "";
  expect(id).toMatch(/^[\w-]+$/);
  expect(await attention(server)).toEqual([]);

  const before = await (await fetch(`${server.url}/api/v1/usage`)).text();
  expect(await probe(server, id)).toMatchObject({
    status: 200,
    body: { ok: true, layer: "a", error: null, upstream: { id, state: "up", latency: { requests: 1 } } },
  });
  expect(JSON.parse(await (await fetch(`${server.url}/api/v1/usage`)).text()).total).toEqual(JSON.parse(before).total);
  expect(await probe(server, "nothing")).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(await statusOf(`${server.url}/api/v1/upstreams/${id}`)).toBe(200);
  expect(await statusOf(`${server.url}/api/v1/upstreams/nothing`)).toBe(404);
  const env = { NUTHATCH_URL: server.url };
  expect(await runProgram(["upstreams"], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining("up") });

  upstream.behaviour = (_, response) => {
    response.writeHead(500).end("out of order, key sesame-sesame");
    return "handled";
  };
  let x = 0;
  const down = await until("the upstream is down", async () => {
    x += 8;
    await statusOf(`${server.url}/xyz/a/9/${x}/100.png`);
    return (await upstreams(server)).find(({ state }) => state === "down");
  });
  expect(down.lastError).toMatchObject({ class: "server_error", message: expect.stringContaining("status 500") });
  expect(Date.parse(down.since)).toBeLessThanOrEqual(Date.parse(down.lastError?.at ?? ""));
  expect(JSON.stringify(down)).not.toContain("sesame");
  expect(await probe(server, id)).toMatchObject({
    status: 200,
    body: { ok: false, error: { class: "server_error" }, upstream: { state: "down" } },
  });
  const waiting = await seed(server, "a", { gridSetId: "EPSG:900913", zoomStart: 3, zoomStop: 3 });
  const kinds = await until("the job waits", async () => {
    const found = await attention(server);
    return found.some(({ kind }) => kind === "job_waits") ? found : undefined;
  });
  expect(kinds).toMatchObject([
    { kind: "upstream_down", upstream: id, message: expect.stringContaining(`http://${host}`) },
    { kind: "job_waits", job: waiting },
  ]);
  const status = await runProgram(["status"], { env });
  expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining("needs attention:") });
  expect(status.stdout).toContain(`The upstream http://${host} of 2 layers is down`);
  expect(await runProgram(["upstreams"], { env })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("status 500"),
  });
  const probed = await runProgram(["upstreams", "--probe"], { env });
  expect(probed).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/does not render: status 500.*\n.*demo: answers/),
  });

  upstream.behaviour = () => "render";
  expect(await probe(server, id)).toMatchObject({ body: { ok: true, upstream: { state: "up" } } });
  expect((await ended(server, waiting)).outcome).toBe("done");
  const [back] = await upstreams(server);
  expect(back).toMatchObject({ state: "up", lastError: { class: "server_error" } });
  expect(Date.parse(back?.since ?? "")).toBeGreaterThan(Date.parse(down.since));
  // All requests of users have failed so far.
  expect((await attention(server)).map(({ kind }) => kind)).toEqual(["layer_fails"]);
  await (await fetch(`${server.url}/xyz/a/3/0/0.png`)).arrayBuffer();
  expect(await attention(server)).toEqual([]);
});

test("a failed job and a failed schedule need attention until they are retried", async () => {
  const upstream = await startUpstream();
  running.upstream = upstream;
  upstream.behaviour = (_, response) => {
    response.writeHead(404).end();
    return "handled";
  };
  const server = await startServer({
    configuration: `layers: [{ name: a, source: { type: wms, url: "${upstream.url}", layers: [roads] } }]\n`,
  });
  running.server = server;
  const put = await fetch(`${server.url}/api/v1/schedules/nightly`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: '{ "cron": "0 2 * * *", "job": { "layer": "a", "type": "seed", "zoomStart": 0, "zoomStop": 0 } }',
  });
  expect(put.status).toBe(201);
  const run = await fetch(`${server.url}/api/v1/schedules/nightly/run`, { method: "POST" });
  const { id } = await ended(server, Number(JSON.parse(await run.text()).id));
  expect(await attention(server)).toMatchObject([
    { kind: "job_failed", job: id, message: expect.stringContaining(`Job ${id} (seed of a) ended as`) },
    { kind: "schedule_failed", schedule: "nightly" },
  ]);
  const retry = await fetch(`${server.url}/api/v1/jobs/${id}/retry`, { method: "POST" });
  const again = await ended(server, Number(JSON.parse(await retry.text()).id));
  expect(await attention(server)).toMatchObject([{ kind: "job_failed", job: again.id }, { kind: "schedule_failed" }]);
});
