import { ended, putQuota, seed, startServer, usage } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { CacheSimulation } from "../test/support/stores/cache-simulation.ts";
import { until } from "../test/support/until.ts";
import { upstreamProcess } from "./support/peers.ts";

const LAYER = "read";
const SEEDED = "seeded";
const GIB = 2 ** 30;
const ZOOM = 8;
/** 128 cells of 256 tiles of about 100 KB: 3 GiB. */
const TILES = 128 * 256;
const READS = 40_000;
const READERS = 4;

/** Returns a generator of ranks by Zipf's law with exponent 1, from a table of sums. */
function zipf(random: () => number): () => number {
  const sums = new Float64Array(TILES);
  let sum = 0;
  for (let rank = 0; rank < TILES; rank++) {
    sum += 1 / (rank + 1);
    sums[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, TILES - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Returns the tile of a rank. Neighbouring ranks are neighbouring tiles of the same cell. */
function placeOf(rank: number): { x: number; y: number } {
  const cell = Math.floor(rank / 256);
  return { x: (cell % 16) * 16 + (rank % 16), y: Math.floor(cell / 16) * 16 + Math.floor((rank % 256) / 16) };
}

/** Measures hits while users read 3 GiB of tiles under a quota of 1 GiB, and after a seed of the same size. */
export async function benchQuota(): Promise<void> {
  for (const policy of ["LFU", "LRU"] as const) await underPolicy(policy);
}

async function underPolicy(policy: "LFU" | "LRU"): Promise<void> {
  const upstream = await upstreamProcess(182);
  const server = await startServer({
    // The figures count the content of the tiles, independent of the blocks of the disk.
    configuration: wmsConfiguration(
      upstream.url,
      [{ name: LAYER }, { name: SEEDED }],
      "diskQuota: { count: content }\n",
    ),
  });
  await putQuota(server, {
    enabled: true,
    cacheCleanUpFrequency: 1,
    cacheCleanUpUnits: "SECONDS",
    globalExpirationPolicyName: policy,
    globalQuota: { value: 1, units: "GiB" },
  });
  let state = 1;
  const next = zipf(() => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  });
  const read = async ({ x, y }: { x: number; y: number }): Promise<{ hit: boolean; bytes: number }> => {
    const response = await fetch(`${server.url}/xyz/${LAYER}/${ZOOM}/${x}/${255 - y}.png`);
    const { byteLength } = await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a read was answered with ${response.status}`);
    return { hit: response.headers.get("geowebcache-cache-result") === "HIT", bytes: byteLength };
  };
  const { bytes } = await read(placeOf(0));
  const simulation = new CacheSimulation(GIB, policy, {
    metatile: ({ x, y, z }) => ({ z, minX: x & ~3, minY: y & ~3, maxX: x | 3, maxY: y | 3 }),
    bytes: () => bytes,
  });
  const tileSet = { layer: LAYER, gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
  let most = 0;
  let reading = true;
  const watch = (async () => {
    while (reading) most = Math.max(most, (await usage(server)).total.bytes);
  })();
  let left = READS;
  let hits = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: READERS }, async () => {
      while (left-- > 0) {
        const place = placeOf(next());
        simulation.read({ tileSet, ...place, z: ZOOM }, Date.now());
        if ((await read(place)).hit) hits++;
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const limits = `${((100 * hits) / READS).toFixed(1)} % hits, simulated ${((100 * simulation.hits) / READS).toFixed(1)} %; usage at most quota + ${((most - GIB) / bytes).toFixed(1)} tiles`;
  console.log(`${policy}: ${READS} reads of 3 GiB through 1 GiB in ${seconds.toFixed(0)} s: ${limits}`);
  await until("a clean-up has ended", async () => ((await usage(server)).total.bytes <= GIB ? true : undefined));
  const rest = (GIB - (await usage(server)).total.bytes) / bytes;
  console.log(`  after the clean-up ${rest.toFixed(1)} tiles below the quota (a cell is 256)`);
  const mostUsed = async (): Promise<number> => {
    let stored = 0;
    for (let rank = 0; rank < 100; rank++) if ((await read(placeOf(rank))).hit) stored++;
    return stored;
  };
  console.log(`  of the hundred hottest tiles ${await mostUsed()} are hits`);
  const id = await seed(server, SEEDED, {
    gridSetId: "EPSG:900913",
    zoomStart: ZOOM,
    zoomStop: ZOOM,
    format: "image/png",
    type: "seed",
    threadCount: 2,
    bounds: { coords: { double: [-20037508, 0, 20037508, 20037508] } },
  });
  const job = await ended(server, id, 1_200_000);
  reading = false;
  await watch;
  const after = await usage(server);
  console.log(
    `  a seed of 3 GiB: ${job.outcome} after ${job.tiles.stored} tiles, ${JSON.stringify(job.reason)}; usage ${after.total.bytes <= GIB ? "under" : "OVER"} the quota, at most quota + ${((most - GIB) / bytes).toFixed(1)} tiles; of the hundred hottest ${await mostUsed()} are hits`,
  );
  await server.close();
  upstream.close();
}
