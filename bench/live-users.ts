import { ended, job, seed, startServer, type TestServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { median, pause, quantile } from "./support/figures.ts";
import { FixedRateReader } from "./support/fixed-rate-reader.ts";
import { bareServer, upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
const ROUNDS = 3;
const READS_PER_SECOND = 100;
const SECONDS = 8;
const UPSTREAMS = [
  { delayMs: 0, apart: false },
  { delayMs: 50, apart: false },
  { delayMs: 50, apart: true },
] as const;
const SEED = { gridSetId: "EPSG:900913", format: "image/png" };

/**
 * Measures the latency of hits during a seed of 16 threads, against the latency without it. A bare server measured at
 * the same time shares the processors with the renderers too, so only the excess over its ratio is due to Nuthatch. An
 * upstream on the same two cores takes CPU time from both; an upstream on separate processors does not.
 */
export async function benchLiveUsers(): Promise<void> {
  const bare = await bareServer({}, Buffer.alloc(300));
  for (const { delayMs, apart } of UPSTREAMS) {
    const upstream = await upstreamProcess("map", { apart });
    await upstream.delay(delayMs);
    const server = await startServer({
      configuration: wmsConfiguration(upstream.url, [{ name: LAYER, connections: 16 }]),
    });
    await ended(server, await seed(server, LAYER, { ...SEED, zoomStop: 4, threadCount: 4 }), 600_000);
    let requested = 0;
    const hit = (): string => `/xyz/${LAYER}/4/${requested % 10}/${Math.floor(requested++ / 10) % 10}.png`;
    const reader = new FixedRateReader(
      new Map([
        ["hits", () => ({ port: server.port, path: hit() })],
        ["bare", () => ({ port: bare.port, path: "/" })],
      ]),
      READS_PER_SECOND,
    );
    await p95Of(reader);
    const ratios: { hits: number; bare: number }[] = [];
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const idle = await p95Of(reader);
      const id = await seed(server, LAYER, { ...SEED, zoomStart: 10, zoomStop: 11, threadCount: 16 });
      await pause(3_000);
      const before = await storedBy(server, id);
      const busy = await p95Of(reader);
      rates.push(((await storedBy(server, id)) - before) / SECONDS);
      await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
      await pause(2_000);
      ratios.push({ hits: busy.hits / idle.hits, bare: busy.bare / idle.bare });
    }
    const beyond = ratios.map(({ hits, bare: other }) => hits / other);
    const where = apart ? "on processors of its own" : "beside it";
    console.log(
      `p95 of hits beside a seed (upstream of ${delayMs} ms ${where}, ${median(rates).toFixed(0)} tiles/s) against idle: ${median(ratios.map((r) => r.hits)).toFixed(2)}; a bare server's ${median(ratios.map((r) => r.bare)).toFixed(2)}; beyond it ${median(beyond).toFixed(2)}`,
    );
    reader.close();
    await server.close();
    upstream.close();
  }
  bare.close();
}

const storedBy = async (server: TestServer, id: number): Promise<number> => (await job(server, id)).tiles.stored;

async function p95Of(reader: FixedRateReader): Promise<{ hits: number; bare: number }> {
  reader.take();
  await pause(SECONDS * 1000);
  const { byTarget } = reader.take();
  const p95 = (target: string): number => quantile(byTarget.get(target)?.ms ?? [], 0.95);
  return { hits: p95("hits"), bare: p95("bare") };
}
