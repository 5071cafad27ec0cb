import { expect, test } from "vitest";
import { clientOf } from "../../support/server/run-program.ts";
import { ended, seed, type TestServer } from "../../support/server/server.ts";
import { type ShareOfServer, sharedByTests } from "../../support/server/shared-server.ts";
import type { Behaviour } from "../../support/upstream/upstream.ts";

const shared = sharedByTests(10, { extra: "metatile: [4, 4]" });
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

async function start(behaviour: Behaviour): Promise<ShareOfServer> {
  const share = await shared();
  share.upstream.behaviour = behaviour;
  return share;
}

/** The number of seeds that have failed since the start of the server. */
async function failedSeeds({ url }: TestServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^nuthatch_jobs_ended_total\{type="seed",outcome="failed"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
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
    const { server, upstream, layer } = await start(behaviour);
    const before = await failedSeeds(server);
    const job = await ended(server, await seed(server, layer, { ...RANGE, threadCount: 2 }));
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
    expect((await fetch(`${server.url}/xyz/${layer}/5/0/0.png`)).status).toBe(502);
    expect(await failedSeeds(server)).toBe(before + 1);
  },
);

test("a request with failure fields of its own gets exactly those", async () => {
  const { server, upstream, layer } = await start(exception("LayerNotDefined"));
  const own = { tileFailureRetryCount: 2, tileFailureRetryWaitTime: 0 };
  const job = await ended(server, await seed(server, layer, { ...RANGE, ...own }));
  expect(job).toMatchObject({ outcome: "failed", retries: 2 * METATILES });
  expect(upstream.asked.length).toBe(3 * METATILES);
});

test("an exception that may be gone the next time is asked for again", async () => {
  const { server, upstream, layer } = await start(exception("NoApplicableCode"));
  const job = await ended(server, await seed(server, layer, { ...RANGE, zoomStop: 0 }));
  expect(job).toMatchObject({ outcome: "failed", retries: 3 });
  expect(upstream.asked.length).toBe(4);
});

test("a job with one tile that was stored before has failures; a retry of a failed job takes all of its tiles", async () => {
  const { server, upstream, layer } = await start(() => "render");
  await ended(server, await seed(server, layer, { ...RANGE, zoomStop: 0 }));
  upstream.behaviour = exception("LayerNotDefined");
  const job = await ended(server, await seed(server, layer, RANGE));
  expect(job).toMatchObject({ outcome: "done_with_failures", reason: null, tiles: { failed: 340, skipped: 1 } });
  const failed = await ended(server, await seed(server, layer, { ...RANGE, zoomStart: 1 }));
  expect(failed.outcome).toBe("failed");
  upstream.behaviour = () => "render";
  const retried = await fetch(`${server.url}/api/v1/jobs/${failed.id}/retry`, { method: "POST" });
  const { id } = JSON.parse(await retried.text());
  expect(await ended(server, id)).toMatchObject({ outcome: "done", tiles: { total: 340, stored: 340 } });
});

test("the command line ends with 1 when every tile failed, and says so of a truncate that removed nothing", async () => {
  const { server, upstream, layer } = await start(exception("LayerNotDefined"));
  const run = clientOf(() => server.url);
  const seeded = await run(["seed", layer, "--zoom", "0-1", "--wait"]);
  expect([seeded.code, seeded.stdout]).toEqual([1, expect.stringMatching(/^state: +failed$/m)]);
  expect(seeded.stdout).toMatch(/^reason: +every tile failed: msWMSLoadGetMapParams\(\)$/m);
  const range = ["truncate", layer, "--grid-set", "EPSG:4326", "--zoom", "0-3", "--wait"];
  const nothing = await run(range);
  expect([nothing.code, nothing.stdout]).toEqual([
    0,
    expect.stringMatching(/^reason: +no tile was stored in its range$/m),
  ]);
  const whole = await run(["truncate", layer]);
  expect([whole.code, whole.stdout]).toEqual([0, `Nothing was removed: ${layer} had no stored tiles.\n`]);

  upstream.behaviour = () => "render";
  await run(["seed", layer, "--grid-set", "EPSG:4326", "--zoom", "0-1", "--wait"]);
  const some = await run([...range, "--json"]);
  expect(JSON.parse(some.stdout)).toMatchObject({ outcome: "done", reason: null, tiles: { deleted: 10 } });
  const listed = await fetch(`${server.url}/api/v1/jobs?type=truncate&layer=${layer}`);
  expect((await listed.json()) as unknown).toMatchObject({
    jobs: [{ reason: null }, { reason: "no tile was stored in its range" }],
  });
});
