import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { BLOCK_SIDE, CELL_SIDE, CELLS_PER_SIDE } from "../src/layer/tile-set.ts";
import { Ledger } from "../src/ledger/ledger.ts";
import { ledgerMigrations } from "../src/ledger/ledger-migrations.ts";
import { collectGarbage } from "../src/lib/collect-garbage.ts";
import { openDatabase } from "../src/state/database.ts";
import { zoomDirectory } from "../src/store/file/file-layout.ts";
import { createFileStore } from "../src/store/file/file-store.ts";
import { putQuota, startServer, type TestServer, until, usage } from "../test/support/server.ts";
import { wmsConfiguration } from "../test/support/wms-configuration.ts";
import { median, memoryMiB, pause } from "./figures.ts";

const LAYER = "a";
const TILES = 20_000_000;
const PER_FULL_BLOCK = BLOCK_SIDE * BLOCK_SIDE;
const PER_SCATTERED_BLOCK = 20;
const BYTES = 10_000;
const FULL_ZOOM = 13;
const SCATTERED_ZOOM = 18;
const GRID_SET = "EPSG:900913";

/** Writes a ledger of twenty million tiles without their files: half in full blocks, half with twenty per block. */
async function fill(dataDir: string): Promise<{ blocks: number; seconds: number }> {
  const began = performance.now();
  const root = join(dataDir, "tiles");
  const store = createFileStore({ root, fsync: false, instance: "bench" });
  for (const z of [FULL_ZOOM, SCATTERED_ZOOM])
    mkdirSync(join(root, LAYER, zoomDirectory(GRID_SET, z, "")), { recursive: true });
  const db = openDatabase(join(dataDir, "state.db"));
  db.migrate([ledgerMigrations]);
  let clock = Date.now() - 30 * 86_400_000;
  const ledger = new Ledger({ db, store, boot: undefined, now: () => clock, monotonicNow: () => clock });
  const tileSet = { layer: LAYER, gridSet: GRID_SET, format: "image/png", parametersId: "" };
  ledger.caches.adopted(tileSet);
  let random = 1;
  const next = (n: number): number => {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    return Math.floor((random / 2 ** 32) * n);
  };
  let blocks = 0;
  const block = (z: number, n: number, columns: number, tiles: Iterable<readonly [number, number]>): void => {
    const [x0, y0] = [(n % columns) * BLOCK_SIDE, Math.floor(n / columns) * BLOCK_SIDE];
    clock = Date.now() - next(30 * 86_400_000);
    for (const [x, y] of tiles)
      ledger.writers.wrote(tileSet, { x: x0 + x, y: y0 + y, z, bytes: BYTES, replaced: undefined });
    if (++blocks % 500 === 0) ledger.flush();
  };
  const all = Array.from({ length: PER_FULL_BLOCK }, (_, i) => [i % BLOCK_SIDE, Math.floor(i / BLOCK_SIDE)] as const);
  for (let n = 0; n * PER_FULL_BLOCK < TILES / 2; n++) block(FULL_ZOOM, n, 64, all);
  for (let n = 0; n * PER_SCATTERED_BLOCK < TILES / 2; n++) {
    const cells = new Set<number>();
    while (cells.size < PER_SCATTERED_BLOCK) cells.add(next(CELLS_PER_SIDE ** 2));
    block(
      SCATTERED_ZOOM,
      n,
      1024,
      [...cells].map((cell) => [
        (cell % CELLS_PER_SIDE) * CELL_SIDE + next(CELL_SIDE),
        Math.floor(cell / CELLS_PER_SIDE) * CELL_SIDE + next(CELL_SIDE),
      ]),
    );
  }
  ledger.flush();
  // The next owner takes what is there for what the ledger says.
  await store.noteAlive();
  db.close();
  return { blocks, seconds: (performance.now() - began) / 1000 };
}

/** Returns the median time of the coverage of a square of tiles, each time of other tiles, ms. */
async function coverageMs(server: TestServer, side: number): Promise<string> {
  const half = 20_037_508.34;
  const tile = (2 * half) / 2 ** FULL_ZOOM;
  const times: number[] = [];
  for (let n = 0; n < 2 ** FULL_ZOOM / side; n++) {
    const minX = n * side * tile - half + 1;
    const bbox = [minX, -half + 1, minX + side * tile - 2, side * tile - half - 2].join(",");
    const began = performance.now();
    const response = await fetch(`${server.url}/api/v1/coverage?layer=${LAYER}&z=${FULL_ZOOM}&bbox=${bbox}`);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`coverage: ${response.status}`);
    times.push(performance.now() - began);
  }
  return median(times).toFixed(1);
}

/** Measures start, memory, coverage and a clean-up pass with twenty million tiles. */
export async function benchLedger(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-ledger-"));
  const { blocks, seconds } = await fill(dataDir);
  // The database stays locked until its statements have been garbage-collected.
  collectGarbage();
  await turn();
  console.log(`20 million tiles in ${blocks} blocks, made in ${seconds.toFixed(0)} s`);
  const configuration = wmsConfiguration("http://127.0.0.1:9/wms", [{ name: LAYER }]);
  const starts: number[] = [];
  let server = await startServer({ configuration, dataDir });
  for (let round = 0; round < 5; round++) {
    await server.kill("SIGKILL");
    const began = performance.now();
    server = await startServer({ configuration, dataDir });
    while ((await fetch(`${server.url}/readyz`)).status !== 200);
    await usage(server);
    starts.push(performance.now() - began);
  }
  await pause(2_000);
  const memory = memoryMiB(server.pid);
  const before = await usage(server);
  let most = memory;
  const cleanUp = async (name: string, share: number, policy: string): Promise<void> => {
    const limit = Math.floor(before.total.bytes * share);
    const from = (await usage(server)).total.tiles;
    const runs = (await usage(server)).enforcement.cleanUps;
    await putQuota(server, {
      enabled: true,
      cacheCleanUpFrequency: 1,
      cacheCleanUpUnits: "SECONDS",
      globalExpirationPolicyName: policy,
      globalQuota: { value: limit, units: "B" },
    });
    await until("the clean-up has begun", async () =>
      (await usage(server)).enforcement.cleanUps > runs ? true : undefined,
    );
    const began = performance.now();
    await until(
      "the clean-up has ended",
      async () => {
        most = Math.max(most, memoryMiB(server.pid));
        return (await usage(server)).total.bytes <= limit ? true : undefined;
      },
      600_000,
    );
    const evicted = from - (await usage(server)).total.tiles;
    console.log(`  ${name} of ${evicted} tiles: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  };
  console.log(`  start to ready and counted: ${median(starts).toFixed(0)} ms after a kill`);
  for (const side of [256, 2048])
    console.log(`  coverage of ${side} x ${side} tiles: ${await coverageMs(server, side)} ms`);
  await cleanUp("LFU clean-up", 0.995, "LFU");
  await cleanUp("LRU clean-up", 0.99, "LRU");
  console.log(`  memory: ${memory.toFixed(0)} MiB after the start, ${most.toFixed(0)} MiB at most while cleaning up`);
  await server.close();
}
