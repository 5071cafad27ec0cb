import { readFileSync } from "node:fs";
import { ended, seed, startServer } from "../test/support/server/server.ts";
import { smallTiles } from "../test/support/server/wms-configuration.ts";
import { startUpstream } from "../test/support/upstream/upstream.ts";
import { type BenchLength, median } from "./support/figures.ts";

const LAYER = "ws:roads";
const LENGTHS = { full: { zoomStop: 8, rounds: 5 }, short: { zoomStop: 6, rounds: 2 } } as const;

/** Returns the bytes that a process has read from files and sockets (proc(5)). */
const readBytes = (pid: number): number => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);

/** Measures a seed over a full cache: the cost of the look-ups, and that no tile is fetched or read. */
export async function benchSkip(length: BenchLength): Promise<void> {
  const { zoomStop, rounds } = LENGTHS[length];
  const upstream = await startUpstream();
  const configuration = smallTiles(upstream.url, [{ name: LAYER, extra: "metatile: [16, 16]" }]);
  const server = await startServer({ configuration });
  const request = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop, format: "image/png", threadCount: 8 };
  await ended(server, await seed(server, LAYER, request), 900_000);
  const requested = upstream.asked.length;
  const rates: number[] = [];
  const read: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = readBytes(server.pid);
    const { tiles, secondsWorked } = await ended(server, await seed(server, LAYER, request), 900_000);
    rates.push(tiles.skipped / secondsWorked);
    read.push(readBytes(server.pid) - before);
  }
  console.log(
    `skip: ${rates.map((rate) => rate.toFixed(0)).join(", ")} tiles/s looked at, median ${median(rates).toFixed(0)}; ${read.join(", ")} bytes read; ${upstream.asked.length - requested} pictures fetched`,
  );
  await server.close();
  await upstream.close();
}
