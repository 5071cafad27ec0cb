import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { massTruncate, startServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

test("a request for a stored tile alone gets it, or 504, and renders nothing", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [
      { name: "ws:roads", extra: "metatile: [1, 1]\n    fullWms: true" },
      { name: "old", extra: "expireCacheSeconds: 1" },
      { name: "stale", extra: "expireCacheSeconds: 1\n    staleWhileRevalidateSeconds: 3600" },
    ]),
  });
  const { upstream, server } = { upstream: running.upstream, server: running.server };
  const get = async (path: string, cacheControl = "max-age=60, Only-If-Cached", method = "GET") => {
    const response = await fetch(server.url + path, { method, headers: { "Cache-Control": cacheControl } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const kvp =
    "/service/wmts?REQUEST=GetTile&LAYER=ws:roads&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:3&TILEROW=2&TILECOL=4";
  const tiles = ["/xyz/ws:roads/3/4/2.png", "/service/tms/1.0.0/ws:roads@EPSG:900913@png/3/4/5.png", kvp];
  const map =
    "/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=ws:roads&STYLES=&SRS=EPSG:900913&BBOX=0,0,5000000,5000000&WIDTH=100&HEIGHT=100&FORMAT=image/png";
  for (const path of [...tiles, map]) expect((await get(path)).status, path).toBe(504);
  expect((await get(tiles[0] ?? "", "only-if-cached", "HEAD")).status).toBe(504);
  // Such a request is neither a miss nor an error.
  const none = { requests: 0, hits: 0, misses: 0, failed: 0, hitRatio: null };
  const stats = await (await fetch(`${server.url}/api/v1/stats?by=layer`)).json();
  expect(stats.total).toMatchObject({ ...none, notCached: tiles.length + 1, latency: { p50: null } });
  expect(stats.layers).toMatchObject([{ layer: "ws:roads", ...none, notCached: tiles.length + 1 }]);
  const { requests } = await (await fetch(`${server.url}/api/v1/server`)).json();
  expect(requests).toMatchObject({ ...none, notCached: tiles.length + 1 });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^nuthatch_tile_requests_not_cached_total\{layer="ws:roads"\} [1-9]\d*$/m);
  expect(metrics).toMatch(/^nuthatch_tile_request_seconds_count\{result="failed"\} 0$/m);
  expect(metrics).not.toMatch(/^nuthatch_tile_(requests|failures)_total\{.*\} [1-9]/m);
  const refused = await get(kvp);
  expect(refused.headers.get("content-type")).toBe("text/xml");
  expect(refused.headers.get("cache-control")).toBe("no-store");
  expect(refused.text).toContain("only-if-cached");
  expect(upstream.asked.length).toBe(0);

  expect((await get(tiles[0] ?? "", "no-transform")).status).toBe(200);
  for (const path of tiles) expect((await get(path)).status, path).toBe(200);
  expect(upstream.asked.length).toBe(1);
  await massTruncate(server, "ws:roads");
  expect((await get(kvp)).status).toBe(504);

  for (const layer of ["old", "stale"]) expect((await get(`/xyz/${layer}/3/4/2.png`, "")).status).toBe(200);
  const before = upstream.asked.length;
  await until("the tile has expired", async () =>
    (await get("/xyz/old/3/4/2.png")).status === 504 ? true : undefined,
  );
  const stale = await get("/xyz/stale/3/4/2.png");
  expect([stale.status, upstream.asked.length]).toEqual([200, before]);
});
