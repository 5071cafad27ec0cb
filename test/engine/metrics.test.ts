import sharp from "sharp";
import { expect, test, vi } from "vitest";
import { startOrigin } from "../support/origin.ts";
import { closedAfterEach } from "../support/running.ts";
import { ended, rendered, seed, startServer, type TestServer, usage } from "../support/server.ts";
import { startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";

/** Samples by name and labels, as they stand in the text. */
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
  const samples = await metrics(server);
  const reported = Object.fromEntries(
    [
      'nuthatch_tile_requests_total{result="memory_hit"}',
      'nuthatch_tile_requests_total{result="absent"}',
      'nuthatch_jobs{state="running"}',
      'nuthatch_jobs_ended_total{type="seed",outcome="done_with_failures"}',
      'nuthatch_job_tiles_total{type="seed",outcome="stored"}',
      'nuthatch_job_tiles_total{type="seed",outcome="skipped"}',
      'nuthatch_job_tiles_total{type="seed",outcome="failed"}',
      'nuthatch_job_tile_failures_total{class="http_status"}',
      "nuthatch_job_written_bytes_total",
      `nuthatch_upstream_errors_total{upstream="${upstream}",class="http_status"}`,
      `nuthatch_upstream_request_seconds_count{upstream="${upstream}"}`,
      `nuthatch_upstream_request_seconds_bucket{upstream="${upstream}",le="+Inf"}`,
      `nuthatch_upstream_queue{upstream="${upstream}",who="jobs"}`,
      `nuthatch_upstream_up{upstream="${upstream}"}`,
      `nuthatch_usage_tiles{layer="${LAYER}"}`,
      `nuthatch_usage_bytes{layer="${LAYER}"}`,
      "nuthatch_throttled_renders",
      "nuthatch_quota_enabled",
    ].map((name) => [name, samples.get(name)]),
  );
  expect(reported).toEqual({
    'nuthatch_tile_requests_total{result="memory_hit"}': 2,
    'nuthatch_tile_requests_total{result="absent"}': 1,
    'nuthatch_jobs{state="running"}': 0,
    'nuthatch_jobs_ended_total{type="seed",outcome="done_with_failures"}': 1,
    'nuthatch_job_tiles_total{type="seed",outcome="stored"}': job.tiles.stored,
    'nuthatch_job_tiles_total{type="seed",outcome="skipped"}': job.tiles.skipped,
    'nuthatch_job_tiles_total{type="seed",outcome="failed"}': job.tiles.failed,
    'nuthatch_job_tile_failures_total{class="http_status"}': job.tiles.failed,
    nuthatch_job_written_bytes_total: job.bytes,
    [`nuthatch_upstream_errors_total{upstream="${upstream}",class="http_status"}`]: 1,
    [`nuthatch_upstream_request_seconds_count{upstream="${upstream}"}`]: requested,
    [`nuthatch_upstream_request_seconds_bucket{upstream="${upstream}",le="+Inf"}`]: requested,
    [`nuthatch_upstream_queue{upstream="${upstream}",who="jobs"}`]: 0,
    [`nuthatch_upstream_up{upstream="${upstream}"}`]: 1,
    [`nuthatch_usage_tiles{layer="${LAYER}"}`]: stored.tiles,
    [`nuthatch_usage_bytes{layer="${LAYER}"}`]: stored.bytes,
    nuthatch_throttled_renders: 0,
    nuthatch_quota_enabled: 0,
  });
  // What a job did in another life of the server is not counted again.
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
      { timeout: 20_000, interval: 200 },
    );
    expect(server.log()).toContain("a server of an upstream is back");
  } finally {
    await first.close();
  }
});
