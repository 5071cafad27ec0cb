import { readdirSync, readFileSync } from "node:fs";
import { type TestContext, test } from "vitest";
import { massTruncate, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const LAYER = "ws:roads";

async function start(
  { onTestFinished }: TestContext,
  more?: string,
  extra?: string,
): Promise<{ server: TestServer; upstream: Upstream }> {
  const upstream = await startUpstream();
  onTestFinished(() => upstream.close());
  const layer = { name: LAYER, ...(extra === undefined ? {} : { extra }) };
  const server = await startServer({ configuration: smallTiles(upstream.url, [layer], more) });
  onTestFinished(() => server.close());
  return { server, upstream };
}

/** The server's own processes that run a program. */
function processesOf(server: TestServer, program: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
        return Number(parent) === server.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program);
      } catch {
        return false;
      }
    });
}

/** Stops processes until the test is over. A stopped process does not end with its server. */
function stop({ onTestFinished }: TestContext, pids: readonly number[]): void {
  if (pids.length === 0) throw new Error("there is no such process");
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  onTestFinished(() => {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // The server has ended it.
      }
    }
  });
}

const read = async (server: TestServer, path: string) => {
  const response = await fetch(`${server.url}/xyz/${encodeURIComponent(LAYER)}/${path}.png`);
  return { status: response.status, text: (await response.arrayBuffer()).byteLength };
};

// Each test waits for a deadline of the server, so they run at the same time.
test.concurrent("a renderer that is stopped is ended after its deadline: its renders are given up, and the next ones go on", async (context) => {
  const { expect } = context;
  const { server } = await start(context);
  expect((await read(server, "2/1/1")).status).toBe(200);
  stop(context, processesOf(server, "renderer-process"));
  const given = await Promise.all(["5/1/1", "5/9/9", "5/17/17"].map((path) => read(server, path)));
  // The renders of the stopped renderer fail; renders that a new renderer took succeed.
  expect(given.map(({ status }) => status).sort()).toContain(502);
  expect(server.log()).toContain("a renderer does not answer and is ended");
  expect((await read(server, "5/1/1")).status).toBe(200);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/nuthatch_renderers_hung_total 1/);
  expect((await massTruncate(server, LAYER)).status).toBe(200);
});

test.concurrent("a map whose renderer is stopped, and ended, is 503 with Retry-After, and the next one is a picture", async (context) => {
  const { expect } = context;
  const { server } = await start(context, undefined, "fullWms: true");
  const map = () =>
    fetch(
      `${server.url}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${LAYER}&STYLES=&SRS=EPSG:900913&BBOX=-9e6,-9e6,9e6,9e6&WIDTH=200&HEIGHT=200&FORMAT=image/png`,
    );
  expect((await map()).status).toBe(200);
  stop(context, processesOf(server, "renderer-process"));
  const answer = await map();
  expect(server.log()).toContain("a renderer does not answer and is ended");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await map()).status).toBe(200);
});

test.concurrent("an HTTP worker that is stopped holds a change for its deadline, and is replaced", async (context) => {
  const { expect } = context;
  const { server } = await start(context, "server: { workers: 2 }");
  const serving = processesOf(server, "http-worker-process");
  expect(serving.length).toBe(2);
  stop(context, serving.slice(0, 1));
  // Node keeps a connection open that was passed to the stopped worker when the worker is killed, so the client
  // aborts and repeats the request.
  await until("the change is made", async () => {
    const answer = await fetch(`${server.url}/rest/masstruncate`, {
      method: "POST",
      headers: { "Content-Type": "text/xml" },
      body: `<truncateLayer><layerName>${LAYER}</layerName></truncateLayer>`,
      signal: AbortSignal.timeout(20_000),
    }).catch(() => undefined);
    return answer?.status === 200 ? true : undefined;
  });
  await until("the stopped one is ended", async () =>
    server.log().includes("an HTTP worker does not answer and is ended") ? true : undefined,
  );
  await until("there are two again", async () =>
    processesOf(server, "http-worker-process").length === 2 ? true : undefined,
  );
});
