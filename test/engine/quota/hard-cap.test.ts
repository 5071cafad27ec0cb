import { statfsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  job,
  putQuota,
  rendered,
  rows,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../support/stores/small-disk.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { hold } from "../../support/upstream/held-upstream.ts";
import { renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/*
 * At no moment do the blocks of the stored tiles pass the quota, however many writers wait for however slow an upstream.
 */

const running = closedAfterEach();
let disk: SmallDisk | undefined;
afterEach(() => {
  disk?.close();
  disk = undefined;
});

const MIB = 2 ** 20;
/** The side of the square of noise in each tile of 64 pixels: about 10 KiB of PNG, which take 12 KiB on the disk. */
const SIDE = 58;
const METATILE = 16 * 12_288;
/** A quota of two metatiles and a part, which no number of blocks fills. */
const LIMIT = 2.5 * METATILE + 1000;
const CONNECTIONS = 128;
const READERS = 120;
const often = { cacheCleanUpFrequency: 1, cacheCleanUpUnits: "DAYS" };

async function start(extra = "", more = "", dataDir?: string): Promise<{ at: TestServer; upstream: Upstream }> {
  const upstream = await startUpstream();
  running.upstream = upstream;
  const configuration = smallTiles(
    upstream.url,
    [
      { name: "a", connections: CONNECTIONS, timeoutSeconds: 60, extra },
      { name: "b", connections: CONNECTIONS, timeoutSeconds: 60 },
    ],
    more,
  );
  const at = await startServer({ configuration, ...(dataDir === undefined ? {} : { dataDir }) });
  running.server = at;
  return { at, upstream };
}

async function read(at: TestServer, layer: string, n: number, signal?: AbortSignal): Promise<string | null> {
  const address = `${at.url}/xyz/${layer}/9/${(n % 32) * 4}/${Math.floor(n / 32) * 4}.png`;
  const response = await fetch(address, signal === undefined ? {} : { signal });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return response.headers.get("geowebcache-cache-result");
}

/**
 * Measures the store and usage repeatedly while `work` runs. A measurement without an eviction shows the store at one
 * moment. A measurement during an eviction may include both an evicted tile and its replacement.
 */
async function watchedWhile(at: TestServer, limit: number, work: Promise<unknown>): Promise<number> {
  let [over, most, looks] = [false, 0, 0];
  const done = work.finally(() => {
    over = true;
  });
  done.catch(() => undefined);
  for (let before = await usage(at); !over; looks++) {
    const { bytesOnDisk } = scanStore(at.dataDir);
    const after = await usage(at);
    expect(after.bytesOnDisk, "usage").toBeLessThanOrEqual(limit);
    const slack = before.enforcement.evictedTiles === after.enforcement.evictedTiles ? 0 : CONNECTIONS * METATILE;
    expect(bytesOnDisk, "blocks of the store").toBeLessThanOrEqual(limit + slack);
    most = Math.max(most, after.bytesOnDisk);
    before = after;
    // The writers need the processors.
    await sleep(5);
  }
  await done;
  expect(looks).toBeGreaterThan(2);
  return most;
}

test("a hundred readers of a slow upstream, answered at once, leave the store below the quota", async () => {
  const { at, upstream } = await start();
  const held = hold(upstream);
  held.side = SIDE;
  await putQuota(at, { enabled: true, ...often, globalQuota: { value: 3, units: "MiB" } });
  const readers = Array.from({ length: READERS }, (_, n) => read(at, n % 2 === 0 ? "a" : "b", n));
  await until("all wait for the upstream", async () => (held.waiting().length === READERS ? true : undefined));
  held.isOpen = true;
  held.release();
  // A reader is answered before the other tiles of the metatile are stored.
  const stored = Promise.all(readers).then(() => rendered(at));
  const most = await watchedWhile(at, 3 * MIB, stored);
  expect(most, "what there is room for is stored").toBeGreaterThan(2 * MIB);
  expect((await usage(at)).enforcement.notStored).toBeGreaterThan(0);
  await expectExact(at);
  // No reservation is left: the next tile replaces the least used one.
  await read(at, "a", 200);
  expect(await read(at, "a", 200)).toBe("HIT");
  await expectExact(at);
});

test("a layer's quota holds for readers and a seed at once, in all formats that are written together", async () => {
  const { at, upstream } = await start("formatsTogether: true");
  upstream.behaviour = renderNoise(SIDE, 64);
  const limit = 2 * MIB;
  await putQuota(at, {
    enabled: true,
    ...often,
    globalQuota: { value: 1, units: "GiB" },
    layerQuotas: [{ layer: "a", expirationPolicyName: "LRU", quota: { value: 2, units: "MiB" } }],
  });
  let seeded: Awaited<ReturnType<typeof ended>> | undefined;
  await watchedWhile(
    at,
    limit,
    (async () => {
      const range = { gridSetId: "EPSG:900913", zoomStart: 5, zoomStop: 6, format: "image/png", type: "seed" };
      const id = await seed(at, "a", { ...range, threadCount: 4 });
      for (let n = 0; n < 40; n += 4) await Promise.all([0, 1, 2, 3].map((i) => read(at, "a", n + i)));
      seeded = await ended(at, id);
    })(),
  );
  expect(seeded).toMatchObject({ outcome: "aborted" });
  expect(seeded?.reason).toMatch(/^the disk quota of layer a is full/);
  await expectExact(at);
});

test("seeds of single tiles in batches never pass the quota, and usage is below it when they have ended", async () => {
  const { at, upstream } = await start("metatile: [1, 1]");
  upstream.behaviour = renderNoise(SIDE, 64);
  await putQuota(at, { enabled: true, ...often, globalQuota: { value: 2, units: "MiB" } });
  const range = { gridSetId: "EPSG:900913", zoomStart: 5, zoomStop: 6, format: "image/png", type: "seed" };
  let seeded: Awaited<ReturnType<typeof ended>> | undefined;
  const most = await watchedWhile(
    at,
    2 * MIB,
    (async () => {
      seeded = await ended(at, await seed(at, "a", { ...range, threadCount: 4 }));
    })(),
  );
  expect(seeded).toMatchObject({ outcome: "aborted" });
  expect(most, "the seed ends for a full store, not for what others hold").toBeGreaterThan(2 * MIB - 20_000);
  await expectExact(at);
});

test("a lower limit holds from the answer on, also for a batch that has begun, and the clean-up begins at once", async () => {
  const { at, upstream } = await start("metatile: [1, 1]");
  upstream.behaviour = renderNoise(SIDE, 64);
  await putQuota(at, { enabled: true, ...often, globalQuota: { value: 100, units: "MiB" } });
  const range = { gridSetId: "EPSG:900913", zoomStart: 6, zoomStop: 7, format: "image/png", type: "seed" };
  const id = await seed(at, "a", { ...range, threadCount: 4 });
  await until("it stores in batches", async () => ((await usage(at)).bytesOnDisk > 2 * MIB ? true : undefined));
  await putQuota(at, { globalQuota: { value: 1, units: "MiB" } });
  let most = (await usage(at)).bytesOnDisk;
  await until("usage is below the limit, a day before the next look, and the job has ended", async () => {
    const { bytesOnDisk } = await usage(at);
    // As soon as the clean-up has made room, the seed may fill it.
    expect(bytesOnDisk, "nothing is stored above the limit").toBeLessThanOrEqual(Math.max(most, MIB));
    most = bytesOnDisk;
    const { state } = await job(at, id);
    return bytesOnDisk <= MIB && (state === "done" || state === "aborted") ? true : undefined;
  });
  await expectExact(at);
});

test("readers that disconnect and killed jobs leave no space reserved", async () => {
  const { at, upstream } = await start();
  const held = hold(upstream);
  held.side = SIDE;
  // Two metatiles: space that one writer fails to release is missing for the next writer.
  await putQuota(at, { enabled: true, ...often, globalQuota: { value: LIMIT, units: "B" } });
  const range = { gridSetId: "EPSG:900913", zoomStart: 6, zoomStop: 6, format: "image/png", type: "seed" };
  for (let round = 0; round < 3; round++) {
    const gone = new AbortController();
    const readers = Array.from({ length: 8 }, (_, i) =>
      read(at, "b", 20 + 8 * round + i, gone.signal).catch(() => null),
    );
    await seed(at, "a", { ...range, threadCount: 4 });
    await until("all wait for the upstream", async () => (held.waiting().length >= 12 ? true : undefined));
    gone.abort();
    held.release(10);
    await fetch(`${at.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
    await Promise.all(readers);
    held.release();
    await until("nothing is rendered any more", async () =>
      held.waiting().length === 0 && (await rows(at)).length === 0 && upstream.inFlight() === 0 ? true : undefined,
    );
  }
  held.isOpen = true;
  await until("what is read is stored", async () => {
    await read(at, "b", 100);
    return (await read(at, "b", 100)) === "HIT" ? true : undefined;
  });
  await until("what was on its way is stored or given up, and the ledger says so", async () => {
    const { tiles, bytesOnDisk } = scanStore(at.dataDir);
    const reported = await usage(at);
    expect(reported.bytesOnDisk).toBeLessThanOrEqual(LIMIT);
    return reported.total.tiles === tiles && reported.bytesOnDisk === bytesOnDisk ? true : undefined;
  });
});

test.skipIf(!canMount())("a hundred readers of a slow upstream leave the reserve of the disk free", async () => {
  disk = mountSmallDisk(48, 100_000);
  if (disk === undefined) throw new Error("the disk cannot be mounted");
  const { directory } = disk;
  const { at, upstream } = await start("", "eviction: { minFreeMiB: 30 }\n", directory);
  const held = hold(upstream);
  held.side = SIDE;
  const free = (): number => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };
  const readers = Array.from({ length: READERS }, (_, n) => read(at, "a", n));
  await until("all wait for the upstream", async () => (held.waiting().length === READERS ? true : undefined));
  held.isOpen = true;
  held.release();
  let [over, least] = [false, Number.POSITIVE_INFINITY];
  const stored = Promise.all(readers).then(() => rendered(at));
  const done = stored.finally(() => {
    over = true;
  });
  while (!over) {
    least = Math.min(least, free());
    await sleep(1);
  }
  await done;
  // The state database lies on the same disk, and is not held against the reserve.
  expect(least).toBeGreaterThan(30 * MIB - 3 * MIB);
  expect((await usage(at)).total.bytes, "what there is room for is stored").toBeGreaterThan(2 * MIB);
  expect((await usage(at)).enforcement.notStored).toBeGreaterThan(0);
  await expectExact(at);
});
