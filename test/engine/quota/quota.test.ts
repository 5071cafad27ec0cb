import { afterAll, afterEach, expect, test } from "vitest";
import { inFull, isFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  massTruncate,
  putQuota,
  rendered,
  rows,
  seed,
  startServer,
  type TestServer,
  type UsageJson,
  usage,
} from "../../support/server/server.ts";
import { killAll } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { CacheSimulation } from "../../support/stores/cache-simulation.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* The sizes count the content of the tiles: `diskQuota.count: content`. `disk.test.ts` counts blocks. */

const running = closedAfterEach();

const CONTENT = "diskQuota: { count: content }\n";
const MIB = 2 ** 20;
/** About 10 KiB of PNG a tile, 2.6 MiB a cell. */
const noise = renderNoise(58, 64);
const TILE = 10_450;
const CELL = 256 * TILE;

async function start(names: readonly string[], more = ""): Promise<TestServer> {
  running.upstream = await startUpstream();
  running.upstream.behaviour = noise;
  running.server = await startServer({
    configuration: smallTiles(
      running.upstream.url,
      names.map((name) => ({ name })),
      CONTENT + more,
    ),
  });
  return running.server;
}

/** The layers of the tests that share a server. No two tests use the same one: the use of its cells is remembered. */
const LAYERS =
  "hot lru seeded read once-seeded once-read first second small large free pinned floored other none".split(" ");
const PINS = `eviction:
  pins: [{ layer: pinned, gridSet: EPSG:900913, extent: [-20037508.34, 15028131.0, -15028131.3, 20037508.34], zoomStart: 7, zoomStop: 7 }]
  floors: [{ layer: floored, value: 2, units: MiB }]
`;
let begun: { readonly server: TestServer; readonly upstream: Upstream } | undefined;

/** The server of most tests. Each test finds it without a quota and without tiles. */
async function shared(): Promise<TestServer> {
  if (begun === undefined) {
    const upstream = await startUpstream();
    upstream.behaviour = noise;
    const layers = LAYERS.map((name) => ({ name }));
    begun = {
      upstream,
      server: await startServer({ configuration: smallTiles(upstream.url, layers, CONTENT + PINS) }),
    };
  }
  return begun.server;
}

afterEach(async () => {
  if (begun === undefined) return;
  const { server } = begun;
  await killAll(server);
  await putQuota(server, { enabled: false, globalExpirationPolicyName: "LFU", globalQuota: mib(500), layerQuotas: [] });
  for (const { layer, tiles } of (await usage(server)).layers) if (tiles > 0) await massTruncate(server, layer);
});
afterAll(async () => {
  await begun?.server.close();
  await begun?.upstream.close();
});

const everySecond = { cacheCleanUpFrequency: 1, cacheCleanUpUnits: "SECONDS" };
const mib = (value: number) => ({ value, units: "MiB" });

async function read(at: TestServer, layer: string, z: number, x: number, y: number): Promise<string | null> {
  const response = await fetch(`${at.url}/xyz/${layer}/${z}/${x}/${y}.png`);
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return response.headers.get("geowebcache-cache-result");
}

/** The four corner metatiles' worth of reads that fill a cell of 16 x 16 tiles: one read per metatile. */
async function fillCell(at: TestServer, layer: string, cellX: number, cellY: number): Promise<void> {
  for (let y = 0; y < 16; y += 4)
    for (let x = 0; x < 16; x += 4) await read(at, layer, 7, cellX * 16 + x, cellY * 16 + y);
  await rendered(at);
}

const world = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 7, format: "image/png", type: "seed" };

/** Polls usage while `work` runs and returns the largest value. */
async function mostWhile(at: TestServer, work: Promise<unknown>): Promise<number> {
  let most = 0;
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  while (!over) {
    most = Math.max(most, (await usage(at)).total.bytes);
    // Without a pause, the polling would use the core that the work needs.
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await done;
  return most;
}

test("readers of more than the quota: usage stays below the quota, the hot stay under LFU", async () => {
  const at = await shared();
  await putQuota(at, { enabled: true, ...everySecond, globalExpirationPolicyName: "LFU", globalQuota: mib(8) });
  const hot = [
    [1, 1],
    [2, 1],
  ] as const;
  await fillCell(at, "hot", 0, 0);
  for (let i = 0; i < 20; i++) for (const [x, y] of hot) await read(at, "hot", 7, x, y);
  const most = await mostWhile(
    at,
    (async () => {
      for (let cell = 1; cell < 8; cell++) {
        await fillCell(at, "hot", cell, 2);
        for (const [x, y] of hot) expect(await read(at, "hot", 7, x, y), `after cell ${cell}`).toBe("HIT");
      }
    })(),
  );
  expect(most).toBeGreaterThan(6 * MIB);
  expect(most).toBeLessThanOrEqual(8 * MIB);
  await until("a clean-up ends below the quota, and within a cell of it", async () => {
    const { bytes } = (await usage(at)).total;
    return bytes <= 8 * MIB && bytes >= 8 * MIB - 1.1 * CELL ? true : undefined;
  });
  await expectExact(at);
});

test("under LRU the tiles read last stay, those read first are evicted", async () => {
  const at = await shared();
  await putQuota(at, { enabled: true, ...everySecond, globalExpirationPolicyName: "LRU", globalQuota: mib(8) });
  for (let i = 0; i < 20; i++) await read(at, "lru", 7, 1, 1);
  for (let cell = 0; cell < 6; cell++) await fillCell(at, "lru", cell, 2);
  expect(await read(at, "lru", 7, 5 * 16 + 1, 33)).toBe("HIT");
  expect(await read(at, "lru", 7, 1, 1)).toBe("MISS");
  await expectExact(at);
});

test("a seed evicts unused tiles but no used ones, and ends with the reason", async () => {
  const at = await shared();
  await putQuota(at, { enabled: true, ...everySecond, globalQuota: mib(8) });
  await fillCell(at, "read", 0, 0);
  await fillCell(at, "read", 3, 3);
  for (let i = 0; i < 10; i++) await read(at, "read", 7, 1, 1);
  let job: Awaited<ReturnType<typeof ended>> | undefined;
  const most = await mostWhile(
    at,
    (async () => {
      job = await ended(at, await seed(at, "seeded", { ...world, threadCount: 2 }));
    })(),
  );
  expect(job).toMatchObject({ state: "aborted", outcome: "aborted" });
  expect(job?.reason).toMatch(/^the disk quota of all layers is full/);
  expect(job?.tiles.stored).toBeGreaterThan((3 * MIB) / TILE);
  expect(await rows(at)).toEqual([]);
  const after = await usage(at);
  expect(after.total.bytes).toBeLessThanOrEqual(8 * MIB);
  expect(most).toBeLessThanOrEqual(8 * MIB);
  expect(after.layers.find((l) => l.layer === "read")?.tiles, "one of the two cells has gone").toBe(256);
  await expectExact(at);
  expect(await read(at, "read", 7, 1, 1)).toBe("HIT");
  expect(await read(at, "read", 7, 49, 49)).toBe("MISS");
});

test("tiles that were read once each give way to a seed, those that were read again do not", async () => {
  const at = await shared();
  await putQuota(at, { enabled: true, ...everySecond, globalQuota: mib(8) });
  for (const cellX of [0, 2, 4])
    for (let y = 0; y < 16; y++) for (let x = 0; x < 16; x++) await read(at, "once-read", 7, cellX * 16 + x, y);
  for (let i = 0; i < 5; i++) await read(at, "once-read", 7, 2 * 16 + 3, 3);
  const job = await ended(at, await seed(at, "once-seeded", { ...world, zoomStop: 4 }));
  expect([job.outcome, job.tiles.stored]).toEqual(["done", 341]);
  expect(await read(at, "once-read", 7, 2 * 16 + 3, 3)).toBe("HIT");
  expect((await usage(at)).layers.find((l) => l.layer === "once-seeded")?.tiles).toBe(341);
  expect((await usage(at)).layers.find((l) => l.layer === "once-read")?.tiles).toBeLessThan(768);
  await expectExact(at);
});

test("a seed that fits takes the place of one before it, whole", async () => {
  const at = await shared();
  await putQuota(at, { enabled: true, ...everySecond, globalQuota: mib(6) });
  expect((await ended(at, await seed(at, "first", { ...world, zoomStop: 4 }))).outcome).toBe("done");
  const second = await ended(at, await seed(at, "second", { ...world, zoomStop: 4 }));
  expect([second.outcome, second.tiles.stored]).toEqual(["done", 341]);
  const after = await usage(at);
  expect(after.layers.find((l) => l.layer === "second")?.tiles).toBe(341);
  expect(after.total.bytes).toBeLessThanOrEqual(6 * MIB);
  await expectExact(at);
});

test("layers with their own quota lose only their own, and the others give way to the global quota first", async () => {
  const at = await shared();
  const names = ["small", "large", "free"];
  const layersOf = ({ layers }: UsageJson) => layers.filter(({ layer }) => names.includes(layer));
  for (const layer of names) {
    await fillCell(at, layer, 0, 0);
    await fillCell(at, layer, 1, 0);
  }
  const before = await usage(at);
  expect(layersOf(before).map((l) => l.tiles)).toEqual([512, 512, 512]);
  await putQuota(at, {
    enabled: true,
    ...everySecond,
    globalQuota: mib(500),
    layerQuotas: [
      { layer: "small", expirationPolicyName: "LRU", quota: mib(4) },
      { layer: "large", expirationPolicyName: "LFU", quota: mib(20) },
    ],
  });
  await until("the layer over its quota is below it", async () =>
    layersOf(await usage(at))[0]?.tiles === 256 ? true : undefined,
  );
  expect(layersOf(await usage(at)).map((l) => [l.tiles, l.quota])).toEqual([
    [256, 4 * MIB],
    [512, 20 * MIB],
    [512, null],
  ]);
  expect(await read(at, "small", 7, 1, 1), "the older of the two cells").toBe("MISS");
  await putQuota(at, { globalQuota: mib(10) });
  await until("the total is below the global quota", async () =>
    (await usage(at)).total.bytes <= 10 * MIB ? true : undefined,
  );
  const after = await usage(at);
  expect(layersOf(after)[1]?.tiles, "a layer with its own quota, while others can give").toBe(512);
  expect(layersOf(after)[2]?.tiles).toBeLessThan(512);
  await expectExact(at);
});

test("pins stay and floors hold, though they are the coldest", async () => {
  const at = await shared();
  await fillCell(at, "pinned", 0, 0);
  await fillCell(at, "floored", 0, 0);
  await fillCell(at, "floored", 2, 2);
  for (let cell = 1; cell < 5; cell++) await fillCell(at, "other", cell, 2);
  await putQuota(at, { enabled: true, ...everySecond, globalExpirationPolicyName: "LRU", globalQuota: mib(6) });
  await until("the total is below the quota", async () => {
    const now = await usage(at);
    return now.total.bytes <= 6 * MIB ? true : undefined;
  });
  const after = await usage(at);
  expect(after.layers.find((l) => l.layer === "pinned")?.tiles).toBe(256);
  expect(after.layers.find((l) => l.layer === "floored")?.tiles, "one cell lay above the floor").toBe(256);
  await expectExact(at);
});

test("a clean-up begins above the high water mark and ends at the low one", async () => {
  const at = await start(["a"], "eviction: { highWaterPercent: 80, lowWaterPercent: 60 }\n");
  await putQuota(at, { enabled: true, ...everySecond, globalQuota: mib(9) });
  await fillCell(at, "a", 0, 0);
  await fillCell(at, "a", 1, 0);
  await fillCell(at, "a", 2, 0);
  await until("what is above 80 % goes down to 60 %", async () =>
    (await usage(at)).total.bytes <= 0.6 * 9 * MIB ? true : undefined,
  );
  expect((await usage(at)).total.tiles, "one cell of three").toBe(512);
  await expectExact(at);
});

test("enabled, frequency and limit apply from the PUT on, and nothing is evicted while it is off", async () => {
  const at = await start(["a"]);
  await fillCell(at, "a", 0, 0);
  await fillCell(at, "a", 1, 0);
  await putQuota(at, { enabled: false, ...everySecond, globalQuota: mib(3) });
  await fillCell(at, "a", 2, 0);
  expect((await usage(at)).total.tiles, "off").toBe(768);
  await putQuota(at, { enabled: true, cacheCleanUpFrequency: 1, cacheCleanUpUnits: "DAYS" });
  await until("a clean-up that is not put off until the next look, in a day", async () =>
    (await usage(at)).total.bytes <= 3 * MIB ? true : undefined,
  );
  await expectExact(at);
  const restarted = await at.restart("SIGKILL");
  running.server = restarted;
  expect((await usage(restarted)).quota).toBe(3 * MIB);
  await fillCell(restarted, "a", 5, 5);
  expect((await usage(restarted)).total.bytes).toBeLessThanOrEqual(3 * MIB);
  await expectExact(restarted);
});

test("no quota at all stores nothing and serves everything", async () => {
  const at = await shared();
  const before = await usage(at);
  await putQuota(at, { enabled: true, ...everySecond, globalQuota: { value: 0, units: "B" } });
  for (let i = 0; i < 3; i++) expect(await read(at, "none", 7, i, i)).toBe("MISS");
  const after = await usage(at);
  expect(after.total).toEqual({ tiles: 0, bytes: 0 });
  expect(after.enforcement.notStored).toBeGreaterThan(before.enforcement.notStored);
  const job = await ended(at, await seed(at, "none", { ...world, zoomStop: 2 }));
  expect(job).toMatchObject({ state: "aborted", tiles: { stored: 0 } });
  expect(job.reason).toContain("quota");
});

test("kills in the middle of evicting leave usage equal to the store", async () => {
  let at = await start(["a", "b"]);
  await putQuota(at, { enabled: true, ...everySecond, globalQuota: mib(6) });
  for (let round = 0; round < inFull("rounds", 4, 2); round++) {
    const id = await seed(at, round % 2 === 0 ? "a" : "b", { ...world, zoomStart: 5, zoomStop: 5, threadCount: 4 });
    const stored = Math.floor(150 + 200 * round);
    await until("some are stored", async () => {
      const all = await rows(at);
      return all.length === 0 || all.reduce((sum, row) => sum + row[0], 0) > stored ? true : undefined;
    });
    at = await at.restart("SIGKILL");
    running.server = at;
    // The job continues: the store changes until the job is stopped.
    await fetch(`${at.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
    await until(`job ${id} has ended`, async () => ((await rows(at)).length === 0 ? true : undefined));
    await expectExact(at);
  }
});

test.skipIf(!isFull).each(["LFU", "LRU"] as const)(
  "the hit ratio under %s is that of the documented policy",
  async (policy) => {
    running.upstream = await startUpstream();
    running.upstream.behaviour = renderNoise(12, 64);
    const at = await startServer({
      configuration: smallTiles(running.upstream.url, [{ name: "a", extra: "metatile: [1, 1]" }], CONTENT),
    });
    running.server = at;
    // 24 cells in three rows of zoom 7, the quota for two of them: half of the reads that miss make room first.
    const [cells, tiles] = [24, 24 * 256];
    const one = await fetch(`${at.url}/xyz/a/7/127/127.png`);
    const bytes = (await one.arrayBuffer()).byteLength;
    const limit = 2 * 256 * bytes;
    await putQuota(at, {
      enabled: true,
      cacheCleanUpFrequency: 1,
      cacheCleanUpUnits: "DAYS",
      globalExpirationPolicyName: policy,
      globalQuota: { value: limit, units: "B" },
    });
    const simulation = new CacheSimulation(limit, policy, {
      metatile: ({ x, y, z }) => ({ z, minX: x, minY: y, maxX: x, maxY: y }),
      bytes: () => bytes,
    });
    const tileSet = { layer: "a", gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
    const sum = Array.from({ length: tiles }, (_, i) => 1 / (i + 1)).reduce((a, b) => a + b);
    let state = 1;
    /** A rank by Zipf's law with exponent 1; the first ranks lie side by side. */
    const zipf = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      let rest = (state / 2 ** 32) * sum;
      for (let rank = 0; rank < tiles; rank++) {
        rest -= 1 / (rank + 1);
        if (rest <= 0) return rank;
      }
      return tiles - 1;
    };
    const placeOf = (rank: number): [number, number] => {
      const cell = Math.floor(rank / 256) % cells;
      const [x, y] = [rank % 16, Math.floor((rank % 256) / 16)];
      return [(cell % 8) * 16 + x, Math.floor(cell / 8) * 16 + y];
    };
    /** Converts y from the bottom, as in the store, to y from the top, as in XYZ. */
    const flipped = (y: number): number => 127 - y;
    const reads = 2_500;
    let hits = 0;
    for (let n = 0; n < reads; n++) {
      const [x, y] = placeOf(zipf());
      if ((await read(at, "a", 7, x, flipped(y))) === "HIT") hits++;
      simulation.read({ tileSet, x, y, z: 7 }, Date.now());
    }
    const [got, simulated] = [(100 * hits) / reads, (100 * simulation.hits) / reads];
    expect(Math.abs(got - simulated), `hits ${got} %, simulated ${simulated} %`).toBeLessThan(3);
    expect((await usage(at)).total.bytes).toBeLessThanOrEqual(limit);
    if (policy === "LFU") {
      const misses: number[] = [];
      for (let rank = 0; rank < 100; rank++) {
        const [x, y] = placeOf(rank);
        if ((await read(at, "a", 7, x, flipped(y))) !== "HIT") misses.push(rank);
      }
      expect(misses, "the hundred hottest").toEqual([]);
    }
    await expectExact(at);
  },
  120_000,
);
