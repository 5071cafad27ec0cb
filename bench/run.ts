import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { decodePicture } from "../src/image/decode.ts";
import { encodePng } from "../src/image/png-encode.ts";
import { ended, seed, startServer, type TestServer } from "../test/support/server.ts";
import { picture, startUpstream } from "../test/support/upstream.ts";
import { wmsConfiguration } from "../test/support/wms-configuration.ts";

/*
 * `npm run bench`: ratios measured in one run, rounds in turns, medians of CPU seconds. Absolute figures only beside the
 * machine they were measured on (docs/benchmarks.md).
 */

const LAYER = "ws:roads";
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** CPU seconds of a process, all threads (proc(5), fields 14 and 15; 100 ticks a second). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const rssMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

async function load(port: number, path: string, requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  let left = requests;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      request({ port, host: "127.0.0.1", path, agent }, (response) => {
        response.resume();
        response.on("end", resolve);
      })
        .on("error", reject)
        .end();
    });
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await one();
    }),
  );
  agent.destroy();
}

/** A bare server of the same body and headers, in a process of its own. */
async function bareServer(
  headers: Record<string, string>,
  body: Buffer,
): Promise<{ port: number; pid: number; close(): void }> {
  const file = join(mkdtempSync(join(tmpdir(), "nuthatch-bench-")), "body");
  writeFileSync(file, body);
  const code = `const b=require('fs').readFileSync(${JSON.stringify(file)});const h=${JSON.stringify(headers)};const s=require('http').createServer((q,r)=>{r.writeHead(200,h);r.end(b)});s.listen(0,'127.0.0.1',()=>console.log(s.address().port))`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve) =>
    child.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString()))),
  );
  return { port, pid: child.pid ?? 0, close: () => child.kill() };
}

async function benchHits(server: TestServer): Promise<void> {
  const path = `/xyz/${encodeURIComponent(LAYER)}/6/33/21.png`;
  const first = await fetch(server.url + path);
  const body = Buffer.from(await first.arrayBuffer());
  const headers: Record<string, string> = {};
  for (const [key, value] of (await fetch(server.url + path)).headers)
    if (!["date", "connection", "keep-alive"].includes(key)) headers[key] = value;
  const bare = await bareServer(headers, body);
  const requests = 20_000;
  const ours: number[] = [];
  const theirs: number[] = [];
  await load(server.port, path, 5_000);
  await load(bare.port, path, 5_000);
  for (let round = 0; round < 5; round++) {
    for (const [pid, port, into] of [
      [server.pid, server.port, ours],
      [bare.pid, bare.port, theirs],
    ] as const) {
      const before = cpuSeconds(pid);
      await load(port, path, requests);
      into.push(cpuSeconds(pid) - before);
    }
  }
  bare.close();
  const [a, b] = [median(ours), median(theirs)];
  console.log(
    `hit: ${((a / requests) * 1e6).toFixed(1)} µs CPU, bare node:http ${((b / requests) * 1e6).toFixed(1)} µs, ratio ${(a / b).toFixed(2)}`,
  );
}

/** The physical limit of seeding here: decode, cut, zlib level 3, write, rename; nothing else. */
async function bareLoop(metatiles: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-bench-"));
  const bytes = picture(1024, 1024);
  const before = process.cpuUsage();
  for (let n = 0; n < metatiles; n++) {
    const raster = await decodePicture(bytes, { width: 1024, height: 1024 });
    if (n % 64 === 0) mkdirSync(join(directory, String(n >> 6)), { recursive: true });
    for (let i = 0; i < 16; i++) {
      const tile = encodePng(raster, { left: (i & 3) * 256, top: (i >> 2) * 256, width: 256, height: 256 });
      const target = join(directory, String(n >> 6), `${n}_${i}.png`);
      writeFileSync(`${target}.tmp`, tile);
      renameSync(`${target}.tmp`, target);
    }
  }
  const used = process.cpuUsage(before);
  rmSync(directory, { recursive: true, force: true });
  return (used.user + used.system) / 1e6;
}

async function benchSeed(): Promise<void> {
  const upstream = await upstreamThread();
  const ours: number[] = [];
  const limit: number[] = [];
  for (let round = 0; round < 3; round++) {
    const server = await startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]) });
    const before = cpuSeconds(server.pid);
    const t0 = performance.now();
    const id = await seed(server, LAYER, {
      gridSetId: "EPSG:900913",
      zoomStart: 0,
      zoomStop: 7,
      format: "image/png",
      threadCount: 8,
    });
    const job = await ended(server, id, 600_000);
    const cpu = cpuSeconds(server.pid) - before;
    ours.push(cpu / job.tiles.stored);
    limit.push((await bareLoop(300)) / 4800);
    console.log(
      `  round ${round + 1}: ${(job.tiles.stored / ((performance.now() - t0) / 1000)).toFixed(0)} tiles/s with the bare loop's time, ${rssMiB(server.pid).toFixed(0)} MiB while seeding`,
    );
    await server.close();
  }
  await upstream.close();
  const [a, b] = [median(ours), median(limit)];
  console.log(
    `seed: ${(a * 1000).toFixed(3)} CPU s / 1000 tiles, bare loop ${(b * 1000).toFixed(3)}, ratio ${(a / b).toFixed(2)}`,
  );
}

/** An instant upstream in a process of its own. */
async function upstreamThread(): Promise<{ url: string; close(): Promise<void> }> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, fileURLToPath(new URL("./upstream.ts", import.meta.url))],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const url = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())),
  );
  return { url, close: async () => void child.kill() };
}

async function benchTruncate(): Promise<void> {
  const upstream = await upstreamThread();
  const server = await startServer({
    configuration: wmsConfiguration(upstream.url, [{ name: LAYER, extra: "metatile: [8, 8]" }]),
  });
  const drop = async (): Promise<number> => {
    const t0 = performance.now();
    const response = await fetch(`${server.url}/rest/masstruncate`, {
      method: "POST",
      body: `<truncateLayer><layerName>${LAYER}</layerName></truncateLayer>`,
    });
    await response.arrayBuffer();
    return performance.now() - t0;
  };
  await drop();
  for (const [zoom, tiles] of [
    [5, 1365],
    [8, 87381],
  ] as const) {
    await ended(
      server,
      await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: zoom, threadCount: 16 }),
      600_000,
    );
    console.log(`truncate ${tiles} tiles: answered in ${(await drop()).toFixed(1)} ms`);
  }
  await server.close();
  await upstream.close();
}

async function benchStart(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const t0 = performance.now();
    const server = await startServer();
    while ((await fetch(`${server.url}/readyz`)).status !== 200);
    times.push(performance.now() - t0);
    if (round === 4) console.log(`memory before the first draw: ${rssMiB(server.pid).toFixed(0)} MiB`);
    await server.close();
  }
  console.log(`start to ready: ${median(times).toFixed(0)} ms`);
}

async function main(): Promise<void> {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "?"}, commit ${commit}`);
  const only = process.argv[2];
  const wanted = (name: string): boolean => only === undefined || only === name;
  if (wanted("start")) await benchStart();
  if (wanted("hits")) {
    const upstream = await startUpstream();
    const server = await startServer({ configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]) });
    await benchHits(server);
    await server.close();
    await upstream.close();
  }
  if (wanted("truncate")) await benchTruncate();
  if (wanted("seed")) await benchSeed();
}

await main();
