import { UseRecorder } from "../src/cache/use-recorder.ts";
import { putQuota, startServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { startUpstream } from "../test/support/upstream/upstream.ts";
import { type BenchLength, cpuSeconds, median } from "./support/figures.ts";
import { load } from "./support/load.ts";
import { bareServer, nginx } from "./support/peers.ts";

const LAYER = "ws:roads";
const LENGTHS = { full: { requests: 20_000, rounds: 7 }, short: { requests: 3_000, rounds: 2 } } as const;

/** Compares a hit with a bare `node:http` server and with nginx that serves the tile as a file, in turns. */
export async function benchHits(length: BenchLength): Promise<void> {
  const { requests, rounds } = LENGTHS[length];
  const upstream = await startUpstream();
  const server = await startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]) });
  const enforced = await startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]) });
  await putQuota(enforced, {
    enabled: true,
    cacheCleanUpFrequency: 1,
    cacheCleanUpUnits: "SECONDS",
    globalQuota: { value: 1, units: "GiB" },
    layerQuotas: [{ layer: LAYER, expirationPolicyName: "LFU", quota: { value: 1, units: "GiB" } }],
  });
  const path = `/xyz/${encodeURIComponent(LAYER)}/6/33/21.png`;
  await (await fetch(enforced.url + path)).arrayBuffer();
  const first = await fetch(server.url + path);
  const body = Buffer.from(await first.arrayBuffer());
  const headers: Record<string, string> = {};
  for (const [key, value] of (await fetch(server.url + path)).headers)
    if (!["date", "connection", "keep-alive"].includes(key)) headers[key] = value;
  const bare = await bareServer(headers, body);
  const files = await nginx(path, body);
  const peers = [
    { name: "hit", at: server, micros: [] as number[] },
    { name: "hit with the quota enforced", at: enforced, micros: [] as number[] },
    { name: "bare node:http", at: bare, micros: [] as number[] },
    ...(files === undefined ? [] : [{ name: "nginx, the tile as a file", at: files, micros: [] as number[] }]),
  ];
  for (const { at } of peers) await load(at.port, [path], requests / 4);
  for (let round = 0; round < rounds; round++) {
    for (const { at, micros } of peers) {
      const before = cpuSeconds(at.pid);
      await load(at.port, [path], requests);
      micros.push(((cpuSeconds(at.pid) - before) / requests) * 1e6);
    }
  }
  const ours = peers[0]?.micros ?? [];
  for (const { name, micros } of peers) {
    const ratios = micros.map((theirs, i) => (ours[i] ?? Number.NaN) / theirs);
    console.log(
      `${name}: ${median(micros).toFixed(1)} µs CPU a request (${Math.min(...micros).toFixed(1)}-${Math.max(...micros).toFixed(1)}); ours is ${median(ratios).toFixed(2)} times it`,
    );
  }
  if (files === undefined) console.log("nginx not installed");
  const recording = recordingMicros(rounds);
  console.log(
    `  recording a read: ${recording.toFixed(2)} µs CPU, ${((100 * recording) / median(ours)).toFixed(1)} % of a hit`,
  );
  files?.close();
  bare.close();
  await server.close();
  await enforced.close();
  await upstream.close();
}

/** Returns the microseconds that use recording adds to each hit, with the recorder drained as in the server. */
function recordingMicros(count: number): number {
  const recorder = new UseRecorder();
  const tileSet = { layer: LAYER, gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
  const micros: number[] = [];
  for (let round = 0; round < count; round++) {
    const before = process.cpuUsage();
    for (let n = 0; n < 1_000_000; n++) {
      recorder.record(tileSet, { x: n & 127, y: (n >> 7) & 127, z: 7 });
      if (n % 30_000 === 0) recorder.drain();
    }
    micros.push(process.cpuUsage(before).user / 1_000_000);
  }
  return median(micros);
}
