import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { wmsConfiguration } from "/work/h/me/test/support/wms-configuration.ts";
import * as S from "/work/h/me/test/support/server.ts";
import { load } from "/work/h/me/bench/load.ts";
import { cpuSeconds } from "/work/h/me/bench/figures.ts";
import { upstreamProcess } from "/work/h/me/bench/peers.ts";
const [which, what, dir, ...flags] = process.argv.slice(2) as string[];
const root = which === "old" ? "/work/h/old-bench" : "/work/h/me";
const LAYER = "ws:roads";
const upstream = await upstreamProcess();
const extra = what === "seed1" ? { extra: "metatile: [1, 1]" } : {};
const data = mkdtempSync("/var/tmp/prof-");
writeFileSync(data + "/n.yaml", wmsConfiguration(upstream.url, [{ name: LAYER, ...extra }] as any));
const prof = dir === "-" ? [] : ["--cpu-prof", `--cpu-prof-dir=${dir}`, "--cpu-prof-interval", "500"];
const child = spawn(process.execPath, [...prof, ...flags, root + "/bin/nuthatch.mjs", "serve"], { env: { ...process.env, NUTHATCH_CONFIG: data + "/n.yaml", NUTHATCH_HOST: "127.0.0.1", NUTHATCH_PORT: "0", NUTHATCH_DATA_DIR: data }, stdio: ["ignore", "pipe", "pipe"] });
let log = "";
const url = await new Promise<string>((resolve) => { const l = (c: Buffer) => { log += c; const m = /listening on (http:\/\/\S+?)\/?\s/.exec(log); if (m) resolve(m[1]!); }; child.stdout.on("data", l); child.stderr.on("data", l); });
const s: any = { url, port: Number(new URL(url).port), pid: child.pid, dataDir: data };
const b = cpuSeconds(s.pid);
if (what === "hits") {
  const path = `/xyz/${encodeURIComponent(LAYER)}/6/33/21.png`;
  await (await fetch(s.url + path)).arrayBuffer();
  await load(s.port, [path], 20000);
  const c = cpuSeconds(s.pid);
  await load(s.port, [path], 100000);
  console.log(which, "us", (cpuSeconds(s.pid) - c) * 10);
} else if (what !== "start") {
  const id = await S.seed(s, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: what === "seed1" ? 6 : 7, format: "image/png", threadCount: 8 });
  const job = await S.ended(s, id, 600_000);
  console.log(which, "cpu s/1000", ((cpuSeconds(s.pid) - b) / job.tiles.stored) * 1000, job.tiles.stored);
}
child.kill("SIGTERM"); await once(child, "exit"); upstream.close(); process.exit(0);
