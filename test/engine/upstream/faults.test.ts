import { expect, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, rows, seed, startServer, usage } from "../../support/server/server.ts";
import { sharedByTests } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const shared = sharedByTests(8);

const request = {
  gridSetId: "EPSG:900913",
  zoomStart: 0,
  zoomStop: 5,
  format: "image/png",
  type: "seed",
  threadCount: 4,
};

test("an upstream that fails one request in twenty loses no tile, and the retries are counted", async () => {
  const at = await shared();
  let state = 42;
  const failed = new Map<string, number>();
  at.upstream.behaviour = ({ bbox }, response) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    const times = failed.get(bbox) ?? 0;
    if (state % 20 !== 0 || times >= 3) {
      failed.delete(bbox);
      return "render";
    }
    failed.set(bbox, times + 1);
    response.writeHead(500, { "Content-Type": "text/plain" }).end("out of memory");
    return "handled";
  };
  const zoomStop = inFull("last zoom", 7, 5);
  const tiles = (4 ** (zoomStop + 1) - 1) / 3;
  const id = await seed(at.server, at.layer, { ...request, zoomStop });
  const last = await ended(at.server, id);
  expect(last).toMatchObject({ outcome: "done", tiles: { total: tiles, stored: tiles, failed: 0 } });
  expect(last.retries).toBeGreaterThan(0);
});

test("an upstream that is dead for seconds in the middle is waited out: nothing is lost", async () => {
  const at = await shared();
  let dead = false;
  let inVain = 0;
  at.upstream.behaviour = async (_, response) => {
    if (dead) {
      inVain++;
      response.destroy();
      return "handled";
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    return "render";
  };
  const id = await seed(at.server, at.layer, request);
  await until("some tiles are stored", async () => ((await job(at.server, id)).tiles.stored > 300 ? true : undefined));
  dead = true;
  const waiting = await until("the job says that it waits", async () => {
    const now = await job(at.server, id);
    return now.reason?.includes("waiting for the upstream") ? now : undefined;
  });
  expect(waiting.state).toBe("running");
  const before = inVain;
  await until("the job has tried more than once whether the upstream is back", async () =>
    inVain > before + 2 ? true : undefined,
  );
  expect((await job(at.server, id)).reason).toContain("waiting for the upstream");
  dead = false;
  const last = await ended(at.server, id);
  expect(last).toMatchObject({ outcome: "done", reason: null, tiles: { stored: 1365, failed: 0 } });
});

test("HTML with status 200 is an exception that carries the upstream's own words", async () => {
  const at = await shared();
  at.upstream.behaviour = (_, response) => {
    response
      .writeHead(200, { "Content-Type": "text/html" })
      .end("<html><body>msLoadConfig(): Unable to access file</body></html>");
    return "handled";
  };
  const id = await seed(at.server, at.layer, { ...request, zoomStop: 0, tileFailureRetryCount: 0 });
  const last = await ended(at.server, id);
  expect(last.errors[0]?.message).toContain("msLoadConfig(): Unable to access file");
});

test("one bad metatile is requested four times, does not end a job and does not count as an outage", async () => {
  const at = await shared();
  let poison = "";
  let requested = 0;
  at.upstream.behaviour = ({ bbox, n }, response) => {
    if (n === 40) poison = bbox;
    if (bbox !== poison) return "render";
    requested++;
    response.writeHead(500, { "Content-Type": "text/plain" }).end("cannot render this one");
    return "handled";
  };
  const id = await seed(at.server, at.layer, { ...request, threadCount: 1 });
  const last = await ended(at.server, id);
  expect(last).toMatchObject({ outcome: "done_with_failures", tiles: { total: 1365, stored: 1349, failed: 16 } });
  expect(last.retries).toBe(3);
  expect(requested).toBe(4);
});

test("a request with failure fields of its own gets exactly those", async () => {
  const at = await shared();
  at.upstream.behaviour = (_, response) => {
    response.writeHead(503, { "Content-Type": "text/plain" }).end("no");
    return "handled";
  };
  const id = await seed(at.server, at.layer, {
    ...request,
    threadCount: 1,
    tileFailureRetryCount: 2,
    tileFailureRetryWaitTime: 1,
    totalFailuresBeforeAborting: 1,
  });
  const last = await ended(at.server, id);
  expect(last).toMatchObject({ state: "aborted", outcome: "aborted" });
  expect(at.upstream.asked).toHaveLength(3);
});

test("kill_all cancels the requests in flight, and nothing is written after the answer", async () => {
  const at = await shared();
  at.upstream.behaviour = () => new Promise(() => {});
  const id = await seed(at.server, at.layer, { ...request, threadCount: 4 });
  await until("four requests hang", async () => (at.upstream.inFlight() === 4 ? true : undefined));
  const answer = await fetch(`${at.server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  expect(answer.status).toBe(200);
  expect((await answer.text()).match(/, SEED, RUNNING\]/g)).toHaveLength(4);
  expect(await rows(at.server)).toEqual([]);
  expect(await job(at.server, id)).toMatchObject({ state: "aborted", outcome: "aborted" });
  await until("the requests are gone", async () => (at.upstream.inFlight() === 0 ? true : undefined));
});

test("one killed task leaves its work to the others, whose totals grow by it", async () => {
  const at = await shared();
  at.upstream.behaviour = renderAfter(20);
  const id = await seed(at.server, at.layer, request);
  const before = await rows(at.server);
  expect(before.reduce((sum, r) => sum + r[1], 0)).toBe(1365);
  const victim = before[1]?.[3] ?? 0;
  await fetch(`${at.server.url}/rest/seed/${encodeURIComponent(at.layer)}`, {
    method: "POST",
    body: `kill_thread=1&thread_id=${victim}`,
  });
  expect((await rows(at.server)).map((r) => r[3])).not.toContain(victim);
  const last = await ended(at.server, id);
  expect(last).toMatchObject({ outcome: "done", tiles: { stored: 1365 } });
});

test("no more requests are in flight than the source allows, users and jobs together", async () => {
  const upstream = await startUpstream();
  running.upstream = upstream;
  let open = (): void => undefined;
  const isFull = new Promise<void>((resolve) => {
    open = resolve;
  });
  // The first requests wait for one another: on a slow machine they might not meet.
  upstream.behaviour = async (request, response) => {
    if (upstream.maxInFlight() === 3) open();
    await isFull;
    return renderAfter(15)(request, response);
  };
  const at = await startServer({
    configuration: smallTiles(upstream.url, [
      { name: "a", connections: 3 },
      { name: "b", connections: 3 },
    ]),
  });
  running.server = at;
  const ids = [
    await seed(at, "a", { ...request, zoomStop: 4, threadCount: 8 }),
    await seed(at, "b", { ...request, zoomStop: 4, threadCount: 8 }),
  ];
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => fetch(`${at.url}/xyz/a/8/${i * 4}/100.png`).then((r) => r.arrayBuffer())),
  );
  for (const id of ids) expect(await ended(at, id)).toMatchObject({ outcome: "done" });
  expect(upstream.maxInFlight()).toBe(3);
});

test("a hundred concurrent misses of one metatile cause one upstream request", async () => {
  const at = await shared();
  at.upstream.behaviour = renderAfter(50);
  const tiles = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      fetch(`${at.server.url}/xyz/${at.layer}/6/${i % 4}/${(i >> 2) % 4}.png`).then(
        async (r) => [r.status, (await r.arrayBuffer()).byteLength] as const,
      ),
    ),
  );
  expect(tiles.every(([status, size]) => status === 200 && size > 100)).toBe(true);
  expect(at.upstream.asked).toHaveLength(1);
});

test("where several tasks reach the limit at once, all that is stored is counted when the job has ended", async () => {
  running.upstream = await startUpstream();
  let sent = 0;
  running.upstream.behaviour = async (_, response) => {
    const n = sent++;
    // As many at a time as there are tasks, one third of them failures.
    await new Promise((resolve) => setTimeout(resolve, (n * 7) % 12));
    if (n % 3 !== 0) return "render";
    response.writeHead(404).end();
    return "handled";
  };
  const names = Array.from({ length: 8 }, (_, i) => `layer${i}`);
  const at = await startServer({
    configuration: smallTiles(
      running.upstream.url,
      names.map((name) => ({ name, extra: "metatile: [1, 1]" })),
    ),
  });
  running.server = at;
  for (const name of names) {
    const id = await seed(at, name, {
      gridSetId: "EPSG:900913",
      zoomStart: 0,
      zoomStop: 6,
      threadCount: 8,
      tileFailureRetryCount: 0,
      totalFailuresBeforeAborting: 8,
    });
    const { outcome, tiles } = await ended(at, id);
    expect(outcome).toBe("aborted");
    expect((await usage(at)).layers.find(({ layer }) => layer === name)?.tiles).toBe(tiles.stored);
  }
});
