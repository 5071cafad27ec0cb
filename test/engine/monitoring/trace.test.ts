import type { IncomingHttpHeaders } from "node:http";
import { expect, test } from "vitest";
import { ended, seed, startServer } from "../../support/server/server.ts";
import { wmsConfiguration } from "../../support/server/wms-configuration.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const LAYER = "ws:roads";
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const tracestate = "rojo=00f067aa0ba902b7";

test.each([1, 2])("what a request in a trace asks of the upstream is in it too (workers: %i)", async (workers) => {
  await using upstream = await listening();
  const configuration = wmsConfiguration(upstream.url, [{ name: LAYER }], `server: { workers: ${workers} }`);
  await using server = await disposable(startServer({ configuration }));
  const get = async (path: string, headers = {}): Promise<number> => {
    const response = await fetch(server.url + path, { headers });
    await response.arrayBuffer();
    return response.status;
  };
  expect(await get(`/xyz/${LAYER}/4/0/0.png`, { traceparent, tracestate })).toBe(200);
  expect(await get(`/xyz/${LAYER}/4/8/8.png`)).toBe(200);
  expect(await get(`/xyz/${LAYER}/4/0/8.png`, { traceparent: "none" })).toBe(200);
  const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", format: "image/png", type: "seed", zoomStop: 0 });
  await ended(server, id);
  expect(upstream.headers.map((headers) => [headers["traceparent"], headers["tracestate"]])).toEqual([
    [traceparent, tracestate],
    [undefined, undefined],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

test("each answer of the management interface has the name that its request has in the log", async () => {
  await using server = await disposable(startServer());
  const idOf = async (headers: Record<string, string>, init: RequestInit = {}): Promise<string | null> => {
    const response = await fetch(`${server.url}/rest/seed`, { ...init, headers });
    await response.arrayBuffer();
    return response.headers.get("x-request-id");
  };
  expect(await idOf({ "X-Request-Id": "nightly-17" })).toBe("nightly-17");
  expect(await idOf({ traceparent })).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
  const made = await idOf({});
  expect(made).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idOf({})).not.toBe(made);
  expect(await idOf({ "X-Request-Id": "x".repeat(129) })).toMatch(/^[0-9a-f-]{36}$/);

  await idOf({ "X-Request-Id": "kill-1" }, { method: "POST", body: new URLSearchParams({ kill_all: "all" }) });
  const lines = (): unknown[] =>
    server
      .log()
      .split("\n")
      .flatMap((line) => (line.includes("kill-1") ? [JSON.parse(line)] : []));
  await expect
    .poll(lines)
    .toMatchObject([{ requestId: "kill-1", user: null, method: "POST", path: "/rest/seed", status: 200 }]);
  expect(server.log()).not.toContain("nightly-17");
});

async function listening() {
  const upstream = await startUpstream();
  const headers: IncomingHttpHeaders[] = [];
  upstream.behaviour = (_, response) => {
    headers.push(response.req.headers);
    return "render";
  };
  return { url: upstream.url, headers, [Symbol.asyncDispose]: () => upstream.close() };
}

async function disposable<T extends { close(): Promise<void> }>(opening: Promise<T>) {
  const opened = await opening;
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() };
}
