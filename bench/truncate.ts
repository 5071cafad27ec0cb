import { setPriority } from "node:os";
import { truncations, undo } from "../test/support/jobs/truncations.ts";
import {
  ended,
  massTruncate,
  seed,
  startServer,
  type TestServer,
  truncateLayerXml,
} from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { RECLAIM_AT_ONCE, reclaimed } from "./reclaim.ts";
import { type BenchLength, median, pause, quantile } from "./support/figures.ts";
import { FixedRateReader, type Latencies } from "./support/fixed-rate-reader.ts";
import { bareServer, upstreamProcess } from "./support/peers.ts";
import { RawPost } from "./support/raw-post.ts";

const LAYER = "ws:roads";
const OTHER = "ws:other";
/** The measured time includes the removal of the files. */
const READS_PER_SECOND = 200;
/** `uncounted`: rounds before the measured ones, until V8 has compiled the measured code. */
const LENGTHS = {
  full: { rounds: 15, uncounted: 10, zoomStops: [5, 8] },
  short: { rounds: 5, uncounted: 2, zoomStops: [3, 5] },
} as const;
type Rounds = Pick<(typeof LENGTHS)[BenchLength], "rounds" | "uncounted">;
/** Tiles of the zooms 0 to `zoomStop` of web mercator. */
const tilesTo = (zoomStop: number): number => (4 ** (zoomStop + 1) - 1) / 3;
const REQUEST = { gridSetId: "EPSG:900913", format: "image/png", type: "seed", threadCount: 16 };

async function massTruncateMs(server: TestServer, layer: string): Promise<number> {
  const t0 = performance.now();
  const response = await massTruncate(server, layer);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`masstruncate: ${response.status}`);
  return performance.now() - t0;
}

/** Returns the time of an answer from a server that does nothing: the current cost of HTTP on this machine. */
async function bareMs(port: number, { rounds, uncounted }: Rounds): Promise<number> {
  const client = await RawPost.open(port);
  const times: number[] = [];
  for (let round = -uncounted; round < rounds; round++) {
    await pause(200);
    const ms = await client.ms("/", truncateLayerXml(LAYER));
    if (round >= 0) times.push(ms);
  }
  client.close();
  return median(times);
}

/** Returns the server's own times for the last truncations from its log: from the request's head to the answer. */
function serverMs(server: TestServer, rounds: number): readonly number[] {
  const lines = [...server.log().matchAll(/"path":"\/rest\/masstruncate","status":200,"ms":([\d.]+)/g)];
  return lines.slice(-rounds).map(([, ms]) => Number(ms));
}

/** Measures the time of a truncation for layers of different sizes on an otherwise idle server. */
export async function benchTruncate(length: BenchLength): Promise<void> {
  const { rounds, uncounted, zoomStops } = LENGTHS[length];
  const upstream = await upstreamProcess();
  const server = await startServer({
    configuration: wmsConfiguration(upstream.url, [{ name: LAYER, extra: "metatile: [8, 8]" }]),
  });
  const bare = await bareServer({ "content-length": "0" }, Buffer.alloc(0));
  await massTruncateMs(server, LAYER);
  for (const zoomStop of zoomStops) {
    const tiles = tilesTo(zoomStop);
    await ended(server, await seed(server, LAYER, { ...REQUEST, zoomStart: 0, zoomStop }), 600_000);
    const nothing = await bareMs(bare.port, { rounds, uncounted });
    const client = await RawPost.open(server.port);
    const answers: number[] = [];
    for (let round = -uncounted; round < rounds; round++) {
      await pause(200);
      const ms = await client.ms("/rest/masstruncate", truncateLayerXml(LAYER));
      if (round >= 0) answers.push(ms);
      const [made] = await truncations(server, "?limit=1");
      if (made?.tiles !== tiles) throw new Error(`${made?.tiles} tiles were truncated`);
      // Undo brings the same tiles back for the next round.
      if ((await undo(server, made.id)).status !== 200) throw new Error("not undone");
    }
    console.log(
      `truncate ${tiles} tiles: answered in ${median(answers).toFixed(1)} ms (${rounds} times, ${Math.min(...answers).toFixed(1)}-${Math.max(...answers).toFixed(1)}), of which the server took ${median(serverMs(server, rounds)).toFixed(1)}; a bare server's answer takes ${nothing.toFixed(1)} ms now`,
    );
    client.close();
    await massTruncateMs(server, LAYER);
  }
  await server.close();
  bare.close();
  upstream.close();
}

/**
 * Measures the truncation of a layer of 218,453 tiles that is being seeded while another layer is being read: once with
 * an instant upstream, which keeps the machine fully busy, and once with the delay of a quick map server.
 */
export async function benchTruncateUnderLoad(): Promise<void> {
  for (const delayMs of [0, 50]) await truncateUnderLoad(delayMs);
}

async function truncateUnderLoad(delayMs: number): Promise<void> {
  const upstream = await upstreamProcess();
  const server = await startServer({
    configuration: wmsConfiguration(
      upstream.url,
      [
        { name: LAYER, extra: "metatile: [1, 1]", connections: 16 },
        { name: OTHER, connections: 16 },
      ],
      RECLAIM_AT_ONCE,
    ),
  });
  const paths = Array.from({ length: 100 }, (_, i) => `/xyz/${OTHER}/4/${i % 10}/${Math.floor(i / 10)}.png`);
  for (const path of paths) await (await fetch(server.url + path)).arrayBuffer();
  const sample = await fetch(server.url + (paths[0] ?? ""));
  const headers: Record<string, string> = { "geowebcache-cache-result": "HIT" };
  for (const [key, value] of sample.headers)
    if (!["date", "connection", "keep-alive"].includes(key)) headers[key] = value;
  const bare = await bareServer(headers, Buffer.from(await sample.arrayBuffer()));
  // The reader must not wait for the seed, whose processes were started with the usual priority.
  try {
    setPriority(-15);
  } catch {
    console.log("  not root: the reader competes with what it measures");
  }

  const t0 = performance.now();
  const north = { coords: { double: ["-20037508.34", "1", "20037508.34", "20037508.34"] } };
  const jobs = [
    await seed(server, LAYER, { ...REQUEST, zoomStart: 0, zoomStop: 8 }),
    await seed(server, LAYER, { ...REQUEST, zoomStart: 9, zoomStop: 9, bounds: north }),
  ];
  let tiles = 0;
  for (const id of jobs) tiles += (await ended(server, id, 1_200_000)).tiles.stored;
  console.log(`  ${tiles} tiles seeded, ${(tiles / ((performance.now() - t0) / 1000)).toFixed(0)} a second`);

  let turn = 0;
  const reader = new FixedRateReader(
    new Map([
      ["nuthatch", () => ({ port: server.port, path: paths[turn++ % paths.length] ?? "" })],
      ["bare", () => ({ port: bare.port, path: "/" })],
    ]),
    READS_PER_SECOND,
  );
  await pause(3_000);
  reader.take();
  await pause(20_000);
  const idle = reader.take();
  await upstream.delay(delayMs);
  await seed(server, LAYER, { ...REQUEST, zoomStart: 10, zoomStop: 10 });
  await pause(15_000);
  const seeding = reader.take();
  const answerMs = await massTruncateMs(server, LAYER);
  const next = await fetch(`${server.url}/xyz/${LAYER}/9/255/255.png`);
  const nextIs = next.headers.get("geowebcache-cache-result");
  await next.arrayBuffer();
  const t1 = performance.now();
  await reclaimed(server);
  const reclaimSeconds = (performance.now() - t1) / 1000;
  const clearing = reader.take();
  await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  await pause(3_000);
  reader.take();
  await pause(15_000);
  const idleAgain = reader.take();
  reader.close();
  bare.close();
  await server.close();
  upstream.close();
  setPriority(0);

  console.log(
    `truncate ${tiles} tiles while seeding from an upstream of ${delayMs} ms: answered in ${answerMs.toFixed(1)} ms, the next read is a ${nextIs}, space reclaimed after ${reclaimSeconds.toFixed(1)} s`,
  );
  const phases = [
    ["idle", idle],
    ["seed", seeding],
    ["seed, truncate, reclaim", clearing],
    ["idle again", idleAgain],
  ] as const;
  for (const [name, { byTarget, ownDelayMs }] of phases)
    console.log(
      `  ${name}: ${[...byTarget].map(([target, l]) => `${target} ${reported(l)}`).join(" | ")} | reader's own delay p99 ${ownDelayMs.toFixed(1)} ms`,
    );
  for (const target of ["nuthatch", "bare"]) {
    const of = (phase: typeof idle): number[] => phase.byTarget.get(target)?.ms ?? [];
    const loaded = quantile([...of(seeding), ...of(clearing)], 0.99);
    const quiet = quantile([...of(idle), ...of(idleAgain)], 0.99);
    // The bare server has no part in the seed: its ratio shows the effect of the busy machine on any server.
    console.log(
      `  p99 of ${target}'s hits: ${loaded.toFixed(2)} ms loaded, ${quiet.toFixed(2)} ms idle, ratio ${(loaded / quiet).toFixed(1)}`,
    );
  }
}

const reported = ({ ms, misses }: Latencies): string =>
  `p50 ${median(ms).toFixed(2)} p99 ${quantile(ms, 0.99).toFixed(2)} max ${Math.max(...ms).toFixed(1)} ms of ${ms.length}${misses > 0 ? `, ${misses} NOT HITS` : ""}`;
