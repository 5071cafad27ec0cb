import { thisMachine } from "../src/lib/this-machine.ts";
import { S3Client } from "../src/store/s3/s3-client.ts";
import { NO_S3, NO_VERSITYGW, type S3Server, startS3 } from "../test/support/s3/server.ts";
import { ended, massTruncate, seed, startServer, type TestServer } from "../test/support/server/server.ts";
import { smallTiles } from "../test/support/server/wms-configuration.ts";
import { renderNoise, startUpstream } from "../test/support/upstream/upstream.ts";
import { type BenchLength, median } from "./support/figures.ts";

const LENGTHS = {
  full: { zoomStop: 6, reads: 300, truncations: 15 },
  short: { zoomStop: 4, reads: 50, truncations: 3 },
};

/** Compares a store in S3 with one of files, by the built program: seeds, hits beside the memory tier, truncations. */
export async function benchS3(length: BenchLength): Promise<void> {
  const name = NO_VERSITYGW === undefined ? "versitygw" : NO_S3 === undefined ? "SeaweedFS" : undefined;
  if (name === undefined) {
    console.log("s3: skipped, neither versitygw nor SeaweedFS is installed (NUTHATCH_VERSITYGW, NUTHATCH_WEED)");
    return;
  }
  const { zoomStop, reads, truncations } = LENGTHS[length];
  await using service = await startS3(name);
  const upstream = await startUpstream();
  upstream.behaviour = renderNoise(58, 64);
  try {
    const rates: string[] = [];
    const hits: string[] = [];
    for (const kind of ["file", "s3"] as const) {
      let server = await startServer({
        configuration: smallTiles(upstream.url, [{ name: "a" }], storeOf(kind, service)),
      });
      const began = performance.now();
      const request = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop, threadCount: 8 };
      const { tiles } = await ended(server, await seed(server, "a", request));
      rates.push(`${kind} ${Math.round((tiles.stored * 1000) / (performance.now() - began))} tiles/s`);
      // A new process has nothing in its memory tier.
      server = await server.restart("SIGTERM");
      await read(server, zoomStop, 0, 0);
      const first: number[] = [];
      const again: number[] = [];
      for (const times of [first, again])
        for (let n = 0; n < reads; n++)
          times.push(await read(server, zoomStop, n % 2 ** zoomStop, 1 + (n >> zoomStop)));
      hits.push(`${kind} ${median(first).toFixed(2)} ms, then ${median(again).toFixed(2)} ms from memory`);
      if (kind === "s3") await compareTruncations(server, service, truncations, zoomStop);
      await server.close();
    }
    console.log(`s3 (${name}), a seed with 8 threads and up to 16 puts in flight: ${rates.join(", ")}`);
    console.log(`s3 (${name}), a hit, one at a time: ${hits.join("; ")}`);
  } finally {
    await upstream.close();
  }
}

function storeOf(kind: "file" | "s3", { endpoint }: S3Server): string {
  if (kind === "file") return "";
  const account = "accessKeyId: nuthatch, secretAccessKey: nuthatch-secret";
  return `stores: [{ id: main, type: s3, endpoint: "${endpoint}", bucket: tiles, prefix: bench, pathStyle: true, ${account} }]\n`;
}

async function read(server: TestServer, z: number, x: number, y: number): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${server.url}/xyz/a/${z}/${x}/${y}.png`);
  await response.arrayBuffer();
  if (response.headers.get("geowebcache-cache-result") !== "HIT") throw new Error(`no hit: ${response.status}`);
  return performance.now() - began;
}

/** Truncations of one tile and of all, beside a put of an object, in turns. */
async function compareTruncations(server: TestServer, service: S3Server, rounds: number, zoomStop: number) {
  await using client = new S3Client(service.options("bench"), thisMachine);
  const times = { put: [] as number[], one: [] as number[], many: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of ["one", "many"] as const) {
      const last = kind === "one" ? 0 : Math.min(zoomStop, 5);
      const request = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: last, threadCount: 4 };
      await ended(server, await seed(server, "a", request));
      let began = performance.now();
      await client.put("bench-object", Buffer.from("x"), { contentType: "text/plain" });
      times.put.push(performance.now() - began);
      began = performance.now();
      const { status } = await massTruncate(server, "a");
      if (status !== 200) throw new Error(`a truncation was answered ${status}`);
      times[kind].push(performance.now() - began);
    }
  }
  const [put, one, many] = [times.put, times.one, times.many].map((all) => median(all).toFixed(1));
  console.log(`s3, a truncation of 1 tile ${one} ms, of ${Math.min(zoomStop, 5)} levels ${many} ms; a put ${put} ms`);
}
