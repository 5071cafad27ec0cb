import { ended, job, seed, startServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { until } from "../test/support/until.ts";
import { memoryMiB, pause } from "./support/figures.ts";
import { upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
const WORLD = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png", type: "seed" };

/** Seeds the whole world to zoom 30 for 75 seconds: memory must not depend on the size of a job. */
export async function benchWorld(): Promise<void> {
  const upstream = await upstreamProcess();
  const server = await startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]) });
  const before = memoryMiB(server.pid);
  const t0 = performance.now();
  const id = await seed(server, LAYER, { ...WORLD, zoomStop: 30, threadCount: 8 });
  const answeredMs = performance.now() - t0;
  const text = await (await fetch(`${server.url}/rest/seed.json`)).text();
  const total = [...text.matchAll(/\[\d+,(\d+),/g)].reduce((sum, [, n]) => sum + BigInt(n ?? "0"), 0n);
  const samples: { seconds: number; mib: number }[] = [];
  while (performance.now() - t0 < 75_000) {
    await pause(500);
    samples.push({ seconds: (performance.now() - t0) / 1000, mib: memoryMiB(server.pid) });
  }
  const { stored } = (await job(server, id)).tiles;
  const t1 = performance.now();
  await (await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" })).arrayBuffer();
  const killedMs = performance.now() - t1;
  await server.close();
  upstream.close();
  const mean = (from: number, to: number): string => {
    const some = samples.filter(({ seconds }) => seconds >= from && seconds < to);
    return (some.reduce((sum, { mib }) => sum + mib, 0) / some.length).toFixed(0);
  };
  console.log(
    `world to zoom 30: ${total} tiles accepted in ${answeredMs.toFixed(1)} ms, killed in ${killedMs.toFixed(1)} ms after ${stored} tiles`,
  );
  console.log(
    `  memory: ${before.toFixed(0)} MiB before, mean of seconds 5-15 ${mean(5, 15)}, 35-45 ${mean(35, 45)}, 65-75 ${mean(65, 75)} MiB; slope from second 30 on ${slopeMiBPerMinute(samples.filter((s) => s.seconds >= 30)).toFixed(1)} MiB a minute`,
  );
}

/** Returns the slope of the memory over time, by least squares. */
function slopeMiBPerMinute(samples: readonly { seconds: number; mib: number }[]): number {
  const n = samples.length;
  const meanX = samples.reduce((sum, s) => sum + s.seconds, 0) / n;
  const meanY = samples.reduce((sum, s) => sum + s.mib, 0) / n;
  const over = samples.reduce((sum, s) => sum + (s.seconds - meanX) * (s.mib - meanY), 0);
  const under = samples.reduce((sum, s) => sum + (s.seconds - meanX) ** 2, 0);
  return (60 * over) / under;
}

/** Measures memory before the first render, during a seed, and two minutes after the last render. */
export async function benchMemory(): Promise<void> {
  const upstream = await upstreamProcess();
  const server = await startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]) });
  await pause(2_000);
  const before = memoryMiB(server.pid);
  let most = 0;
  const id = await seed(server, LAYER, { ...WORLD, zoomStop: 7, threadCount: 8 });
  await until(
    "the seed has ended",
    async () => {
      most = Math.max(most, memoryMiB(server.pid));
      return (await job(server, id)).state === "done" ? true : undefined;
    },
    600_000,
    server,
  );
  await ended(server, id);
  const t0 = performance.now();
  const after: string[] = [];
  for (const seconds of [10, 55, 75, 120]) {
    await pause(seconds * 1000 - (performance.now() - t0));
    after.push(`${seconds} s ${memoryMiB(server.pid).toFixed(0)}`);
  }
  await server.close();
  upstream.close();
  console.log(
    `memory: ${before.toFixed(0)} MiB before the first render, ${most.toFixed(0)} at most while seeding; after the last render: ${after.join(", ")} MiB`,
  );
}
