import { expect, test } from "vitest";
import { reload } from "../../support/server/reload.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, putQuota, rendered, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

/* Tiles of some 300 bytes, each of which takes a block of the disk: a quota counts the blocks. */

const running = closedAfterEach();
const KIB = 1024;
const QUOTA = { value: 512, units: "KiB" };
const LIMIT = 512 * KIB;
const range = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 5, format: "image/png", type: "seed" };

const configurationOf = (url: string, more = ""): string =>
  smallTiles(url, [{ name: "a", extra: "metatile: [1, 1]" }, { name: "b" }], more);

async function start(more = ""): Promise<TestServer> {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderNoise(4, 64);
  running.server = await startServer({ configuration: configurationOf(running.upstream.url, more) });
  return running.server;
}

async function read(at: TestServer, layer: string, z: number, x: number, y: number): Promise<void> {
  const response = await fetch(`${at.url}/xyz/${layer}/${z}/${x}/${y}.png`);
  await response.arrayBuffer();
  expect(response.status).toBe(200);
}

/** Measures usage and the files of the store while `work` runs. Returns the most blocks that usage reported. */
async function mostBlocksWhile(at: TestServer, work: Promise<unknown>): Promise<number> {
  let [isOver, most] = [false, 0];
  const done = work.finally(() => {
    isOver = true;
  });
  done.catch(() => undefined);
  while (!isOver) {
    const { bytesOnDisk } = await usage(at);
    most = Math.max(most, bytesOnDisk);
    // Without a pause, the polling would use the core that the work needs.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await done;
  return Math.max(most, (await usage(at)).bytesOnDisk);
}

test("the blocks of small tiles never pass the quota, of a seed of single tiles and of readers of metatiles", async () => {
  const at = await start();
  await putQuota(at, { enabled: true, globalQuota: QUOTA });
  let seeded: Awaited<ReturnType<typeof ended>> | undefined;
  const bySeed = await mostBlocksWhile(
    at,
    (async () => {
      seeded = await ended(at, await seed(at, "a", { ...range, threadCount: 4 }));
    })(),
  );
  expect(seeded).toMatchObject({ outcome: "aborted" });
  expect(seeded?.reason).toMatch(/^the disk quota of all layers is full/);
  expect(bySeed).toBe(LIMIT);
  await expectExact(at);
  const after = await usage(at);
  expect(after.total.bytes, "a fraction of the quota, if the content were counted").toBeLessThan(LIMIT / 4);
  const byReaders = await mostBlocksWhile(
    at,
    (async () => {
      for (let n = 0; n < 24; n++)
        await Promise.all([0, 1, 2, 3].map((i) => read(at, "b", 7, (4 * (4 * n + i)) % 128, 4 * Math.floor(n / 8))));
      await rendered(at);
    })(),
  );
  expect(byReaders).toBeLessThanOrEqual(LIMIT);
  expect((await usage(at)).enforcement.evictedTiles).toBeGreaterThan(0);
  expect(scanStore(at.dataDir).bytesOnDisk).toBeLessThanOrEqual(LIMIT);
  await expectExact(at);
});

test("a reload that counts content instead makes room, one that counts blocks again evicts", async () => {
  const at = await start("diskQuota: { count: content }\n");
  const url = running.upstream?.url ?? "";
  await putQuota(at, { enabled: true, globalQuota: QUOTA });
  expect((await ended(at, await seed(at, "a", { ...range, zoomStop: 4 }))).outcome).toBe("done");
  const before = await usage(at);
  expect(before).toMatchObject({ quotaCount: "content", bytesOnDisk: 341 * 4 * KIB });
  await reload(at, configurationOf(url));
  const after = await until("the blocks are below the quota", async () => {
    const now = await usage(at);
    return now.bytesOnDisk <= LIMIT ? now : undefined;
  });
  expect(after.quotaCount).toBe("allocated");
  expect(after.bytesOnDisk, "no further than one cell below").toBeGreaterThan(LIMIT - 256 * 4 * KIB);
  await expectExact(at);
  await reload(at, configurationOf(url, "diskQuota: { count: content }\n"));
  expect((await ended(at, await seed(at, "a", { ...range, zoomStop: 4 }))).outcome).toBe("done");
  expect((await usage(at)).total.tiles).toBe(341);
  await expectExact(at);
});

test("layer quotas, floors and the classic document: blocks are counted, and the document does not say so", async () => {
  const at = await start("eviction: { floors: [{ layer: b, value: 340, units: KiB }] }\n");
  await ended(at, await seed(at, "b", { ...range, zoomStop: 3 }));
  await putQuota(at, {
    enabled: true,
    globalQuota: { value: 500, units: "KiB" },
    layerQuotas: [{ layer: "a", expirationPolicyName: "LRU", quota: { value: 100, units: "KiB" } }],
  });
  const job = await ended(at, await seed(at, "a", { ...range, zoomStart: 3, zoomStop: 3 }));
  expect(job.reason).toMatch(/^the disk quota of layer a is full/);
  const { layers } = await usage(at);
  expect(layers.map(({ layer, bytesOnDisk, tiles }) => [layer, bytesOnDisk, tiles])).toEqual([
    ["a", 100 * KIB, 25],
    ["b", 85 * 4 * KIB, 85],
  ]);
  await putQuota(at, { globalQuota: { value: 250, units: "KiB" } });
  await until("what may go has gone, and the floor stays", async () =>
    (await usage(at)).layers[0]?.tiles === 0 ? true : undefined,
  );
  expect((await usage(at)).layers[1]?.tiles).toBe(85);
  await expectExact(at);
  const document = await (await fetch(`${at.url}/rest/diskquota.json`)).text();
  expect(document).not.toContain("count");
});

test("usage by blocks is exact after a kill in the middle of a seed", async () => {
  const at = await start();
  await seed(at, "a", { ...range, threadCount: 4 });
  await until("some tiles are stored", async () => ((await usage(at)).total.tiles > 50 ? true : undefined));
  const restarted = await at.restart("SIGKILL");
  running.server = restarted;
  await fetch(`${restarted.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  await expectExact(restarted);
});
