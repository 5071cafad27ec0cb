import { expect, test } from "vitest";
import { layerNamed } from "../../../../test/support/layer.ts";
import { geodetic, served, startProtocols } from "../../../../test/support/tile-protocols.ts";
import type { ServedTile } from "../../../cache/tile-reader.ts";
import { atEveryZoom } from "../../../layer/by-zoom.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { gridSubset } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";

const NOW = Date.UTC(2026, 0, 1);
const TILE = "/xyz/aging/EPSG:4326/0/0/0.png";
const MAP =
  "/service/wms?VERSION=1.1.1&REQUEST=GetMap&LAYERS=aging&SRS=EPSG:4326&BBOX=-170,-80,10,70&WIDTH=500&HEIGHT=400&FORMAT=image/png";

async function lifetimesOf(more: Partial<Layer>, tile: Partial<ServedTile>, target = TILE, headers = {}) {
  const layer = layerNamed("aging", {
    gridSubsets: [gridSubset(geodetic, {})],
    fullWms: true,
    expireClientSeconds: atEveryZoom(3600),
    ...more,
  });
  await using protocols = await startProtocols({ catalogue: () => catalogueOf([layer]) });
  protocols.reader.outcome = () => ({ kind: "tile", tile: { ...served, modifiedMs: NOW - 1000, ...tile } });
  const reply = await protocols.request(target, { headers });
  const { expires } = reply.headers;
  return [
    reply.status,
    reply.headers["cache-control"],
    reply.headers["cdn-cache-control"],
    expires === undefined ? undefined : (Date.parse(expires) - NOW) / 1000,
  ];
}
const stale = { isStale: true } as const;
const minute = { expireCacheSeconds: atEveryZoom(60) };
const cdn = { expireCdnSeconds: 86_400 };

test("a fresh tile has the lifetimes of its layer, and no more than what is left of it", async () => {
  expect(await lifetimesOf({}, {})).toEqual([200, "max-age=3600, must-revalidate", undefined, 3600]);
  expect(await lifetimesOf(cdn, {})).toEqual([200, "max-age=3600, must-revalidate", "max-age=86400", 3600]);
  expect(await lifetimesOf({ ...minute, ...cdn }, {})).toEqual([200, "max-age=59, must-revalidate", "max-age=59", 59]);
  const short = { ...minute, expireClientSeconds: atEveryZoom(10), expireCdnSeconds: 20 };
  expect(await lifetimesOf(short, {})).toEqual([200, "max-age=10, must-revalidate", "max-age=20", 10]);
  const none = { ...minute, expireClientSeconds: atEveryZoom(0) };
  expect(await lifetimesOf(none, {})).toEqual([200, undefined, undefined, undefined]);
  const never = { ...minute, expireClientSeconds: atEveryZoom("no-cache" as const) };
  expect(await lifetimesOf(never, {})).toEqual([200, "no-cache", undefined, undefined]);
});

test("a stale tile has at most staleClientSeconds, at the CDN too", async () => {
  expect(await lifetimesOf(cdn, stale)).toEqual([200, "max-age=15, must-revalidate", "max-age=15", 15]);
  expect(await lifetimesOf({ ...cdn, staleClientSeconds: 0 }, stale)).toEqual([200, "no-cache", "no-cache", undefined]);
  const short = { expireClientSeconds: atEveryZoom(5), expireCdnSeconds: 7 };
  expect(await lifetimesOf(short, stale)).toEqual([200, "max-age=5, must-revalidate", "max-age=7", 5]);
  const none = { expireClientSeconds: atEveryZoom(0) };
  expect(await lifetimesOf(none, stale)).toEqual([200, "max-age=15, must-revalidate", undefined, 15]);
  expect(await lifetimesOf({}, { detail: "cut-off" })).toEqual([200, "max-age=15, must-revalidate", undefined, 15]);
});

test("304, HEAD, maps and KMZ have the same lifetimes", async () => {
  const lasting = ["max-age=59, must-revalidate", "max-age=59"];
  const more = { ...minute, ...cdn };
  const [status, ...unchanged] = await lifetimesOf(more, {}, TILE, { "If-None-Match": served.etag });
  expect([status, ...unchanged]).toEqual([304, ...lasting, 59]);
  expect(await lifetimesOf(more, {}, MAP)).toEqual([200, ...lasting, undefined]);
  expect(await lifetimesOf(more, stale, MAP)).toEqual([200, "max-age=15, must-revalidate", "max-age=15", undefined]);
  const kmz = "/service/kml/aging/x0y0z0.png.kmz";
  expect(await lifetimesOf(more, {}, kmz)).toEqual([200, ...lasting, undefined]);
});

test("a secured layer has no lifetime at a CDN", async () => {
  const layer = { ...cdn, secured: true };
  const headers = { Authorization: "Basic bWU6bWU=" };
  expect(await lifetimesOf(layer, {}, TILE, headers)).toEqual([
    200,
    "max-age=3600, must-revalidate, private",
    undefined,
    3600,
  ]);
});
