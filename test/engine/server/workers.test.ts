import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ended, massTruncate, rows, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const LAYER = "ws:roads";
const CONNECTIONS = 8;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Two HTTP workers in front of an upstream. */
async function start(): Promise<{ server: TestServer; upstream: Upstream }> {
  const upstream = await startUpstream();
  open.push(() => upstream.close());
  const server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: LAYER }], "server: { workers: 2 }"),
  });
  open.push(() => server.close());
  return { server, upstream };
}

interface Read {
  readonly status: number;
  readonly etag: string;
  readonly result: string;
}

/** Over a separate connection, because connections are assigned to the processes in turn. */
const read = (server: TestServer): Promise<Read> =>
  new Promise((resolve, reject) => {
    const sent = request(`${server.url}/xyz/${encodeURIComponent(LAYER)}/2/1/1.png`, { agent: false }, (response) => {
      response.resume();
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          etag: String(response.headers.etag),
          result: String(response.headers["geowebcache-cache-result"]),
        }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });

async function readByAll(server: TestServer): Promise<{ etags: readonly string[]; hits: number }> {
  const reads = await Promise.all(Array.from({ length: CONNECTIONS }, () => read(server)));
  expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
  return {
    etags: [...new Set(reads.map(({ etag }) => etag))],
    hits: reads.filter(({ result }) => result === "HIT").length,
  };
}

function servingProcesses(server: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const parent = / (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) \S/, ""))?.[1];
        return (
          Number(parent) === server && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("/http-worker-process.cjs")
        );
      } catch {
        // It has just ended.
        return false;
      }
    })
    .map(Number);
}

test("what one process truncates or reseeds no other serves any more", async () => {
  const { server, upstream } = await start();
  expect(servingProcesses(server.pid)).toHaveLength(2);
  const seen = new Set<string>();
  for (let version = 1; version <= 6; version++) {
    upstream.behaviour = renderNoise(version, 64);
    expect((await massTruncate(server, LAYER)).status).toBe(200);
    const [etag = "", ...others] = (await readByAll(server)).etags;
    expect([others, seen.has(etag)]).toEqual([[], false]);
    seen.add(etag);
    // Now all have it in memory.
    expect(await readByAll(server)).toEqual({ etags: [etag], hits: CONNECTIONS });
  }
  const requested = upstream.asked.length;
  expect(requested, "one render per version, whoever asks").toBe(6);

  upstream.behaviour = renderNoise(50, 64);
  const id = await seed(server, LAYER, {
    gridSetId: "EPSG:900913",
    format: "image/png",
    type: "reseed",
    zoomStart: 0,
    zoomStop: 2,
    threadCount: 2,
  });
  expect((await ended(server, id)).outcome).toBe("done");
  const [etag = "", ...others] = (await readByAll(server)).etags;
  expect([others, seen.has(etag)]).toEqual([[], false]);
  expect(await rows(server)).toEqual([]);
  expect((await usage(server)).total.tiles).toBe(21);
});

test("a process that dies is replaced, and the others serve on", async () => {
  const { server } = await start();
  await readByAll(server);
  const [victim, survivor] = servingProcesses(server.pid);
  // A signal to process 0 would end the whole test run.
  if (victim === undefined) throw new Error("no HTTP worker was found");
  process.kill(victim, "SIGKILL");
  const now = await until("there are two again", async () => {
    const found = servingProcesses(server.pid);
    return found.length === 2 && !found.includes(victim) ? found : undefined;
  });
  expect(now).toContain(survivor);
  // The new one listens as soon as it has begun.
  await until("all connections are answered", async () =>
    (await Promise.allSettled(Array.from({ length: CONNECTIONS }, () => read(server)))).every(
      (r) => r.status === "fulfilled" && r.value.status === 200,
    )
      ? true
      : undefined,
  );
  expect((await massTruncate(server, LAYER)).status).toBe(200);
  expect((await readByAll(server)).etags).toHaveLength(1);
});

test("replacements that find the port taken by another program end, and one serves when it is free", async () => {
  const { server } = await start();
  await readByAll(server);
  const port = Number(new URL(server.url).port);
  const bind = (): Promise<Server | undefined> =>
    new Promise((resolve) => {
      const other = createServer((socket) => socket.destroy());
      other.once("error", () => resolve(undefined));
      other.listen(port, "127.0.0.1", () => resolve(other));
    });
  // The primary closes the port with the last process; a replacement that starts before is killed again.
  const other = await until("the port is another program's", () => {
    for (const pid of servingProcesses(server.pid)) process.kill(pid, "SIGKILL");
    return bind();
  });
  open.push(() => new Promise((resolve) => other.close(() => resolve())));
  const tries = (): number => server.log().split("an HTTP worker cannot serve").length - 1;
  await until("replacements have tried in vain", async () => (tries() >= 3 ? true : undefined));
  await new Promise((resolve) => other.close(resolve));
  await until("all connections are answered by two processes", async () => {
    if (servingProcesses(server.pid).length !== 2) return undefined;
    const reads = await Promise.allSettled(Array.from({ length: CONNECTIONS }, () => read(server)));
    return reads.every((r) => r.status === "fulfilled" && r.value.status === 200) ? true : undefined;
  });
});

test("they end with the server, after a signal and after a kill", async () => {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const { server } = await start();
    await readByAll(server);
    const pids = servingProcesses(server.pid);
    expect(pids).toHaveLength(2);
    expect(await server.kill(signal)).toBe(signal === "SIGTERM" ? 0 : null);
    await until("nobody is left", async () => (pids.some(isAlive) ? undefined : true), 10_000);
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
