import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFull } from "../../support/full.ts";
import { rows, startServer, type TestServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* Lists of expired tiles, as osm2pgsql and imposm write them (`updateSources`, `tileLists`). */

const directory = mkdtempSync(join(tmpdir(), "nuthatch-lists-"));
const lists = join(directory, "expire");
const largeLists = join(directory, "large");
const jobLists = join(directory, "jobs");
let upstream: Upstream;
let server: TestServer;

interface Source {
  readonly type: string;
  readonly source: string;
  readonly handled: number;
  readonly ignored: number;
  readonly lagSeconds: number;
  readonly lastError: string | null;
}

beforeAll(async () => {
  mkdirSync(join(lists, "20260101"), { recursive: true });
  for (const path of [largeLists, jobLists]) mkdirSync(path);
  upstream = await startUpstream();
  upstream.behaviour = renderAfter(0);
  const layer = (name: string, operation: string): string => `
  - name: ${name}
    source: { type: wms, url: "${upstream.url}" }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 10 }, { gridSet: EPSG:4326, zoomStop: 8 }]
    formats: [image/png, image/jpeg]
    metatile: [1, 1]
    updateSources:
      - { type: tileLists, directory: "${operation === "reseed" ? jobLists : lists}", gridSet: EPSG:900913, operation: ${operation} }
      ${operation === "truncate" ? `- { type: tileLists, directory: "${largeLists}" }` : ""}`;
  server = await startServer({
    configuration: `layers:${layer("gone", "truncate")}${layer("soft", "soft")}${layer("renewed", "reseed")}`,
  });
});

afterAll(async () => {
  await server?.close();
  await upstream?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function source(of = lists): Promise<Source> {
  const { changes } = (await (await fetch(`${server.url}/api/v1/changes`)).json()) as { changes: Source[] };
  const one = changes.find(({ source }) => source === of);
  if (one === undefined) throw new Error("the directory is not listed");
  return one;
}
const handled = (lines: number): Promise<Source> =>
  until(
    `${lines} lines are handled`,
    async () => {
      const one = await source();
      return one.handled >= lines && one.lagSeconds === 0 ? one : undefined;
    },
    60_000,
    server,
  );

async function load(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await fetch(`${server.url}/xyz/${path}`);
    await answer.arrayBuffer();
    expect([path, answer.status]).toEqual([path, 200]);
  }
}

/** "fresh", "stale" or "absent", without a render. */
async function state(path: string): Promise<string> {
  const answer = await fetch(`${server.url}/xyz/${path}`, { headers: { "Cache-Control": "only-if-cached" } });
  await answer.arrayBuffer();
  if (answer.status === 504) return "absent";
  return answer.headers.get("cache-control")?.includes("max-age=15") === true ? "stale" : "fresh";
}
const becomes = (path: string, wanted: string): Promise<true> =>
  until(`${path} is ${wanted}`, async () => ((await state(path)) === wanted ? true : undefined), 60_000, server);

test("a listed tile goes away with its ancestors and its descendants, in all formats, and no other tile", async () => {
  await load(
    "gone/8/128/127.png",
    "gone/8/128/127.jpeg",
    "gone/2/2/1.png",
    "gone/10/513/510.png",
    "gone/8/129/127.png",
  );
  const before = await source();
  // A program writes a file under another name, and renames it.
  const list = join(lists, "20260101", "000001.tiles");
  writeFileSync(`${list}~`, "8/128/127\n");
  renameSync(`${list}~`, list);
  await becomes("gone/8/128/127.png", "absent");
  await becomes("gone/8/128/127.jpeg", "absent");
  await becomes("gone/2/2/1.png", "absent");
  await becomes("gone/10/513/510.png", "absent");
  expect(await state("gone/8/129/127.png")).toBe("fresh");
  const after = await handled(before.handled + 1);
  expect(after).toMatchObject({ type: "tileLists", ignored: before.ignored, lastError: null });
});

test("a stale tile is served once and rendered again, and its neighbour is not", async () => {
  await load("soft/8/10/10.png", "soft/8/11/10.png");
  const before = await source();
  appendFileSync(join(lists, "growing.list"), "8/10/10\n");
  await becomes("soft/8/10/10.png", "stale");
  expect(await state("soft/8/11/10.png")).toBe("fresh");
  await handled(before.handled + 1);
  const asked = upstream.asked.length;
  await load("soft/8/10/10.png");
  await becomes("soft/8/10/10.png", "fresh");
  await load("soft/8/10/10.png", "soft/8/11/10.png");
  expect(new Set(upstream.asked.slice(asked)).size).toBe(1);
});

test("stale tiles of a layer that is rendered again become fresh without a request", async () => {
  await load("renewed/8/20/20.png");
  const asked = upstream.asked.length;
  writeFileSync(join(jobLists, "one.list"), "8/20/20\n");
  // Level 0 to 8 have one tile each, 9 four and 10 sixteen, in two formats, and the tiles of the other grid set.
  await until(
    "it is rendered again",
    async () => (upstream.asked.length > asked + 28 ? true : undefined),
    60_000,
    server,
  );
  await becomes("renewed/8/20/20.png", "fresh");
  await becomes("renewed/10/80/80.png", "fresh");
  // Otherwise its renders would be counted by the next test.
  await until(
    "the jobs have ended",
    async () => ((await rows(server)).length === 0 ? true : undefined),
    60_000,
    server,
  );
});

test("a line that is no tile is counted and logged, and the lines after it are read", async () => {
  await load("gone/8/30/30.png");
  const before = await source();
  appendFileSync(join(lists, "growing.list"), "8/999/1\nnonsense\n8/30/30\n");
  await becomes("gone/8/30/30.png", "absent");
  const after = await handled(before.handled + 3);
  expect(after.ignored - before.ignored).toBe(2);
  expect(server.log()).toContain("a line of a list of expired tiles is no tile of a layer");
});

test("after a kill lists are read where they were left, and a list that was cut is read anew", async () => {
  const before = await source();
  appendFileSync(join(lists, "growing.list"), "8/40/40\n");
  await handled(before.handled + 1);
  await load("gone/8/41/41.png", "gone/8/40/40.png");
  server = await server.restart("SIGKILL");
  appendFileSync(join(lists, "growing.list"), "8/41/41\n");
  await becomes("gone/8/41/41.png", "absent");
  expect((await handled(1)).handled).toBe(1);
  expect(await state("gone/8/40/40.png")).toBe("fresh");
  writeFileSync(join(lists, "growing.list"), "8/40/40\n");
  await becomes("gone/8/40/40.png", "absent");
});

/** The resident memory of the server's process. */
const usedMiB = (): number =>
  Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, "latin1"))?.[1]) / 1024;

/** The lines of a large list. A full run has the operators' number. */
const LINES = isFull ? 1_000_000 : 20_000;

test(`${LINES} lines are read in memory that does not grow with them`, async () => {
  await load("gone/10/1000/1000.png", "gone/10/3/3.png");
  const line = (i: number): string => `10/${512 + (i % 512)}/${Math.floor(i / 512) % 1024}\n`;
  for (let from = 0; from < LINES; from += 10_000)
    appendFileSync(join(largeLists, "large.tmp"), Array.from({ length: 10_000 }, (_, i) => line(from + i)).join(""));
  const idle = usedMiB();
  renameSync(join(largeLists, "large.tmp"), join(largeLists, "large.list"));
  let most = 0;
  await until(
    "all lines are handled",
    async () => {
      most = Math.max(most, usedMiB());
      return (await source(largeLists)).handled >= LINES ? true : undefined;
    },
    590_000,
    server,
  );
  if (isFull) console.info(`resident memory: ${Math.round(idle)} MiB idle, ${Math.round(most)} MiB at most`);
  expect(most - idle).toBeLessThan(250);
  expect(await state("gone/10/3/3.png")).toBe("fresh");
});
