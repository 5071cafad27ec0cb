import { readFileSync } from "node:fs";
import sharp from "sharp";
import { expect, test, vi } from "vitest";
import { parse } from "yaml";
import { ownVersion } from "../../../src/lib/process/version.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, rendered, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { startOrigin } from "../../support/upstream/origin.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";

/** Samples by name and labels, as written in the text. */
async function metrics(server: TestServer): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${server.url}/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const samples = new Map<string, number>();
  for (const line of (await response.text()).split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const at = line.lastIndexOf(" ");
    samples.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return samples;
}

test("metrics count reads of users, work of jobs, answers of upstreams and stored tiles, and measure times", async () => {
  running.upstream = await startUpstream();
  let requested = 0;
  running.upstream.behaviour = async ({ width, height }, response) => {
    requested++;
    if (requested === 1) {
      // Sixteen tiles of one colour.
      const sea = sharp({ create: { width, height, channels: 3, background: "#345678" } });
      response.writeHead(200, { "Content-Type": "image/png" }).end(await sea.png().toBuffer());
      return "handled";
    }
    if (requested !== 3) return "render";
    response.writeHead(404).end();
    return "handled";
  };
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const server = running.server;
  for (let n = 0; n < 3; n++) await fetch(`${server.url}/xyz/${LAYER}/2/1/1.png`).then((r) => r.arrayBuffer());
  const id = await seed(server, LAYER, {
    gridSetId: "EPSG:900913",
    zoomStart: 0,
    zoomStop: 3,
    tileFailureRetryCount: 0,
  });
  const job = await ended(server, id);
  expect(job.outcome).toBe("done_with_failures");
  await rendered(server);
  const stored = (await usage(server)).total;
  const upstream = new URL(running.upstream.url).origin;
  const source = running.upstream.url;
  const samples = await metrics(server);
  const { layers, disk } = await usage(server);
  expect(samples.get('nuthatch_usage_allocated_bytes{layer="ws:roads"}')).toBe(layers[0]?.bytesOnDisk);
  // Other programs make files on the disk too.
  expect(samples.get("nuthatch_disk_free_inodes")).toBeGreaterThan(0.5 * (disk.freeInodes ?? 0));
  const reported = Object.fromEntries(
    [
      'nuthatch_tile_requests_total{layer="ws:roads",result="memory_hit"}',
      'nuthatch_tile_requests_total{layer="ws:roads",result="absent"}',
      'nuthatch_jobs{state="running"}',
      'nuthatch_jobs_ended_total{type="seed",outcome="done_with_failures"}',
      'nuthatch_job_tiles_total{type="seed",outcome="stored"}',
      'nuthatch_job_tiles_total{type="seed",outcome="skipped"}',
      'nuthatch_job_tiles_total{type="seed",outcome="failed"}',
      'nuthatch_job_tile_failures_total{class="http_status"}',
      "nuthatch_job_written_bytes_total",
      `nuthatch_upstream_errors_total{upstream="${upstream}",source="${source}",class="http_status"}`,
      `nuthatch_upstream_request_seconds_count{upstream="${upstream}",source="${source}"}`,
      `nuthatch_upstream_request_seconds_bucket{upstream="${upstream}",source="${source}",le="+Inf"}`,
      `nuthatch_upstream_queue{upstream="${upstream}",who="jobs"}`,
      `nuthatch_upstream_up{upstream="${upstream}"}`,
      `nuthatch_usage_tiles{layer="${LAYER}"}`,
      `nuthatch_usage_bytes{layer="${LAYER}"}`,
      "nuthatch_throttled_renders",
      "nuthatch_quota_enabled",
      `nuthatch_info{version="${ownVersion()}"}`,
      "nuthatch_ready",
      'nuthatch_tile_request_seconds_count{result="hit"}',
      'nuthatch_tile_request_seconds_count{result="miss"}',
      'nuthatch_tile_request_seconds_bucket{result="miss",le="+Inf"}',
      'nuthatch_tile_failures_total{layer="ws:roads"}',
    ].map((name) => [name, samples.get(name)]),
  );
  expect(reported).toEqual({
    'nuthatch_tile_requests_total{layer="ws:roads",result="memory_hit"}': 2,
    'nuthatch_tile_requests_total{layer="ws:roads",result="absent"}': 1,
    'nuthatch_jobs{state="running"}': 0,
    'nuthatch_jobs_ended_total{type="seed",outcome="done_with_failures"}': 1,
    'nuthatch_job_tiles_total{type="seed",outcome="stored"}': job.tiles.stored,
    'nuthatch_job_tiles_total{type="seed",outcome="skipped"}': job.tiles.skipped,
    'nuthatch_job_tiles_total{type="seed",outcome="failed"}': job.tiles.failed,
    'nuthatch_job_tile_failures_total{class="http_status"}': job.tiles.failed,
    nuthatch_job_written_bytes_total: job.bytes,
    [`nuthatch_upstream_errors_total{upstream="${upstream}",source="${source}",class="http_status"}`]: 1,
    [`nuthatch_upstream_request_seconds_count{upstream="${upstream}",source="${source}"}`]: requested,
    [`nuthatch_upstream_request_seconds_bucket{upstream="${upstream}",source="${source}",le="+Inf"}`]: requested,
    [`nuthatch_upstream_queue{upstream="${upstream}",who="jobs"}`]: 0,
    [`nuthatch_upstream_up{upstream="${upstream}"}`]: 1,
    [`nuthatch_usage_tiles{layer="${LAYER}"}`]: stored.tiles,
    [`nuthatch_usage_bytes{layer="${LAYER}"}`]: stored.bytes,
    nuthatch_throttled_renders: 0,
    nuthatch_quota_enabled: 0,
    [`nuthatch_info{version="${ownVersion()}"}`]: 1,
    nuthatch_ready: 1,
    'nuthatch_tile_request_seconds_count{result="hit"}': 2,
    'nuthatch_tile_request_seconds_count{result="miss"}': 1,
    'nuthatch_tile_request_seconds_bucket{result="miss",le="+Inf"}': 1,
    'nuthatch_tile_failures_total{layer="ws:roads"}': 0,
  });
  // The work of a job before a restart of the server is not counted again.
  running.server = await server.restart("SIGKILL");
  const again = await metrics(running.server);
  expect(again.get('nuthatch_job_tiles_total{type="seed",outcome="stored"}')).toBe(0);
  expect(again.get("nuthatch_process_resident_memory_bytes")).toBeGreaterThan(0);
});

test("of several servers metrics tell which is down, and the log when it goes and comes back", async () => {
  const upstream = await startUpstream();
  running.upstream = upstream;
  let isDown = true;
  const first = await startOrigin((request, response) => {
    if (isDown) response.writeHead(500).end();
    // Elsewhere, which is another server's picture all the same.
    else response.writeHead(302, { Location: new URL(request.url ?? "/", upstream.url).href }).end();
  });
  try {
    const [a, b] = [first.origin, new URL(upstream.url).origin];
    const source = `{ type: wms, url: ["${a}/wms", "${upstream.url}"], layers: [roads] }`;
    const server = await startServer({ configuration: `layers: [{ name: roads, source: ${source} }]` });
    running.server = server;
    const tile = async (x: number) => (await fetch(`${server.url}/xyz/roads/9/${x}/100.png`)).status;
    const states = async () => {
      const samples = await metrics(server);
      return [a, b].map((one) => samples.get(`nuthatch_upstream_server_up{upstream="${a}",server="${one}"}`));
    };
    expect(await states()).toEqual([1, 1]);
    expect([await tile(100), await states()]).toEqual([200, [0, 1]]);
    expect(server.log()).toContain("a server of an upstream is down");
    isDown = false;
    let next = 100;
    await vi.waitFor(
      async () => {
        next += 8;
        await tile(next);
        expect(await states()).toEqual([1, 1]);
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(server.log()).toContain("a server of an upstream is back");
  } finally {
    await first.close();
  }
});

test("two services on one host are counted apart, and a host without an address is not one that refuses", async () => {
  const upstream = await startUpstream();
  running.upstream = upstream;
  const { origin } = new URL(upstream.url);
  const layer = (name: string, url: string) =>
    `  - { name: ${name}, source: { type: wms, url: "${url}", layers: [roads] } }\n`;
  const server = await startServer({
    configuration: `layers:\n${layer("a", `${origin}/wms`)}${layer("b", `${origin}/secret-key-0123456789abcdef/wms?key=abc`)}${layer("c", "http://no-such-host.invalid/wms")}`,
  });
  running.server = server;
  for (const name of ["a", "b", "c"]) await fetch(`${server.url}/xyz/${name}/2/1/1.png`).then((r) => r.arrayBuffer());
  await rendered(server);
  const samples = await metrics(server);
  const count = (source: string) =>
    samples.get(`nuthatch_upstream_request_seconds_count{upstream="${origin}",source="${source}"}`);
  expect([count(`${origin}/wms`), count(`${origin}/…/wms`)]).toEqual([1, 1]);
  const errors =
    'nuthatch_upstream_errors_total{upstream="http://no-such-host.invalid",source="http://no-such-host.invalid/wms",class="unknown_host"}';
  expect(samples.get(errors)).toBe(1);
  expect(samples.get('nuthatch_tile_failures_total{layer="c"}')).toBe(1);
});

test("the example of alert rules names metrics that the server has or documents", () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const documented = read("docs/reference/monitoring.md");
  const named = new Set(
    [...read("examples/prometheus-alerts.yaml").matchAll(/nuthatch_(\w+)/g)].map(([, name = ""]) => name),
  );
  expect(named.size).toBeGreaterThan(10);
  for (const name of named) expect(documented, name).toContain(`\`${name.replace(/_bucket$/, "")}\``);
  expect(parse(read("examples/prometheus-alerts.yaml")).groups[0].rules.length).toBeGreaterThan(10);
});

test("a schedule tells when a run of it last succeeded", async () => {
  const server = await startServer();
  running.server = server;
  const put = await fetch(`${server.url}/api/v1/schedules/nightly`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ cron: "0 2 * * *", job: { layer: "topp:states", type: "seed", zoomStart: 0, zoomStop: 1 } }),
  });
  expect(put.status).toBe(201);
  const name = 'nuthatch_schedule_last_success_timestamp_seconds{schedule="nightly"}';
  expect((await metrics(server)).get(name)).toBeUndefined();
  const run = await fetch(`${server.url}/api/v1/schedules/nightly/run`, { method: "POST" });
  const { endedAt } = await ended(server, Number(JSON.parse(await run.text()).id)).then(async ({ id }) =>
    JSON.parse(await (await fetch(`${server.url}/api/v1/jobs/${id}`)).text()),
  );
  expect((await metrics(server)).get(name)).toBe(Date.parse(endedAt) / 1000);
});
