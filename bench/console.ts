import { launchChromium } from "../test/clients/chromium.ts";
import { ended, seed, startServer, type TestServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { median, pause, quantile } from "./support/figures.ts";
import { FixedRateReader } from "./support/fixed-rate-reader.ts";
import { upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
const ROUNDS = 3;
const READS_PER_SECOND = 100;
const SECONDS = 10;
const IDLE_SECONDS = 60;
const SEED = { gridSetId: "EPSG:900913", format: "image/png", threadCount: 4 };

/** A page of the console in Chromium, and its CPU time and traffic. */
interface WatchedPage {
  show(address: string): Promise<void>;
  /** Returns the CPU time of the page's process so far, in seconds. */
  cpuSeconds(): Promise<number>;
  /** Returns the bytes that the page has received so far. */
  received(): number;
  close(): Promise<void>;
}

/**
 * Measures the cost of a console that shows a seed: the CPU time of the page, and the latency of users' hits against
 * the same seed without a watcher. Then the traffic of an idle page.
 */
export async function benchConsole(): Promise<void> {
  const upstream = await upstreamProcess("map", { apart: false });
  await upstream.delay(20);
  const server = await startServer({
    configuration: wmsConfiguration(upstream.url, [{ name: LAYER, connections: 4 }]),
  });
  const page = await openPage();
  await ended(server, await seed(server, LAYER, { ...SEED, zoomStop: 4 }), 600_000);
  let requested = 0;
  const hit = (): string => `/xyz/${LAYER}/4/${requested % 10}/${Math.floor(requested++ / 10) % 10}.png`;
  const reader = new FixedRateReader(new Map([["hits", () => ({ port: server.port, path: hit() })]]), READS_PER_SECOND);
  const watched: number[] = [];
  const alone: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const id = await seed(server, LAYER, { ...SEED, type: "reseed", zoomStart: 8, zoomStop: 9 });
    await page.show("about:blank");
    await pause(2_000);
    alone.push(await p99Of(reader));
    await page.show(`${server.url}/ui/jobs/${id}`);
    await pause(3_000);
    const before = await page.cpuSeconds();
    watched.push(await p99Of(reader));
    cpu.push(((await page.cpuSeconds()) - before) / SECONDS);
    await killAll(server);
  }
  const ratio = median(watched.map((p99, round) => p99 / (alone[round] ?? Number.NaN)));
  console.log(
    `a seed watched in the console: ${(median(cpu) * 100).toFixed(1)} % of a core for the page; p99 of hits ${median(watched).toFixed(2)} ms against ${median(alone).toFixed(2)} unwatched: ${ratio.toFixed(2)}`,
  );
  await page.show(`${server.url}/`);
  await pause(3_000);
  const before = page.received();
  await pause(IDLE_SECONDS * 1000);
  const kilobytes = (page.received() - before) / 1000 / (IDLE_SECONDS / 60);
  console.log(`an idle page of the console: ${kilobytes.toFixed(1)} kB received a minute`);
  reader.close();
  await page.close();
  await server.close();
  upstream.close();
}

const killAll = (server: TestServer): Promise<Response> =>
  fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });

async function p99Of(reader: FixedRateReader): Promise<number> {
  reader.take();
  await pause(SECONDS * 1000);
  return quantile(reader.take().byTarget.get("hits")?.ms ?? [], 0.99);
}

async function openPage(): Promise<WatchedPage> {
  const browser = await launchChromium({ webGl: false });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "timeTicks" });
  await session.send("Network.enable");
  let received = 0;
  session.on("Network.dataReceived", ({ encodedDataLength }) => {
    received += encodedDataLength;
  });
  return {
    show: async (address) => void (await page.goto(address)),
    cpuSeconds: async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
    },
    received: () => received,
    close: () => browser.close(),
  };
}
