// Runs the built program once, so that each of its processes writes its code cache (src/launch/launch.ts).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** Of one run of the server, which takes two seconds. */
const LIMIT_MS = 60_000;
const main = fileURLToPath(new URL("../dist/main.cjs", import.meta.url));
const SEED = {
  seedRequest: {
    name: "topp:states",
    type: "seed",
    gridSetId: "EPSG:900913",
    zoomStart: 0,
    zoomStop: 2,
    format: "image/png",
    threadCount: 2,
  },
};
/** Requests that most servers get. The tile is a miss, then a hit. */
const PATHS = [
  "/xyz/topp:states/3/2/3.png",
  "/xyz/topp:states/3/2/3.png",
  "/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities",
  "/service/wms?SERVICE=WMS&REQUEST=GetCapabilities",
  "/rest/layers.xml",
  "/rest/seed.json",
  "/rest/layers/topp:states.xml",
  "/api/v1/layers/topp:states",
  "/api/v1/jobs",
  "/api/v1/status",
];

/** Resolves with the address in the first line of the server's output that has one. */
async function addressOf(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error("the server has ended before it was ready");
}

/** @param workers the number of HTTP workers */
async function runServer(workers) {
  const folder = mkdtempSync(join(tmpdir(), "nuthatch-warm-code-"));
  const env = {
    PATH: process.env.PATH,
    NUTHATCH_HOST: "127.0.0.1",
    NUTHATCH_PORT: "0",
    NUTHATCH_DATA_DIR: folder,
    NUTHATCH_SERVER_WORKERS: String(workers),
  };
  const server = spawn(process.execPath, [main, "serve"], { env, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(server, "close");
  // Every wait for the server ends with it.
  const limit = AbortSignal.timeout(LIMIT_MS);
  limit.addEventListener("abort", () => server.kill("SIGKILL"));
  try {
    const address = await addressOf(server);
    server.stdout.resume();
    while ((await fetch(`${address}/readyz`, { signal: limit })).status !== 200) await setTimeout(20);
    const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(SEED) };
    await (await fetch(`${address}/rest/seed/topp:states.json`, { ...post, signal: limit })).arrayBuffer();
    for (const path of PATHS) await (await fetch(address + path, { signal: limit })).arrayBuffer();
    const list = spawn(process.execPath, [main, "jobs", "--url", address], {
      env,
      stdio: "ignore",
      signal: limit,
    });
    await once(list, "close");
  } finally {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true });
  }
}

/** Without a cache the program works the same: a failure is reported, and does not fail the build. */
export async function warmCode() {
  try {
    for (const workers of [1, 2]) await runServer(workers);
  } catch (error) {
    console.error(`nuthatch: the first starts will take longer, as the program could not be run once: ${error}`);
  }
}
