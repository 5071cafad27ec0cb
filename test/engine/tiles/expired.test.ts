import { utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, rendered, seed, startServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const TILE = "/xyz/ws:roads/3/4/2.png";

test("an expired tile is served at once, and rendered again in the background by one request", async () => {
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
  expect(await read()).toMatchObject({ status: 200, result: "MISS" });
  // A tile of this age expires at the next full second. Its renewal would join the render that still runs.
  await rendered(server);

  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  upstream.behaviour = () => gate.then(() => "render");
  // The date of the stored file: that of the first response is of the render, which may be a second earlier.
  const first = await read();
  await until("it is rendered anew", async () => {
    expect(await read()).toMatchObject({ status: 200, result: "HIT", modified: first.modified });
    return upstream.asked.length === 2 ? true : undefined;
  });
  for (let n = 0; n < 20; n++) expect(await read()).toMatchObject({ result: "HIT", modified: first.modified });
  expect(upstream.asked).toHaveLength(2);
  open();
  await until("the new one is served", async () => ((await read()).modified !== first.modified ? true : undefined));
});

test("Cache-Status distinguishes a missing tile from an expired one, and an outage from a hit", async () => {
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
  // A tile of this age expires at the next full second, perhaps before it is read again.
  await until("it is read before it expires", async () => ((await read())[2] === "Nuthatch; hit" ? true : undefined));
  await until("it has expired and been rendered again", async () => {
    const [, , status] = await read();
    return status === "Nuthatch; fwd=stale" ? true : undefined;
  });
  upstream.behaviour = (_, response) => {
    response.writeHead(500).end("no");
    return "handled";
  };
  await until("it has expired and cannot be rendered", async () => {
    const [status, result, cacheStatus] = await read();
    expect([status, result]).toEqual([200, "HIT"]);
    return cacheStatus === "Nuthatch; fwd=stale" ? true : undefined;
  });
});

test("where tiles expire by zoom, readers and seeds renew those of its levels alone", async () => {
  running.upstream = await startUpstream();
  const rules = "[{ minZoom: 0, seconds: 0 }, { minZoom: 3, seconds: 3600 }]";
  const server = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: "ws:roads", extra: `expireCacheSeconds: ${rules}` }]),
  });
  running.server = server;
  const range = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3, format: "image/png", threadCount: 1 };
  await ended(server, await seed(server, "ws:roads", range));
  const then = new Date(Date.now() - 7_200_000);
  for (const file of scanStore(server.dataDir).files) utimesSync(file, then, then);
  // The records do not notice changes of files by other programs; the next start counts the files again.
  const later = await server.restart("SIGTERM");
  running.server = later;
  const result = async (path: string) => {
    const response = await fetch(`${later.url}/xyz/ws:roads/${path}.png`);
    await response.arrayBuffer();
    return response.headers.get("geowebcache-cache-result");
  };
  expect([await result("2/0/0"), await result("3/0/0")]).toEqual(["HIT", "MISS"]);
  const explained = async (path: string) => {
    const { state, expireCacheSeconds }: { state: string; expireCacheSeconds: number } = JSON.parse(
      await (await fetch(`${later.url}/xyz/ws:roads/${path}.png?explain`)).text(),
    );
    return [state, expireCacheSeconds];
  };
  expect(await explained("2/3/3")).toEqual(["kept", 0]);
  expect(await explained("3/7/7")).toEqual(["expired", 3600]);
  const { zooms } = await ended(later, await seed(later, "ws:roads", range));
  expect(zooms?.map(({ tiles }) => [tiles.stored, tiles.skipped])).toEqual([
    [0, 1],
    [0, 4],
    [0, 16],
    // A metatile of sixteen was rendered for the reader.
    [48, 16],
  ]);
});
