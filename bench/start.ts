import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { childrenOf } from "../test/support/server/processes.ts";
import { ended, massTruncate, seed, startServer, type TestServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { type BenchLength, cpuSeconds, median, memoryMiB, pause } from "./support/figures.ts";
import { upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
const PROGRAM = fileURLToPath(new URL("../bin/nuthatch.mjs", import.meta.url));
const ROUNDS = { full: 5, short: 2 } as const;
/** The runs of a command in one measurement: a single one is too short for the clock of processes. */
const COMMANDS = 10;
const REST_MS = 10_000;

/** Returns the CPU seconds of one run of `node` with these arguments, by the `times` of a shell (POSIX). */
async function commandSeconds(...args: readonly string[]): Promise<number> {
  const script = `for i in $(seq ${COMMANDS}); do "$@" >/dev/null; done; times`;
  const child = spawn("sh", ["-c", script, "sh", process.execPath, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of child.stdout) text += String(chunk);
  const [, children = ""] = text.trim().split("\n");
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return seconds.reduce((sum, value) => sum + value, 0) / COMMANDS;
}

/** Returns the CPU seconds of a server and its children that pass until `run` is done. */
async function secondsOf({ pid }: TestServer, run: () => Promise<unknown>): Promise<number> {
  const before = cpuSeconds(pid);
  await run();
  return cpuSeconds(pid) - before;
}

/**
 * Measures commands and the start of a server with its demo layers, its first tile, and the start of a renderer, by the
 * CPU of the process tree: ratios to `node -e 0` in the same round.
 */
export async function benchStart(length: BenchLength): Promise<void> {
  const rounds = ROUNDS[length];
  const measured: Record<"bare" | "version" | "ready" | "tile" | "renderer", number[]> = {
    bare: [],
    version: [],
    ready: [],
    tile: [],
    renderer: [],
  };
  const wallMs: number[] = [];
  const memory: number[] = [];
  let restMiB: number | undefined;
  const upstream = await upstreamProcess("map");
  for (let round = 0; round < rounds; round++) {
    const bare = await commandSeconds("-e", "0");
    measured.bare.push(bare);
    measured.version.push((await commandSeconds(PROGRAM, "--version")) / bare);
    const t0 = performance.now();
    const server = await startServer();
    while ((await fetch(`${server.url}/readyz`)).status !== 200);
    wallMs.push(performance.now() - t0);
    measured.ready.push(cpuSeconds(server.pid) / bare);
    memory.push(memoryMiB(server.pid));
    if (round === 0 && length === "full") {
      await pause(REST_MS);
      restMiB = memoryMiB(server.pid);
    }
    const tile = await secondsOf(server, async () => {
      await (await fetch(`${server.url}/xyz/topp:states/3/2/3.png`)).arrayBuffer();
      // The other tiles of the metatile are still being encoded.
      await pause(300);
    });
    measured.tile.push(tile / bare);
    await server.close();
    measured.renderer.push((await rendererSeconds(upstream.url)) / bare);
  }
  upstream.close();
  const ratio = (name: keyof typeof measured): string => median(measured[name]).toFixed(1);
  console.log(
    `start, CPU as a ratio to node -e 0 (${(median(measured.bare) * 1000).toFixed(0)} ms): nuthatch --version ${ratio("version")}, until ready ${ratio("ready")}, then the first tile ${ratio("tile")}, a renderer until V8 has compiled its code ${ratio("renderer")}`,
  );
  console.log(
    `  ready after ${median(wallMs).toFixed(0)} ms (best ${Math.min(...wallMs).toFixed(0)}); ${median(memory).toFixed(0)} MiB then${restMiB === undefined ? "" : `, ${restMiB.toFixed(0)} ten seconds later`}`,
  );
}

/**
 * Returns the CPU time of each renderer in its first seed, beyond the same seed by renderers that have compiled their
 * code.
 */
async function rendererSeconds(url: string): Promise<number> {
  const server = await startServer({ configuration: wmsConfiguration(url, [{ name: LAYER }]) });
  const once = (): Promise<number> =>
    secondsOf(server, async () => {
      const job = await seed(server, LAYER, {
        gridSetId: "EPSG:900913",
        zoomStart: 0,
        zoomStop: 5,
        format: "image/png",
        threadCount: 8,
      });
      await ended(server, job, 600_000);
    });
  const seconds: number[] = [];
  for (let n = 0; n < 3; n++) {
    seconds.push(await once());
    await massTruncate(server, LAYER);
  }
  const renderers = childrenOf(server.pid).length;
  await server.close();
  const [first = Number.NaN, ...later] = seconds;
  return (first - Math.min(...later)) / renderers;
}
