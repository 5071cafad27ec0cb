import { expect, test } from "vitest";
import { closedAfterEach } from "../support/running.ts";
import { startServer, until } from "../support/server.ts";
import { startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const running = closedAfterEach();
const TILE = "/xyz/ws:roads/3/4/2.png";

test("an expired tile is served at once, and drawn anew behind the readers by one request", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [
      { name: "ws:roads", extra: "expireCacheSeconds: 1\n    staleWhileRevalidateSeconds: 3600" },
    ]),
  });
  const { upstream, server } = { upstream: running.upstream, server: running.server };
  const read = async () => {
    const response = await fetch(server.url + TILE);
    await response.arrayBuffer();
    return {
      status: response.status,
      result: response.headers.get("geowebcache-cache-result"),
      modified: response.headers.get("last-modified"),
    };
  };
  const first = await read();
  expect(first).toMatchObject({ status: 200, result: "MISS" });

  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  upstream.behaviour = () => gate.then(() => "draw");
  await until("it is drawn anew", async () => {
    expect(await read()).toMatchObject({ status: 200, result: "HIT", modified: first.modified });
    return upstream.asked.length === 2 ? true : undefined;
  });
  for (let n = 0; n < 20; n++) expect(await read()).toMatchObject({ result: "HIT", modified: first.modified });
  expect(upstream.asked).toHaveLength(2);
  open();
  await until("the new one is served", async () => ((await read()).modified !== first.modified ? true : undefined));
});

test("Cache-Status tells a tile that was not there from one that has expired, and an outage from a hit", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: "ws:roads", extra: "expireCacheSeconds: 1" }]),
  });
  const { upstream, server } = { upstream: running.upstream, server: running.server };
  const read = async () => {
    const response = await fetch(server.url + TILE);
    await response.arrayBuffer();
    const { headers } = response;
    return [response.status, headers.get("geowebcache-cache-result"), headers.get("cache-status")];
  };
  expect(await read()).toEqual([200, "MISS", "Nuthatch; fwd=miss"]);
  expect(await read()).toEqual([200, "HIT", "Nuthatch; hit"]);
  await until("it has expired and been drawn again", async () => {
    const [, , status] = await read();
    return status === "Nuthatch; fwd=stale" ? true : undefined;
  });
  upstream.behaviour = (_, response) => {
    response.writeHead(500).end("no");
    return "handled";
  };
  await until("it has expired and cannot be drawn", async () => {
    const [status, result, cacheStatus] = await read();
    expect([status, result]).toEqual([200, "HIT"]);
    return cacheStatus === "Nuthatch; fwd=stale" ? true : undefined;
  });
});
