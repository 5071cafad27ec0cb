import { join } from "node:path";
import { ended, massTruncate, seed, startServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { RECLAIM_AT_ONCE, reclaimed } from "./reclaim.ts";
import { cpuSeconds, median } from "./support/figures.ts";
import { MapCache, type SeededCache } from "./support/mapcache.ts";
import { seedByMapProxy } from "./support/mapproxy.ts";
import { installed, upstreamProcess } from "./support/peers.ts";
import { filesBelow } from "./support/tools.ts";

const LAYER = "ws:roads";
const ROUNDS = 3;

/** A cache that is empty before each seed. */
interface Cache {
  readonly seed: (zoomStop: number) => Promise<SeededCache>;
  readonly close: () => Promise<void>;
}

interface Seeder extends Cache {
  readonly name: string;
  readonly perTile: number[];
  readonly bytes: number[];
  readonly rate: number[];
}

/**
 * Compares seeds of the same levels and pictures by Nuthatch, MapCache, MapProxy in turns: 4x4 metatiles, then single
 * tiles. The server runs for all rounds. Its first seed is reported separately, because V8 has compiled nothing yet.
 */
export async function benchSeedPeers(): Promise<void> {
  const upstream = await upstreamProcess("map");
  for (const [metatile, zoomStop] of [
    [4, 7],
    [1, 8],
  ] as const) {
    // Single tiles are stored as the upstream rendered them, without compressing them again.
    const ways = metatile > 1 ? (["fast", "small"] as const) : (["fast"] as const);
    const seeders: Seeder[] = [];
    for (const way of ways) seeders.push(seeder(`nuthatch, ${way}`, await ours(upstream.url, metatile, way)));
    if (installed("mapcache_seed") !== undefined)
      for (const way of ways) {
        const compression = way === "small" ? "default" : way;
        seeders.push(
          seeder(
            `MapCache, ${compression}`,
            tool((z) => byMapCache(upstream.url, compression, metatile, z)),
          ),
        );
      }
    if (installed("mapproxy-seed") !== undefined)
      seeders.push(
        seeder(
          "MapProxy",
          tool((z) => seedByMapProxy(upstream.url, metatile, Math.min(z, 6))),
        ),
      );
    for (let round = 0; round < ROUNDS; round++)
      for (const { seed: run, perTile, bytes, rate } of seeders) {
        const cache = await run(zoomStop);
        perTile.push(cache.cpuSeconds / cache.tiles);
        bytes.push(cache.bytes / cache.tiles);
        rate.push(cache.tiles / cache.seconds);
      }
    console.log(`seed with ${metatile}x${metatile} metatiles, pictures like maps:`);
    for (const { name, perTile, bytes, rate } of seeders) {
      // Compare figures of the same round, because the machine's speed changes between rounds.
      const ratios = seeders
        .filter((peer) => peer.name.startsWith("nuthatch") && peer.name !== name)
        .map((peer) => {
          const times = perTile.map((p, i) => p / (peer.perTile[i] ?? 0));
          return `${peer.name} does ${median(times).toFixed(2)} times as many (its first seed ${times[0]?.toFixed(2)})`;
        });
      console.log(
        `  ${name}: ${(median(perTile) * 1000).toFixed(3)} CPU s / 1000 tiles, ${median(bytes).toFixed(0)} bytes a tile, ${median(rate).toFixed(0)} tiles/s; per CPU second ${ratios.join(", ")}`,
      );
    }
    for (const { close } of seeders) await close();
  }
  upstream.close();
}

const seeder = (name: string, cache: Cache): Seeder => ({ ...cache, name, perTile: [], bytes: [], rate: [] });

/** Wraps a tool whose process ends with its seed. */
const tool = (run: Cache["seed"]): Cache => ({ seed: run, close: async () => undefined });

async function byMapCache(
  upstream: string,
  compression: "fast" | "default",
  metatile: number,
  zoomStop: number,
): Promise<SeededCache> {
  const cache = new MapCache(upstream, compression, metatile);
  const seeded = await cache.seed(zoomStop);
  cache.remove();
  return seeded;
}

/** Measures Nuthatch from the request to the end of the job, without the server's start and the truncation. */
async function ours(upstream: string, metatile: number, compression: string): Promise<Cache> {
  const extra = `metatile: [${metatile}, ${metatile}]\n    pngCompression: ${compression}`;
  const server = await startServer({
    configuration: wmsConfiguration(upstream, [{ name: LAYER, extra }], RECLAIM_AT_ONCE),
  });
  // Single tiles: two threads for each core, one of which waits for the upstream.
  const threadCount = metatile > 1 ? 8 : 4;
  return {
    async seed(zoomStop) {
      const before = cpuSeconds(server.pid);
      const t0 = performance.now();
      const range = { gridSetId: "EPSG:900913", format: "image/png", zoomStart: 0, zoomStop, threadCount };
      await ended(server, await seed(server, LAYER, range), 600_000);
      const seconds = (performance.now() - t0) / 1000;
      const used = cpuSeconds(server.pid) - before;
      const { files, bytes } = filesBelow(join(server.dataDir, "tiles"), ".png");
      await massTruncate(server, LAYER);
      await reclaimed(server);
      return { cpuSeconds: used, seconds, tiles: files, bytes };
    },
    close: () => server.close(),
  };
}
