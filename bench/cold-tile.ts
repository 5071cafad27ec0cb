import { startServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { type BenchLength, median, pause, quantile } from "./support/figures.ts";
import { upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
/** Columns and rows of metatiles. */
const SIDES = { full: 12, short: 4 } as const;

/** Measures the time of a miss on an idle machine beyond the upstream's time for the same metatile, in turns. */
export async function benchColdTile(length: BenchLength): Promise<void> {
  const columns = SIDES[length];
  const upstream = await upstreamProcess("map");
  for (const metatile of [1, 4]) {
    const server = await startServer({
      configuration: wmsConfiguration(upstream.url, [{ name: LAYER, extra: `metatile: [${metatile}, ${metatile}]` }]),
    });
    const ms = async (url: string): Promise<number> => {
      const t0 = performance.now();
      const response = await fetch(url);
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
      return performance.now() - t0;
    };
    const side = metatile * 256;
    const rendered: number[] = [];
    const cold: number[] = [];
    const hits: number[] = [];
    for (let n = 0; n < columns * columns; n++) {
      const [column, row] = [n % columns, Math.floor(n / columns)];
      rendered.push(await ms(`${upstream.url}?WIDTH=${side}&HEIGHT=${side}&BBOX=${column},${row}`));
      const tile = `${server.url}/xyz/${encodeURIComponent(LAYER)}/8/${column * 4}/${row * 4}.png`;
      cold.push(await ms(tile));
      hits.push(await ms(tile));
      // The other tiles of the metatile are still being encoded.
      await pause(60);
    }
    // The first misses are not counted: they start renderers and make the upstream's pictures.
    const from = columns * 2;
    const beyond = cold.map((c, i) => c - (rendered[i] ?? 0)).slice(from);
    console.log(
      `cold tile, ${metatile}x${metatile} metatile: ${median(cold.slice(from)).toFixed(1)} ms, the upstream alone ${median(rendered.slice(from)).toFixed(1)}, beyond it ${median(beyond).toFixed(1)} (p90 ${quantile(beyond, 0.9).toFixed(1)}); a hit ${median(hits.slice(from)).toFixed(1)}`,
    );
    await server.close();
  }
  upstream.close();
}
