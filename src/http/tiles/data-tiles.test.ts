import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sentAsIs } from "../../../test/support/network/sent-as-is.ts";
import { served, startProtocols, states } from "../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import { formatOf, type TileFormat } from "../../layer/format.ts";

function formatNamed(mimeType: string): TileFormat {
  const found = formatOf(mimeType);
  if (found === undefined) throw new Error(mimeType);
  return found;
}
const MVT = "application/vnd.mapbox-vector-tile";
const GEOJSON = "application/json;type=geojson";
const VECTOR_LAYERS = [{ id: "roads", fields: { name: "String" }, description: "All roads" }];
const layer = {
  ...states,
  fullWms: true,
  formats: [MVT, GEOJSON, "image/png"].map(formatNamed),
  vectorLayers: VECTOR_LAYERS,
};
const BYTES = Buffer.concat([Buffer.from([0x1a, 0x05]), Buffer.alloc(2000, "motorway ")]);

const started = async () => {
  const protocols = await startProtocols({ catalogue: () => catalogueOf([layer]) });
  protocols.reader.outcome = () => ({ kind: "tile", tile: { ...served, bytes: BYTES } });
  return protocols;
};
type Protocols = Awaited<ReturnType<typeof started>>;

const get = (
  protocols: Protocols,
  target: string,
  headers: Record<string, string> = {},
  method: "GET" | "HEAD" = "GET",
) => sentAsIs(protocols.baseUrl + target, { headers, method });
const TILE = "/xyz/topp:states/2/1/0.pbf";

test("a vector tile has its Content-Type at every protocol, by whatever name its format is requested", async () => {
  await using protocols = await started();
  const targets = [
    TILE,
    "/xyz/topp:states/2/1/0.mvt",
    "/service/tms/1.0.0/topp:states@EPSG:900913@pbf/2/1/3.pbf",
    `/service/wmts/rest/topp:states/default/EPSG:900913/2/0/1?format=${MVT}`,
    "/service/wmts/rest/topp:states/default/EPSG:900913/2/0/1?format=application/x-protobuf;type=mapbox-vector",
    "/ogc/collections/topp:states/tiles/WebMercatorQuad/2/0/1?f=pbf",
  ];
  for (const target of targets) {
    const { status, headers, body } = await get(protocols, target);
    expect([status, headers["content-type"]], target).toEqual([200, MVT]);
    expect(body.equals(BYTES)).toBe(true);
  }
  expect(protocols.reader.requests.map(({ format }) => format.mimeType)).toEqual(targets.map(() => MVT));
  const json = await get(protocols, "/xyz/topp:states/2/1/0.geojson");
  expect(json.headers["content-type"]).toBe("application/json");
});

test("it travels in the coding that is liked best, and each coding has a tag of its own", async () => {
  await using protocols = await started();
  const plain = await get(protocols, TILE);
  const gzip = await get(protocols, TILE, { "accept-encoding": "gzip" });
  const br = await get(protocols, TILE, { "accept-encoding": "gzip, deflate, br" });
  const seen = [plain, gzip, br].map(({ status, headers }) => [
    status,
    headers["content-encoding"],
    headers["etag"],
    headers["vary"],
  ]);
  expect(seen).toEqual([
    [200, undefined, '"abc"', "Accept-Encoding"],
    [200, "gzip", '"abc-gzip"', "Accept-Encoding"],
    [200, "br", '"abc-br"', "Accept-Encoding"],
  ]);
  expect(gunzipSync(gzip.body).equals(BYTES)).toBe(true);
  expect(brotliDecompressSync(br.body).equals(BYTES)).toBe(true);
  for (const { headers, body } of [plain, gzip, br]) {
    expect(headers["content-length"]).toBe(String(body.length));
    expect(headers).toMatchObject({ "geowebcache-cache-result": "HIT", expires: expect.any(String) });
  }
  const head = await get(protocols, TILE, { "accept-encoding": "gzip" }, "HEAD");
  expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, String(gzip.body.length), 0]);
});

test("a tag answers for its own coding only", async () => {
  await using protocols = await started();
  const status = async (tag: string, coding?: string) => {
    const { status: code, headers } = await get(protocols, TILE, {
      "if-none-match": tag,
      ...(coding === undefined ? {} : { "accept-encoding": coding }),
    });
    expect(headers["vary"]).toBe("Accept-Encoding");
    return code;
  };
  // A 304 needs no compressed body: these requests precede the first compression.
  expect(await status('"abc-gzip"', "gzip")).toBe(304);
  expect(await status('"abc"')).toBe(304);
  expect(await status('"abc"', "gzip")).toBe(200);
  expect(await status('"abc-gzip"')).toBe(200);
  expect(await status('"abc-gzip"', "br")).toBe(200);
  expect(await status('W/"abc-br"', "br")).toBe(304);
});

test("pictures are packed already: they are sent as they are, whatever a client can unpack", async () => {
  await using protocols = await started();
  const { headers } = await get(protocols, "/xyz/topp:states/2/1/0.png", { "accept-encoding": "gzip, br" });
  expect([headers["content-encoding"], headers["vary"], headers["etag"]]).toEqual([undefined, undefined, '"abc"']);
});

test("documents travel packed too", async () => {
  await using protocols = await started();
  const target = "/service/wmts?request=GetCapabilities";
  const plain = await get(protocols, target);
  const gzip = await get(protocols, target, { "accept-encoding": "gzip" });
  expect([gzip.headers["content-encoding"], gzip.headers["vary"]]).toEqual(["gzip", "Accept-Encoding"]);
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  const tag = String(gzip.headers["etag"]);
  expect(tag).not.toBe(plain.headers["etag"]);
  const again = await get(protocols, target, { "accept-encoding": "gzip", "if-none-match": tag });
  expect([again.status, again.headers["vary"]]).toEqual([304, "Accept-Encoding"]);
});

test("no map is put together of vector tiles", async () => {
  await using protocols = await started();
  const map = (format: string, box: string) =>
    get(
      protocols,
      `/service/wms?service=WMS&version=1.1.1&request=GetMap&layers=topp:states&styles=&srs=EPSG:900913&width=256&height=256&bbox=${box}&format=${format}`,
    );
  const { body } = await map(MVT, "0,0,1000,1000");
  expect(body.toString()).toContain("InvalidFormat");
  expect((await map("image/png", "0,0,1000,1000")).headers["content-type"]).toBe("image/png");
  const tile = await map(MVT, "0,0,20037508.34,20037508.34");
  expect([tile.status, tile.headers["content-type"]]).toEqual([200, MVT]);
});

test("documents name the formats, and what the vector tiles hold", async () => {
  await using protocols = await started();
  const json = async (target: string): Promise<unknown> => JSON.parse((await get(protocols, target)).body.toString());
  expect(await json("/tilejson/topp:states/EPSG:900913")).toMatchObject({
    tiles: [`${protocols.baseUrl}/xyz/topp%3Astates/EPSG%3A900913/{z}/{x}/{y}.pbf`],
    vector_layers: VECTOR_LAYERS,
  });
  expect(await json("/tilejson/topp:states/EPSG:900913?format=png")).not.toHaveProperty("vector_layers");
  const base = `${protocols.baseUrl}/ogc/collections/topp%3Astates`;
  expect(await json("/ogc/collections/topp:states")).toMatchObject({
    links: [
      { rel: "self" },
      { rel: "alternate" },
      { rel: "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map", href: `${base}/map/tiles` },
      { rel: "http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector", href: `${base}/tiles` },
      { rel: "http://www.opengis.net/def/rel/ogc/1.0/map", href: `${base}/map?f=png` },
    ],
  });
  const items = async (target: string) => {
    const { status, body } = await get(protocols, target);
    const document: { dataType: string; links: { rel: string; type: string }[] } = JSON.parse(body.toString());
    const types = document.links.filter(({ rel }) => rel === "item").map(({ type }) => type);
    return [status, document.dataType, ...types];
  };
  expect(await items("/ogc/collections/topp:states/tiles/WebMercatorQuad")).toEqual([200, "vector", MVT, GEOJSON]);
  expect(await items("/ogc/collections/topp:states/map/tiles/WebMercatorQuad")).toEqual([200, "map", "image/png"]);
  expect(await json("/ogc/collections/topp:states/tiles/WebMercatorQuad")).toMatchObject({
    layers: [{ id: "roads", dataType: "vector", description: "All roads" }],
  });
  const text = async (target: string) => (await get(protocols, target)).body.toString();
  expect(await text("/service/wmts?request=GetCapabilities")).toContain(`<Format>${MVT}</Format>`);
  expect(await text("/service/tms/1.0.0/topp:states@EPSG:900913@pbf")).toContain(`mime-type="${MVT}" extension="pbf"`);
});

test("pictures are no data tiles in OGC API - Tiles, and data is no map", async () => {
  await using protocols = await started();
  const tile = async (path: string) => (await get(protocols, `/ogc/collections/topp:states/${path}`)).status;
  expect(await tile("tiles/WebMercatorQuad/2/0/1?f=png")).toBe(400);
  expect(await tile("map/tiles/WebMercatorQuad/2/0/1?f=pbf")).toBe(400);
  expect(await tile("map/tiles/WebMercatorQuad/2/0/1")).toBe(200);
  expect(await tile("tiles/WebMercatorQuad/2/0/1")).toBe(200);
  expect(protocols.reader.requests.map(({ format }) => format.extension)).toEqual(["png", "pbf"]);
  await using plain = await startProtocols();
  expect((await get(plain, "/ogc/collections/topp:states/tiles")).status).toBe(404);
});
