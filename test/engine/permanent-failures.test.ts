import { expect, test } from "vitest";
import { clientOf } from "../support/run-program.ts";
import { closedAfterEach } from "../support/running.ts";
import { ended, seed, startServer, type TestServer } from "../support/server.ts";
import { type Behaviour, startUpstream, type Upstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
/** 341 tiles in 25 metatiles of 4 x 4. */
const RANGE = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4 };
const METATILES = 1 + 1 + 1 + 4 + 16;

const exception =
  (code: string, status = 200): Behaviour =>
  (_, response) => {
    response
      .writeHead(status, { "Content-Type": "application/vnd.ogc.se_xml" })
      .end(
        `<ServiceExceptionReport><ServiceException code="${code}">msWMSLoadGetMapParams()</ServiceException></ServiceExceptionReport>`,
      );
    return "handled";
  };
const status =
  (code: number): Behaviour =>
  (_, response) => {
    response.writeHead(code, { "Content-Type": "text/plain" }).end("no");
    return "handled";
  };

async function start(behaviour: Behaviour): Promise<{ server: TestServer; upstream: Upstream }> {
  const upstream = await startUpstream();
  running.upstream = upstream;
  upstream.behaviour = behaviour;
  const server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: LAYER, extra: "metatile: [4, 4]" }]),
  });
  running.server = server;
  return { server, upstream };
}

test.each([
  ["LayerNotDefined", exception("LayerNotDefined"), "exception"],
  ["StyleNotDefined of a server that sends it as its own fault", exception("StyleNotDefined", 500), "exception"],
  ["InvalidSRS of a server that sends it as a wrong request", exception("InvalidSRS", 400), "exception"],
  ["401", status(401), "http_status"],
  ["403", status(403), "http_status"],
  ["404", status(404), "http_status"],
] as const)(
  "%s is asked once for each metatile, and the job of which every tile failed has failed",
  async (_, behaviour, name) => {
    const { server, upstream } = await start(behaviour);
    const job = await ended(server, await seed(server, LAYER, { ...RANGE, threadCount: 2 }));
    expect(job).toMatchObject({
      state: "done",
      outcome: "failed",
      reason: expect.stringMatching(/^every tile failed: /),
      tiles: { total: 341, stored: 0, skipped: 0, failed: 341 },
      retries: 0,
      errors: [{ class: name, count: 341 }],
    });
    expect(upstream.asked.length).toBe(METATILES);
    // The upstream answers, so it is not down.
    expect((await fetch(`${server.url}/xyz/${LAYER}/5/0/0.png`)).status).toBe(502);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('nuthatch_jobs_ended_total{type="seed",outcome="failed"} 1');
  },
);

test("a request with failure fields of its own gets exactly those", async () => {
  const { server, upstream } = await start(exception("LayerNotDefined"));
  const own = { tileFailureRetryCount: 2, tileFailureRetryWaitTime: 0 };
  const job = await ended(server, await seed(server, LAYER, { ...RANGE, ...own }));
  expect(job).toMatchObject({ outcome: "failed", retries: 2 * METATILES });
  expect(upstream.asked.length).toBe(3 * METATILES);
});

test("an exception that may be gone the next time is asked for again", async () => {
  const { server, upstream } = await start(exception("NoApplicableCode"));
  const job = await ended(server, await seed(server, LAYER, { ...RANGE, zoomStop: 0 }));
  expect(job).toMatchObject({ outcome: "failed", retries: 3 });
  expect(upstream.asked.length).toBe(4);
});

test("a job with one tile that was stored before has failures; a retry of a failed job takes all of its tiles", async () => {
  const { server, upstream } = await start(() => "render");
  await ended(server, await seed(server, LAYER, { ...RANGE, zoomStop: 0 }));
  upstream.behaviour = exception("LayerNotDefined");
  const job = await ended(server, await seed(server, LAYER, RANGE));
  expect(job).toMatchObject({ outcome: "done_with_failures", reason: null, tiles: { failed: 340, skipped: 1 } });
  const failed = await ended(server, await seed(server, LAYER, { ...RANGE, zoomStart: 1 }));
  expect(failed.outcome).toBe("failed");
  upstream.behaviour = () => "render";
  const retried = await fetch(`${server.url}/api/v1/jobs/${failed.id}/retry`, { method: "POST" });
  const { id } = JSON.parse(await retried.text());
  expect(await ended(server, id)).toMatchObject({ outcome: "done", tiles: { total: 340, stored: 340 } });
});

test("the command line ends with 1 when every tile failed, and says so of a truncate that removed nothing", async () => {
  const { server, upstream } = await start(exception("LayerNotDefined"));
  const run = clientOf(() => server.url);
  const seeded = await run(["seed", LAYER, "--zoom", "0-1", "--wait"]);
  expect([seeded.code, seeded.stdout]).toEqual([1, expect.stringMatching(/^state: +failed$/m)]);
  expect(seeded.stdout).toMatch(/^reason: +every tile failed: msWMSLoadGetMapParams\(\)$/m);
  const range = ["truncate", LAYER, "--grid-set", "EPSG:4326", "--zoom", "0-3", "--wait"];
  const nothing = await run(range);
  expect([nothing.code, nothing.stdout]).toEqual([
    0,
    expect.stringMatching(/^reason: +no tile was stored in its range$/m),
  ]);
  const whole = await run(["truncate", LAYER]);
  expect([whole.code, whole.stdout]).toEqual([0, `Nothing was removed: ${LAYER} had no stored tiles.\n`]);

  upstream.behaviour = () => "render";
  await run(["seed", LAYER, "--grid-set", "EPSG:4326", "--zoom", "0-1", "--wait"]);
  const some = await run([...range, "--json"]);
  expect(JSON.parse(some.stdout)).toMatchObject({ outcome: "done", reason: null, tiles: { deleted: 10 } });
  const listed = await fetch(`${server.url}/api/v1/jobs?type=truncate`);
  expect((await listed.json()) as unknown).toMatchObject({
    jobs: [{ reason: null }, { reason: "no tile was stored in its range" }],
  });
});
