import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodePicture } from "../src/image/decode.ts";
import { encodePng } from "../src/image/png-encode.ts";
import { ended, seed, startServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { picture } from "../test/support/upstream/upstream.ts";
import { type BenchLength, cpuSeconds, median, memoryMiB } from "./support/figures.ts";
import { upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
const LENGTHS = {
  full: { rounds: 3, zoomStop: 7, metatiles: 300 },
  short: { rounds: 1, zoomStop: 5, metatiles: 40 },
} as const;

/** Measures the physical limit of seeding on this machine: only decode, cut, zlib level 3, write, rename. */
async function bareLoop(metatiles: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-bench-"));
  const bytes = picture(1024, 1024);
  const before = process.cpuUsage();
  for (let n = 0; n < metatiles; n++) {
    const raster = await decodePicture(bytes, { width: 1024, height: 1024 });
    if (n % 64 === 0) mkdirSync(join(directory, String(n >> 6)), { recursive: true });
    for (let i = 0; i < 16; i++) {
      const tile = encodePng(raster, { left: (i & 3) * 256, top: (i >> 2) * 256, width: 256, height: 256 });
      const target = join(directory, String(n >> 6), `${n}_${i}.png`);
      writeFileSync(`${target}.tmp`, tile);
      renameSync(`${target}.tmp`, target);
    }
  }
  const used = process.cpuUsage(before);
  rmSync(directory, { recursive: true, force: true });
  return (used.user + used.system) / 1e6;
}

export async function benchSeed(length: BenchLength): Promise<void> {
  const { rounds, zoomStop, metatiles } = LENGTHS[length];
  const upstream = await upstreamProcess();
  const ours: number[] = [];
  const limit: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const server = await startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]) });
    const before = cpuSeconds(server.pid);
    const t0 = performance.now();
    const id = await seed(server, LAYER, {
      gridSetId: "EPSG:900913",
      zoomStart: 0,
      zoomStop,
      format: "image/png",
      threadCount: 8,
    });
    const job = await ended(server, id, 600_000);
    const cpu = cpuSeconds(server.pid) - before;
    ours.push(cpu / job.tiles.stored);
    limit.push((await bareLoop(metatiles)) / (metatiles * 16));
    console.log(
      `  round ${round + 1}: ${(job.tiles.stored / ((performance.now() - t0) / 1000)).toFixed(0)} tiles/s with the bare loop's time, ${memoryMiB(server.pid).toFixed(0)} MiB while seeding`,
    );
    await server.close();
  }
  upstream.close();
  const [a, b] = [median(ours), median(limit)];
  console.log(
    `seed: ${(a * 1000).toFixed(3)} CPU s / 1000 tiles, bare loop ${(b * 1000).toFixed(3)}, ratio ${(a / b).toFixed(2)}`,
  );
}
