import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { startServer, type TestServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { cpuSeconds, median } from "./support/figures.ts";
import { load } from "./support/load.ts";
import { MapCache } from "./support/mapcache.ts";
import { installed, nginx, type Peer, upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
const REQUESTS = 20_000;
const ROUNDS = 5;
const WRK_SECONDS = 4;

interface Contender {
  readonly name: string;
  readonly at: Pick<Peer, "port" | "pid">;
  readonly paths: readonly string[];
  readonly micros: number[];
}

/** Compares hits from memory, from files, of MapCache and of nginx in turns: a hundred map-like tiles of zoom 4. */
export async function benchHitPeers(): Promise<void> {
  const upstream = await upstreamProcess("map");
  const places = Array.from({ length: 100 }, (_, i) => ({ x: i % 10, y: Math.floor(i / 10) }));
  const ourPaths = places.map(({ x, y }) => `/xyz/${encodeURIComponent(LAYER)}/4/${x}/${y}.png`);
  const mapCachePaths = places.map(({ x, y }) => `/tms/1.0.0/roads@GoogleMapsCompatible/4/${x}/${15 - y}.png`);
  const of = (more: string): Promise<TestServer> =>
    startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }], more) });
  const memory = await of("server: {}");
  const files = await of("server: { memoryTierMiB: 0 }");
  const mapCache = new MapCache(upstream.url, "fast", 4);
  const apache = await mapCache.serve();
  const contenders: Contender[] = [
    { name: "nuthatch, memory", at: memory, paths: ourPaths, micros: [] },
    { name: "nuthatch, files", at: files, paths: ourPaths, micros: [] },
  ];
  if (apache === undefined) console.log("MapCache's Apache module is not installed");
  else contenders.push({ name: "MapCache, files", at: apache, paths: mapCachePaths, micros: [] });
  const body = Buffer.from(await (await fetch(memory.url + (ourPaths[0] ?? ""))).arrayBuffer());
  const staticFiles = await nginx("/tile.png", body);
  if (staticFiles === undefined) console.log("nginx is not installed");
  else contenders.push({ name: "nginx, a file", at: staticFiles, paths: ["/tile.png"], micros: [] });

  for (const { at, paths } of contenders) await load(at.port, paths, 3_000);
  for (let round = 0; round < ROUNDS; round++) {
    for (const { at, paths, micros } of contenders) {
      const before = cpuSeconds(at.pid);
      await load(at.port, paths, REQUESTS);
      micros.push(((cpuSeconds(at.pid) - before) / REQUESTS) * 1e6);
    }
  }
  for (const { name, micros } of contenders) {
    const ratios = contenders
      .filter((peer) => peer.name.startsWith("nuthatch") && peer.name !== name)
      .map((peer) => `${peer.name} ${median(micros.map((m, i) => m / (peer.micros[i] ?? 0))).toFixed(2)}`);
    console.log(
      `${name}: ${median(micros).toFixed(1)} µs CPU a hit; hits per CPU second against it: ${ratios.join(", ")}`,
    );
  }
  staticFiles?.close();
  apache?.close();
  mapCache.remove();
  await memory.close();
  await files.close();
  upstream.close();
}

/** Measures the throughput of one and of two HTTP workers with a client that needs little CPU time. */
export async function benchWorkers(): Promise<void> {
  const wrk = installed("wrk");
  if (wrk === undefined || cpus().length < 2) {
    console.log("workers: wrk is not installed, or there is one core only");
    return;
  }
  const upstream = await upstreamProcess("map");
  const path = `/xyz/${encodeURIComponent(LAYER)}/4/3/5.png`;
  const servers: { readonly server: TestServer; readonly rates: number[]; readonly micros: number[] }[] = [];
  for (const workers of [1, 2]) {
    const configuration = wmsConfiguration(upstream.url, [{ name: LAYER }], `server: { workers: ${workers} }`);
    servers.push({ server: await startServer({ configuration }), rates: [], micros: [] });
  }
  const rate = ({ url }: TestServer, seconds: number): number => {
    const said = execFileSync(wrk, ["-t", "1", "-c", "32", "-d", `${seconds}s`, url + path], { encoding: "utf8" });
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(said)?.[1]);
  };
  for (const { server } of servers) rate(server, 2);
  for (let round = 0; round < ROUNDS; round++)
    for (const { server, rates, micros } of servers) {
      const before = cpuSeconds(server.pid);
      const perSecond = rate(server, WRK_SECONDS);
      rates.push(perSecond);
      micros.push(((cpuSeconds(server.pid) - before) / (perSecond * WRK_SECONDS)) * 1e6);
    }
  const [one, two] = servers.map(({ rates }) => rates);
  const ratios = (two ?? []).map((r, i) => r / (one?.[i] ?? Number.NaN));
  console.log(
    `workers: ${median(one ?? []).toFixed(0)} hits/s by one, ${median(two ?? []).toFixed(0)} by two, ratio ${median(ratios).toFixed(2)} (wrk shares the cores)`,
  );
  // The limit if the client had separate cores.
  const [alone, shared] = servers.map(({ micros }) => median(micros));
  console.log(
    `  CPU a hit: ${alone?.toFixed(1)} µs by one, ${shared?.toFixed(1)} µs by two: two cores carry ${((2 * (alone ?? 0)) / (shared ?? 1)).toFixed(2)} times as many hits as one`,
  );
  for (const { server } of servers) await server.close();
  upstream.close();
}
