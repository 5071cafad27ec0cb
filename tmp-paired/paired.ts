import * as oldS from "/work/h/old-bench/test/support/server.ts";
import * as newS from "/work/h/me/test/support/server.ts";
import { wmsConfiguration as oldC } from "/work/h/old-bench/test/support/wms-configuration.ts";
import { wmsConfiguration as newC } from "/work/h/me/test/support/wms-configuration.ts";
import { cpuSeconds, median, pause } from "/work/h/me/bench/figures.ts";
import { load } from "/work/h/me/bench/load.ts";
import { upstreamProcess } from "/work/h/me/bench/peers.ts";
const LAYER = "ws:roads";
const sides = [{ n: "old", S: oldS, C: oldC }, { n: "new", S: newS, C: newC }] as any[];
const report = (name: string, o: number[], n: number[]) => {
  const r = n.map((x, i) => x / o[i]!).sort((a, b) => a - b);
  console.log(`${name}: old ${median(o).toFixed(4)} (min ${Math.min(...o).toFixed(4)}) new ${median(n).toFixed(4)} (min ${Math.min(...n).toFixed(4)}) ratio median ${median(r).toFixed(3)} of minima ${(Math.min(...n) / Math.min(...o)).toFixed(3)}`);
};
const what = process.argv.slice(2);
const upstream = await upstreamProcess();
if (what.includes("hits")) {
  const servers = [];
  for (const { S, C } of sides) servers.push(await S.startServer({ configuration: C(upstream.url, [{ name: LAYER }]) }));
  const path = `/xyz/${encodeURIComponent(LAYER)}/6/33/21.png`;
  for (const s of servers) { await (await fetch(s.url + path)).arrayBuffer(); await load(s.port, [path], 20000); }
  const t: number[][] = [[], []];
  for (let round = 0; round < 40; round++) for (const i of round % 2 ? [0, 1] : [1, 0]) {
    const b = cpuSeconds(servers[i].pid); await load(servers[i].port, [path], 10000);
    t[i]!.push((cpuSeconds(servers[i].pid) - b) * 100);
  }
  report("hit us", t[0]!, t[1]!);
  for (const s of servers) await s.close();
}
async function seeds(name: string, extra: string | undefined, zoomStop: number, rounds: number) {
  const t: number[][] = [[], []];
  for (let round = 0; round < rounds; round++) for (const i of round % 2 ? [0, 1] : [1, 0]) {
    const { S, C } = sides[i];
    const server = await S.startServer({ configuration: C(upstream.url, [{ name: LAYER, ...(extra ? { extra } : {}) }]) });
    const b = cpuSeconds(server.pid);
    const id = await S.seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop, format: "image/png", threadCount: 8 });
    const job = await S.ended(server, id, 600_000);
    t[i]!.push(((cpuSeconds(server.pid) - b) / job.tiles.stored) * 1000);
    await server.close();
  }
  report(name + " cpu s/1000", t[0]!, t[1]!);
}
if (what.includes("seed")) await seeds("seed 4x4", undefined, 6, 8);
if (what.includes("seed1")) await seeds("seed 1x1", "metatile: [1, 1]", 6, 6);
if (what.includes("skip")) {
  const servers = [];
  const extra = "metatile: [16, 16]";
  for (const { S, C } of sides) servers.push(await S.startServer({ configuration: C(upstream.url, [{ name: LAYER, extra }]) }));
  const req = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 7, format: "image/png", threadCount: 8 };
  for (const i of [0, 1]) await sides[i].S.ended(servers[i], await sides[i].S.seed(servers[i], LAYER, req), 900000);
  const t: number[][] = [[], []], c: number[][] = [[], []];
  for (let round = 0; round < 30; round++) for (const i of round % 2 ? [0, 1] : [1, 0]) {
    const b = cpuSeconds(servers[i].pid);
    const j = await sides[i].S.ended(servers[i], await sides[i].S.seed(servers[i], LAYER, req), 900000);
    t[i]!.push(j.secondsWorked / j.tiles.skipped * 1e6); c[i]!.push(cpuSeconds(servers[i].pid) - b);
  }
  report("skip us/tile", t[0]!, t[1]!); report("skip cpu s/job", c[0]!, c[1]!);
  for (const s of servers) await s.close();
}
if (what.includes("truncate")) {
  const servers = [];
  for (const { S, C } of sides) servers.push(await S.startServer({ configuration: C(upstream.url, [{ name: LAYER, extra: "metatile: [8, 8]" }]) }));
  const t: number[][] = [[], []];
  const req = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, format: "image/png", threadCount: 8 };
  for (let round = 0; round < 30; round++) for (const i of round % 2 ? [0, 1] : [1, 0]) {
    await sides[i].S.ended(servers[i], await sides[i].S.seed(servers[i], LAYER, req), 900000);
    await pause(100);
    const t0 = performance.now();
    const r = await sides[i].S.massTruncate(servers[i], LAYER); await r.arrayBuffer();
    t[i]!.push(performance.now() - t0);
    await pause(100);
  }
  report("truncate ms", t[0]!.slice(5), t[1]!.slice(5));
  for (const s of servers) await s.close();
}
if (what.includes("cold")) {
  const up = await upstreamProcess("map");
  for (const m of [1, 4]) {
    const servers = [];
    for (const { S, C } of sides) servers.push(await S.startServer({ configuration: C(up.url, [{ name: LAYER, extra: `metatile: [${m}, ${m}]` }]) }));
    const t: number[][] = [[], []];
    const ms = async (url: string) => { const t0 = performance.now(); const r = await fetch(url); await r.arrayBuffer(); if (r.status !== 200) throw new Error(String(r.status)); return performance.now() - t0; };
    for (let n = 0; n < 144; n++) {
      const [column, row] = [n % 12, Math.floor(n / 12)];
      const alone = await ms(`${up.url}?WIDTH=${m * 256}&HEIGHT=${m * 256}&BBOX=${column},${row}`);
      for (const i of n % 2 ? [0, 1] : [1, 0]) { t[i]!.push(await ms(`${servers[i].url}/xyz/${encodeURIComponent(LAYER)}/8/${column * 4}/${row * 4}.png`) - alone); await pause(60); }
    }
    report(`cold ${m}x${m} ms beyond`, t[0]!.slice(24), t[1]!.slice(24));
    for (const s of servers) await s.close();
  }
  up.close();
}
if (what.includes("start")) {
  const t: number[][] = [[], []], w: number[][] = [[], []];
  for (let round = 0; round < 10; round++) for (const i of [0, 1]) {
    const t0 = performance.now();
    const server = await sides[i].S.startServer({ configuration: sides[i].C(upstream.url, [{ name: LAYER }]) });
    w[i]!.push(performance.now() - t0); t[i]!.push(cpuSeconds(server.pid));
    await server.close();
  }
  report("start s CPU", t[0]!, t[1]!); report("start ms", w[0]!, w[1]!);
}
upstream.close();
process.exit(0);
