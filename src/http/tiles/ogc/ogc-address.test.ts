import { expect, test } from "vitest";
import { type ProtocolServer, startProtocols } from "../../../../test/support/tile-protocols.ts";
import { OPENAPI_TYPE } from "./ogc-documents.ts";

const read = async (protocols: ProtocolServer, address: string) => {
  const reply = await protocols.request(address);
  const type = address === "/ogc/api" ? OPENAPI_TYPE : "application/json";
  expect([address, reply.status, reply.headers["content-type"]]).toEqual([address, 200, type]);
  return JSON.parse(reply.body);
};

test("every link from the landing page leads somewhere, down to the tiles", async () => {
  await using protocols = await startProtocols();
  const seen = new Set<string>();
  const pages = new Set<string>();
  const maps = new Set<string>();
  const visit = async (address: string): Promise<void> => {
    if (seen.has(address)) return;
    seen.add(address);
    const text = JSON.stringify(await read(protocols, address));
    for (const [, href = ""] of text.matchAll(/"href":"([^"]*)"/g)) {
      // The documentation is not a part of the protocols.
      if (href === `${protocols.baseUrl}/docs/reference/protocols.html`) continue;
      expect(href.startsWith(`${protocols.baseUrl}/ogc`)).toBe(true);
      if (/\/map\?f=\w+$/.test(href)) maps.add(href.slice(protocols.baseUrl.length));
      else if (href.endsWith("?f=html")) pages.add(href.slice(protocols.baseUrl.length));
      else if (!href.includes("{")) await visit(href.slice(protocols.baseUrl.length));
    }
  };
  await visit("/ogc");
  expect(seen).toContain("/ogc/api");
  expect(seen).toContain("/ogc/tileMatrixSets/WebMercatorQuad");
  expect(seen).toContain("/ogc/collections/a%2Fb%40c%25%C3%A9/map/tiles/EPSG%3A900913");
  expect([...maps]).toEqual(["/ogc/collections/full/map?f=png"]);
  const map = await protocols.request("/ogc/collections/full/map?f=png");
  expect([map.status, map.headers["content-type"]]).toEqual([200, "image/png"]);
  expect(map.headers).toMatchObject({
    "content-crs": "<http://www.opengis.net/def/crs/EPSG/0/4326>",
    "content-bbox": "-90,-180,90,180",
  });
  expect(pages).toContain("/ogc/api?f=html");
  for (const page of pages) {
    const { status, headers } = await protocols.request(page);
    expect([page, status, headers["content-type"]]).toEqual([page, 200, "text/html; charset=utf-8"]);
  }
});

test("a tile set has its limits and a template that works, with rows from the top", async () => {
  await using protocols = await startProtocols();
  const tileset = await read(protocols, "/ogc/collections/topp:states/map/tiles/WorldCRS84Quad");
  expect(tileset).toMatchObject({
    dataType: "map",
    crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
    tileMatrixSetURI: "http://www.opengis.net/def/tilematrixset/OGC/1.0/WorldCRS84Quad",
  });
  const [limits] = tileset.tileMatrixSetLimits;
  expect(limits).toEqual({ tileMatrix: "1", minTileRow: 0, maxTileRow: 0, minTileCol: 0, maxTileCol: 1 });
  const item = tileset.links.find((l: { rel: string }) => l.rel === "item");
  const address = item.href
    .replace("{tileMatrix}", limits.tileMatrix)
    .replace("{tileRow}", limits.minTileRow)
    .replace("{tileCol}", limits.maxTileCol);
  const tile = await protocols.request(address.slice(protocols.baseUrl.length));
  expect([tile.status, tile.headers["content-type"]]).toEqual([200, "image/png"]);
  expect(protocols.reader.requests.at(-1)).toMatchObject({
    index: { x: 1, y: 1, z: 1 },
    subset: { gridSet: { id: "EPSG:4326" } },
  });
});

test("the tile matrix sets are those of the register, in their own order of axes", async () => {
  await using protocols = await startProtocols();
  expect(await read(protocols, "/ogc/tileMatrixSets/WorldCRS84Quad")).toMatchObject({
    orderedAxes: ["Lon", "Lat"],
    tileMatrices: expect.arrayContaining([
      expect.objectContaining({
        id: "0",
        cellSize: 0.703125,
        pointOfOrigin: [-180, 90],
        matrixWidth: 2,
        matrixHeight: 1,
      }),
    ]),
  });
  expect(await read(protocols, "/ogc/tileMatrixSets/EPSG:4326")).toMatchObject({
    crs: "http://www.opengis.net/def/crs/EPSG/0/4326",
    orderedAxes: ["Lat", "Lon"],
    tileMatrices: expect.arrayContaining([expect.objectContaining({ id: "EPSG:4326:0", pointOfOrigin: [90, -180] })]),
  });
});

test("f chooses the format, and wrong or unknown values are reported", async () => {
  await using protocols = await startProtocols();
  const tiles = "/ogc/collections/topp:states/map/tiles";
  for (const [query, type] of [
    ["", "image/png"],
    ["?f=jpg", "image/jpeg"],
    ["?f=image/jpeg", "image/jpeg"],
  ] as const)
    expect((await protocols.request(`${tiles}/WebMercatorQuad/1/0/1${query}`)).headers["content-type"]).toBe(type);
  for (const [address, status] of [
    [`${tiles}/WebMercatorQuad/1/0/2`, 404],
    [`${tiles}/WebMercatorQuad/1/x/0`, 400],
    [`${tiles}/WebMercatorQuad/x/0/0`, 400],
    [`${tiles}/WebMercatorQuad/1/0/0?f=gif`, 400],
    [`${tiles}/WebMercatorQuad/1/0`, 404],
    [`${tiles}/nope`, 404],
    ["/ogc/collections/nope", 404],
    ["/ogc/collections/topp:states/tiles", 404],
    ["/ogc/tileMatrixSets/nope", 404],
    ["/ogc/nope", 404],
    ["/ogc/%zz", 400],
  ] as const)
    expect([address, (await protocols.request(address)).status]).toEqual([address, status]);
});

test("the dataset's tile sets are those of all layers; its tiles are of the layer that is named, else of the first", async () => {
  await using protocols = await startProtocols();
  const { tilesets } = await read(protocols, "/ogc/map/tiles");
  expect(tilesets.length).toBeGreaterThan(5);
  expect((await read(protocols, "/ogc")).links).toContainEqual(
    expect.objectContaining({
      rel: "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map",
      href: `${protocols.baseUrl}/ogc/map/tiles`,
    }),
  );
  const layerOf = async (address: string) => {
    const { status, headers } = await protocols.request(address);
    return [status, headers["geowebcache-layer"]];
  };
  expect(await layerOf("/ogc/map/tiles/WebMercatorQuad/1/0/1?f=png")).toEqual([200, "topp:states"]);
  expect(await layerOf("/ogc/map/tiles/WebMercatorQuad/1/0/1?f=png&collections=secret")).toEqual([401, undefined]);
  expect(await layerOf("/ogc/map/tiles/WorldCRS84Quad/1/0/1?collections=img%20states")).toEqual([200, "img states"]);
  const named = await read(protocols, "/ogc/map/tiles/WorldCRS84Quad?collections=limited");
  expect(named.title).toBe("limited: WorldCRS84Quad");
  for (const nowhere of ["/ogc/map", "/ogc/map/tiles/none", "/ogc/tiles/none", "/ogc/map/tiles?collections=none"])
    expect((await protocols.request(nowhere)).status, nowhere).toBe(404);
});
