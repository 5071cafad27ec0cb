import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BLOCK_SIDE } from "../src/layer/tile-set.ts";
import { startServer, type TestServer, usage } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { FULL_COLUMNS, FULL_ZOOM, fillLedger, LAYER, SCATTERED_ZOOM, WRITTEN_WITHIN_MS } from "./large-ledger.ts";
import { cpuSeconds, quantile } from "./support/figures.ts";

const HALF_WORLD = 20_037_508.34;
const REQUESTS = 60;
/** Requests before those that are measured: V8 compiles. */
const WARM_UP = 20;

/** The sides of the boxes in tiles: a screen at the level of the map, at finer levels, and the most tiles and cells. */
const SIDES = [8, 64, 256, 1024, 4096];
const LEVELS = [
  { name: "full", z: FULL_ZOOM, filled: FULL_COLUMNS * BLOCK_SIDE },
  { name: "scattered", z: SCATTERED_ZOOM, filled: 60_000 },
];

/** Measures the coverage of boxes in a tile set of twenty million tiles, without stale tiles and with them. */
export async function benchCoverage(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-coverage-"));
  fillLedger(dataDir);
  for (const [title, extra] of [
    ["tiles never expire", ""],
    ["half of the tiles are stale", `expireCacheSeconds: ${WRITTEN_WITHIN_MS / 2_000}`],
  ] as const) {
    const layer = { name: LAYER, extra };
    const server = await startServer({ configuration: wmsConfiguration("http://127.0.0.1:9/wms", [layer]), dataDir });
    await usage(server);
    console.log(`  ${title}:`);
    for (const level of LEVELS)
      for (const side of SIDES) {
        const squares = side ** 2 <= 65_536 ? "tiles" : "cells";
        const figures = await measure(server, (n) => `coverage?${boxQuery(level, side, n)}`, REQUESTS);
        console.log(`    ${side} x ${side} ${level.name} tiles in squares of ${squares}: ${figures}`);
      }
    console.log(`    levels: ${await measure(server, () => `coverage/levels?layer=${LAYER}`, 3)}`);
    await server.kill("SIGTERM");
  }
  rmSync(dataDir, { recursive: true });
}

/**
 * Returns the query of box number `n`. Boxes lie in the filled square of the level, each at another place if it can.
 */
function boxQuery({ z, filled }: (typeof LEVELS)[number], side: number, n: number): string {
  const tile = (2 * HALF_WORLD) / 2 ** z;
  const room = Math.max(1, filled - side);
  const [x, y] = [(n * 7_919) % room, (n * 6_101) % room];
  const at = (tiles: number): number => tiles * tile - HALF_WORLD;
  const inner = tile / 4;
  const bbox = [at(x) + inner, at(y) + inner, at(x + side) - inner, at(y + side) - inner].join(",");
  return `layer=${LAYER}&z=${z}&bbox=${bbox}`;
}

/** Returns the times of requests, and the CPU time of the server, which does not depend on other processes. */
async function measure(server: TestServer, path: (n: number) => string, requests: number): Promise<string> {
  for (let n = 0; n < WARM_UP && requests === REQUESTS; n++) await read(server, path(n));
  const cpuBefore = cpuSeconds(server.pid);
  const times: number[] = [];
  for (let n = 0; n < requests; n++) times.push(await read(server, path(WARM_UP + n)));
  const cpu = ((cpuSeconds(server.pid) - cpuBefore) * 1000) / requests;
  return `p50 ${quantile(times, 0.5).toFixed(1)}, p95 ${quantile(times, 0.95).toFixed(1)} ms; ${cpu.toFixed(1)} ms CPU`;
}

async function read(server: TestServer, path: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${server.url}/api/v1/${path}`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${text}`);
  return performance.now() - began;
}
