import { afterEach, expect, test } from "vitest";
import { median, quantile } from "../../../bench/support/figures.ts";
import { FixedRateReader } from "../../../bench/support/fixed-rate-reader.ts";
import { bareServer, upstreamProcess } from "../../../bench/support/peers.ts";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startHeldUpstream } from "../../support/upstream/held-upstream.ts";
import { type Behaviour, renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/*
 * Compares the waiting times of users during a seed of 16 threads with those without a seed: quantiles of one run, as a
 * ratio. The reader sends requests at a fixed rate, so a server that stalls delays all requests of that time.
 */

const running = closedAfterEach();
let reader: FixedRateReader | undefined;
afterEach(() => {
  reader?.close();
  reader = undefined;
});

const LAYER = "ws:roads";
/** The half of the world's width in EPSG:900913. */
const WORLD = 20_037_508.342_789_244;
const GRID = { gridSetId: "EPSG:900913", format: "image/png" };
/** More than is rendered while a test lasts. */
const ENDLESS = { ...GRID, zoomStart: 10, zoomStop: 11, threadCount: 16 };
/**
 * The largest ratio in the median round. A bare server in the same round shows the share of the machine, which is not
 * due to the seed. `npm run bench live-users` measures the goal of 1.2 on a quiet machine.
 */
const HITS_RATIO = 3;
const ROUNDS = inFull("rounds", 9, 5);
const ANSWERS_IN_ROUND = 120;

async function start(connections: number, behaviour: Behaviour, extra = "") {
  running.upstream = await startUpstream();
  running.upstream.behaviour = behaviour;
  const layers = [{ name: LAYER, connections, extra }];
  running.server = await startServer({ configuration: smallTiles(running.upstream.url, layers) });
  return { server: running.server, upstream: running.upstream };
}

async function atWork(server: TestServer, id: number): Promise<void> {
  await until("the seed is at work", async () => ((await job(server, id)).tiles.stored > 100 ? true : undefined));
}

async function control(server: TestServer, id: number, action: "pause" | "resume"): Promise<void> {
  const response = await fetch(`${server.url}/api/v1/jobs/${id}/${action}`, { method: "POST" });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}

const renderedBy = async (server: TestServer, id: number): Promise<number> => (await job(server, id)).tiles.stored;

/** The p95 of a server and of a bare one beside it. */
interface Beside {
  readonly hits: number;
  readonly bare: number;
}

async function readBeside(both: FixedRateReader, answers: number): Promise<Beside> {
  both.take();
  const taken: { hits: number[]; bare: number[] } = { hits: [], bare: [] };
  await until("enough has been answered", async () => {
    const { byTarget } = both.take();
    expect(byTarget.get("hits")?.misses ?? 0).toBe(0);
    for (const name of ["hits", "bare"] as const) taken[name].push(...(byTarget.get(name)?.ms ?? []));
    return Math.min(taken.hits.length, taken.bare.length) >= answers ? true : undefined;
  });
  return { hits: quantile(taken.hits, 0.95), bare: quantile(taken.bare, 0.95) };
}

test("hits are as quick while a seed keeps all renderers busy", async () => {
  // Separate processes, because their use of the test's event loop would be measured too.
  const upstream = await upstreamProcess("map");
  const bare = await bareServer({}, Buffer.alloc(300));
  try {
    const layers = [{ name: LAYER, connections: 16 }];
    const server = await startServer({ configuration: smallTiles(upstream.url, layers) });
    running.server = server;
    await ended(server, await seed(server, LAYER, { ...GRID, zoomStart: 0, zoomStop: 4 }));
    const id = await seed(server, LAYER, ENDLESS);
    await atWork(server, id);
    let sent = 0;
    const hit = (): string => `/xyz/${LAYER}/4/${sent % 10}/${Math.floor(sent++ / 10) % 10}.png`;
    const both = new FixedRateReader(
      new Map([
        ["hits", () => ({ port: server.port, path: hit() })],
        ["bare", () => ({ port: bare.port, path: "/" })],
      ]),
      200,
    );
    reader = both;
    await readBeside(both, 50);
    const rounds: { readonly idle: Beside; readonly loaded: Beside }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await control(server, id, "pause");
      const idle = await readBeside(both, ANSWERS_IN_ROUND);
      await control(server, id, "resume");
      const before = await renderedBy(server, id);
      await until("the seed is at work", async () => ((await renderedBy(server, id)) > before ? true : undefined));
      const loaded = await readBeside(both, ANSWERS_IN_ROUND);
      expect(await renderedBy(server, id), "the seed went on meanwhile").toBeGreaterThan(before);
      rounds.push({ idle, loaded });
    }
    const machine = ({ idle, loaded }: (typeof rounds)[number]): number => Math.max(1, loaded.bare / idle.bare);
    const ratio = median(rounds.map((round) => round.loaded.hits / round.idle.hits / machine(round)));
    const reported = rounds
      .map(({ idle, loaded }) => [idle.hits, loaded.hits, idle.bare, loaded.bare].map((ms) => ms.toFixed(1)).join(" "))
      .join(", ");
    expect(ratio, `p95 in ms, idle and beside a seed, of a bare server idle and beside it: ${reported}`).toBeLessThan(
      HITS_RATIO,
    );
  } finally {
    bare.close();
    upstream.close();
  }
});

/** The number of requests that wait for a connection. */
async function queued(server: TestServer, who: "users" | "jobs"): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^nuthatch_upstream_queue\\{.*who="${who}".*\\} (\\d+)$`, "m").exec(metrics)?.[1]);
}

test("a user's miss does not queue up behind the threads of a seed", async () => {
  const held = await startHeldUpstream();
  running.upstream = held.upstream;
  // The held pictures must not time out on a busy machine: the user would get a connection and wait no longer.
  const layers = [{ name: LAYER, connections: 2, timeoutSeconds: 600 }];
  const server = await startServer({ configuration: smallTiles(held.upstream.url, layers) });
  running.server = server;
  const id = await seed(server, LAYER, ENDLESS);
  const untilHeld = (what: string) =>
    until(what, async () => (held.waiting().length === 2 ? held.waiting() : undefined), undefined, server);
  await untilHeld("both connections are taken by the seed");
  const read = fetch(`${server.url}/xyz/${LAYER}/9/400/100.png`);
  await until("the user queues up", async () => ((await queued(server, "users")) === 1 ? true : undefined));
  expect(await queued(server, "jobs"), "the other threads of the seed wait").toBeGreaterThan(1);
  held.release(1);
  const next = await untilHeld("one more is asked for");
  expect(
    next.filter(({ x, y }) => x > 0 && y > 0),
    "it is the user's",
  ).toHaveLength(1);
  const before = await renderedBy(server, id);
  held.isOpen = true;
  held.release();
  const answer = await read;
  expect([answer.status, answer.headers.get("geowebcache-cache-result")]).toEqual([200, "MISS"]);
  await until("the seed goes on", async () => ((await renderedBy(server, id)) > before ? true : undefined));
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^nuthatch_tile_failures_total\{layer="[^"]+"\} 0$/m);
});

test("a user who misses what a seed is about to render goes before the rest of the seed", async () => {
  const held = await startHeldUpstream();
  running.upstream = held.upstream;
  // The held pictures must not time out on a busy machine: the user would get a connection and wait no longer.
  const layers = [{ name: LAYER, connections: 2, timeoutSeconds: 600, extra: "metatile: [1, 1]" }];
  const server = await startServer({ configuration: smallTiles(held.upstream.url, layers) });
  running.server = server;
  const threadCount = 16;
  const id = await seed(server, LAYER, { ...GRID, zoomStart: 2, zoomStop: 2, threadCount });
  const first = await until("both connections are taken, the others queue up", async () =>
    held.waiting().length === 2 && (await queued(server, "jobs")) === threadCount - 2 ? held.waiting() : undefined,
  );
  // A tile of the upper row that the seed is not rendering: any of its threads may have been the first two.
  const columnOf = (x: number): number => Math.floor((x + WORLD) / (WORLD / 2));
  const ofUpperRow = (all: readonly { readonly x: number; readonly y: number }[]): number[] =>
    all.filter(({ y }) => y > WORLD / 2).map(({ x }) => columnOf(x));
  const column = [3, 2, 1].find((one) => !ofUpperRow(first).includes(one)) ?? Number.NaN;
  const read = fetch(`${server.url}/xyz/${LAYER}/2/${column}/0.png`);
  let answered: number | undefined;
  void read.then(({ status }) => {
    answered = status;
  });
  await until("the user queues up", async () => {
    expect(answered, "the user is answered without waiting").toBeUndefined();
    return (await queued(server, "users")) === 1 ? true : undefined;
  });
  held.release();
  const next = await until("two more are asked for", async () =>
    held.waiting().length === 2 ? held.waiting() : undefined,
  );
  expect(ofUpperRow(next).filter((one) => one === column)).toHaveLength(1);
  held.isOpen = true;
  held.release();
  const answer = await read;
  expect([answer.status, answer.headers.get("geowebcache-cache-result")]).toEqual([200, "MISS"]);
  const { tiles } = await ended(server, id);
  expect(tiles).toMatchObject({ stored: 16, failed: 0 });
  expect(held.upstream.asked, "each was asked for once").toHaveLength(16);
});

/** Renders at most this many pictures at a time. Further requests wait, so all answers take longer. */
function renderTogether(most: number, ms: number): Behaviour {
  let rendering = 0;
  const waiting: (() => void)[] = [];
  return async (asked, response) => {
    if (rendering >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else rendering++;
    const answer = await renderAfter(ms)(asked, response);
    const next = waiting.shift();
    if (next === undefined) rendering--;
    else next();
    return answer;
  };
}

/** The most requests in flight at once, of so many that begin now. */
async function mostInFlight(upstream: Upstream, requests: number, behaviour: Behaviour): Promise<number> {
  const seen: number[] = [];
  upstream.behaviour = (asked, response) => {
    seen.push(upstream.inFlight());
    return behaviour(asked, response);
  };
  await until("so many were asked for", async () => (seen.length >= requests ? true : undefined));
  return Math.max(...seen);
}

test("a seed asks less at a time of a map server whose answers take longer under its load", async () => {
  const connections = 16;
  // Sixteen at a time are answered after 60 ms each; once only four are rendered at a time, after 120.
  const able = renderAfter(60);
  const overloaded = renderTogether(4, 30);
  const { server, upstream } = await start(connections, able, "metatile: [1, 1]");
  const id = await seed(server, LAYER, ENDLESS);
  const becomes = (what: string, behaviour: Behaviour, isSo: (inFlight: number) => boolean) =>
    until(what, async () => (isSo(await mostInFlight(upstream, 40, behaviour)) ? true : undefined), 60_000, server);
  await becomes("all connections are used", able, (inFlight) => inFlight === connections);
  await becomes("the seed has made room", overloaded, (inFlight) => inFlight <= (3 * connections) / 4);
  expect((await job(server, id)).tiles.failed).toBe(0);
});
