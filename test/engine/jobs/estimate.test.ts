import { statfsSync } from "node:fs";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, type JobJson, putQuota, startServer, type TestServer, usage } from "../../support/server/server.ts";

const running = closedAfterEach();
const REQUESTED = { zoomStart: 3, zoomStop: 5 };
const TILES = 64 + 256 + 1024;

async function post<T>(server: TestServer, path: string, body: object): Promise<T> {
  const init = { method: "POST", body: JSON.stringify({ layer: "topp:states", gridSet: "EPSG:900913", ...body }) };
  return JSON.parse(await (await fetch(`${server.url}/api/v1/${path}`, init)).text());
}

interface EstimateJson {
  readonly tiles: number;
  readonly kept: number | null;
  readonly missing: number;
  readonly bytes: number | null;
  readonly bytesOnDisk: number;
  readonly inodes: number;
}

test("what an estimate says of a seed of the demo layer is what comes of it, to the tile and to a fifth of the bytes", async () => {
  running.server = await startServer();
  const { server } = running;
  const estimate = (requested: object = REQUESTED) => post<EstimateJson>(server, "estimate", requested);
  const { bsize } = statfsSync(server.dataDir);
  // The sizes are unknown so far: a tile takes at least a block.
  expect(await estimate()).toMatchObject({
    bytes: null,
    bytesOnDisk: TILES * bsize,
    inodes: TILES,
    fitsQuota: null,
    fitsDisk: null,
    fitsInodes: true,
  });
  // Every second metatile of 4 x 4 tiles.
  const tiles = [3, 4, 5].flatMap((z) => {
    const side = 2 ** z / 4;
    const all = Array.from({ length: side * side }, (_, n) => ({ x: n % side, y: Math.floor(n / side) }));
    return all.filter(({ x, y }) => (x + y) % 2 === 0).map(({ x, y }) => `${z}/${4 * x}/${4 * y}`);
  });
  await ended(server, (await post<JobJson>(server, "jobs", { tiles })).id);
  const [before, onDiskBefore] = [(await usage(server)).total, (await usage(server)).bytesOnDisk];
  const reported = await estimate();
  // Half of the tiles are missing, and the sizes of other levels do not count for this level.
  const deepest = (await usage(server, "?by=tileSet")).tileSets?.[0]?.zooms.find(({ z }) => z === REQUESTED.zoomStop);
  expect((await estimate({ ...REQUESTED, zoomStart: REQUESTED.zoomStop })).bytes).toBe(deepest?.bytes);
  const last = await ended(server, (await post<JobJson>(server, "jobs", REQUESTED)).id);
  const after = (await usage(server)).total;
  expect(last.tiles).toMatchObject({ total: reported.tiles, stored: reported.missing });
  const bytes = after.bytes - before.bytes;
  expect(reported.bytes).toBeGreaterThan(0.8 * bytes);
  expect(reported.bytes).toBeLessThan(1.2 * bytes);
  const onDisk = (await usage(server)).bytesOnDisk - onDiskBefore;
  expect(reported.inodes).toBe(reported.missing);
  expect(reported.bytesOnDisk).toBeGreaterThan(0.8 * onDisk);
  expect(reported.bytesOnDisk).toBeLessThan(1.2 * onDisk);
  // A reseed makes no new files.
  expect(await estimate({ ...REQUESTED, type: "reseed" })).toMatchObject({ inodes: 0, fitsDisk: true });
});

test("a seed that the content would allow and the blocks of the disk do not fit says so, and so does its quota", async () => {
  running.server = await startServer();
  const { server } = running;
  const small = { zoomStart: 0, zoomStop: 4 };
  await ended(server, (await post<JobJson>(server, "jobs", small)).id);
  const { bavail, bsize, ffree } = statfsSync(server.dataDir);
  const estimated: (EstimateJson & Record<string, unknown>)[] = [];
  for (let z = 5; z < 25; z++) estimated.push(await post(server, "estimate", { zoomStart: z, zoomStop: z }));
  for (const of of estimated) {
    expect(of.bytesOnDisk).toBeGreaterThanOrEqual(of.tiles * bsize);
    // Other tests write to this disk at the same time.
    if (Math.abs(of.bytesOnDisk - bavail * bsize) > 0.3 * of.bytesOnDisk)
      expect(of["fitsDisk"]).toBe(of.bytesOnDisk < bavail * bsize);
    if (Math.abs(of.inodes - ffree) > 0.3 * of.inodes) expect(of["fitsInodes"]).toBe(of.inodes < ffree);
  }
  // At one of the levels the content alone would fit.
  expect(estimated.some(({ bytes, fitsDisk }) => fitsDisk === false && (bytes ?? 0) < bavail * bsize)).toBe(true);
  // 1.3 MiB of blocks: a quarter of that in content.
  const seed = { zoomStart: 5, zoomStop: 5 };
  const { bytes, bytesOnDisk } = await post<EstimateJson>(server, "estimate", seed);
  const now = await usage(server);
  const between = (now.total.bytes + (bytes ?? 0) + now.bytesOnDisk + bytesOnDisk) / 2;
  await putQuota(server, { enabled: true, globalQuota: { value: Math.ceil(between), units: "B" } });
  expect(await post(server, "estimate", seed)).toMatchObject({ fitsQuota: false });
});

test("the estimate of a truncate is what it frees, whole levels and parts, and it needs no room", async () => {
  running.server = await startServer();
  const { server } = running;
  await ended(server, (await post<JobJson>(server, "jobs", { zoomStart: 3, zoomStop: 4 })).id);
  const all = await usage(server);
  const truncate = { type: "truncate", zoomStart: 3, zoomStop: 4 };
  expect(await post(server, "estimate", truncate)).toMatchObject({
    tiles: all.total.tiles,
    kept: all.total.tiles,
    missing: 0,
    bytes: all.total.bytes,
    bytesOnDisk: all.bytesOnDisk,
    inodes: all.total.tiles,
    fitsQuota: null,
    fitsDisk: true,
    fitsInodes: true,
    seconds: null,
  });
  const part = { ...truncate, bounds: [0, 0, 15_000_000, 15_000_000] };
  const estimated = await post<EstimateJson>(server, "estimate", part);
  const ofJob = await ended(server, (await post<JobJson>(server, "jobs", part)).id);
  expect(ofJob.tiles).toMatchObject({ total: estimated.tiles, deleted: estimated.tiles });
  const left = await usage(server);
  expect(all.total.tiles - left.total.tiles).toBe(estimated.inodes);
  const freed = all.bytesOnDisk - left.bytesOnDisk;
  expect(estimated.bytesOnDisk).toBeGreaterThan(0.7 * freed);
  expect(estimated.bytesOnDisk).toBeLessThan(1.3 * freed);
  const several = { layer: undefined, layers: ["*"], gridSet: undefined, type: "truncate", parameterSets: "*" };
  expect(await post(server, "estimate", several)).toMatchObject({
    tiles: left.total.tiles,
    bytesOnDisk: left.bytesOnDisk,
    fitsDisk: true,
  });
});

test("estimates whose clients have gone are given up: others are answered at once", { timeout: 60_000 }, async () => {
  running.server = await startServer();
  const { server } = running;
  const corner = (i: number): string => `${((i * 0.0037) % 150) - 75} ${i % 2 === 0 ? 85 : -85}`;
  // Every edge is in every row of every level: minutes of work.
  const area = `SRID=4326;POLYGON((${Array.from({ length: 20_000 }, (_, i) => corner(i)).join(",")}))`;
  const costly = JSON.stringify({ layer: "topp:states", gridSet: "EPSG:4326", zoomStop: 11, area });
  const client = new AbortController();
  const answers = Array.from({ length: 5 }, () =>
    fetch(`${server.url}/api/v1/estimate`, { method: "POST", body: costly, signal: client.signal }),
  );
  const ended = Promise.allSettled(answers);
  // Four are worked on: the fifth is refused.
  const refused = await Promise.race(answers);
  expect({ status: refused.status, retryAfter: refused.headers.get("Retry-After") }).toEqual({
    status: 503,
    retryAfter: "1",
  });
  client.abort();
  expect((await ended).filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const cheap = JSON.stringify({ layer: "topp:states", gridSet: "EPSG:900913", zoomStop: 2 });
  const status = async (): Promise<number> => {
    const answer = await fetch(`${server.url}/api/v1/estimate`, { method: "POST", body: cheap });
    await answer.body?.cancel();
    return answer.status;
  };
  // Long before their time would have been over.
  await expect.poll(status).toBe(200);
});
