import { expect, test } from "vitest";
import { layerNamed } from "../../../test/support/layer.ts";
import { geodetic, mercator, quad, startProtocols, textsOf } from "../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import { gridSubset } from "../../layer/grid-subset.ts";

const box = (minX: number, minY: number, maxX: number, maxY: number) => ({ minX, minY, maxX, maxY });
const small = { ...geodetic, id: "small" };
const layer = layerNamed("two", {
  gridSubsets: [
    gridSubset(small, { extent: box(5, 45, 11, 48) }),
    gridSubset(geodetic, { extent: box(7, 40, 12, 47) }),
    gridSubset(mercator, { extent: box(0, 0, 100, 100) }),
    gridSubset(quad, { extent: box(-50, 10, 10, 200) }),
  ],
});

async function document(query: string): Promise<string> {
  await using protocols = await startProtocols({ catalogue: () => catalogueOf([layer]) });
  return (await protocols.request(query)).body;
}

test("WMTS has one box for each CRS, which holds all grid sets of the CRS", async () => {
  const body = await document("/service/wmts?REQUEST=GetCapabilities");
  const codes = [...body.matchAll(/crs="urn:ogc:def:crs:EPSG::(\d+)"/g)].map(([, code]) => code);
  expect(codes).toEqual(["4326", "900913", "3857"]);
  // The box in longitude and latitude comes first.
  expect(textsOf(body, "ows:LowerCorner").slice(1)).toEqual(["40 5", "-50 0", "-50 0"]);
  expect(textsOf(body, "ows:UpperCorner").slice(1)).toEqual(["48 12", "100 200", "100 200"]);
});

test("so have WMS 1.1.1 and 1.3.0, and a CRS that all layers have stands at the layer around them", async () => {
  const old = await document("/service/wms?VERSION=1.1.1&REQUEST=GetCapabilities");
  expect(old.match(/<BoundingBox [^>]*>/g)).toEqual([
    '<BoundingBox SRS="EPSG:4326" minx="5" miny="40" maxx="12" maxy="48"/>',
    '<BoundingBox SRS="EPSG:900913" minx="-50" miny="0" maxx="100" maxy="200"/>',
    '<BoundingBox SRS="EPSG:3857" minx="-50" miny="0" maxx="100" maxy="200"/>',
  ]);
  expect(old).toMatch(/<Layer>\s*<Title>[^<]*<\/Title>\s*<SRS>EPSG:4326<\/SRS>/);
  const body = await document("/service/wms?VERSION=1.3.0&REQUEST=GetCapabilities");
  expect(body).toContain('<BoundingBox CRS="EPSG:4326" minx="40" miny="5" maxx="48" maxy="12"/>');
  expect(body).toMatch(
    /<LayerLimit>1<\/LayerLimit>\s*<MaxWidth>4096<\/MaxWidth>\s*<MaxHeight>4096<\/MaxHeight>\s*<\/Service>/,
  );
});

test("KML is of the grid set EPSG:4326 where the layer has it, also behind others of the CRS", async () => {
  await using protocols = await startProtocols({ catalogue: () => catalogueOf([layer]) });
  const { headers } = await protocols.request("/service/kml/two/x1y0z0.png");
  expect(headers["geowebcache-gridset"]).toBe("EPSG:4326");
  const { body } = await protocols.request("/service/kml/two.png.kml");
  expect(body).not.toContain("x0y0z0");
});

test("a server without layers names a format of maps, as the schemas want", async () => {
  await using protocols = await startProtocols({ catalogue: () => catalogueOf([]) });
  for (const version of ["1.1.1", "1.3.0"]) {
    const { body } = await protocols.request(`/service/wms?VERSION=${version}&REQUEST=GetCapabilities`);
    expect(body).toMatch(/<GetMap>\s*<Format>image\/png<\/Format>/);
  }
});

test("an unknown layer among several has its exception code", async () => {
  await using protocols = await startProtocols({ catalogue: () => catalogueOf([layer]) });
  const at = (layers: string) => protocols.request(`/service/wms?REQUEST=GetMap&LAYERS=${layers}`);
  expect((await at("two,nope")).body).toContain('code="LayerNotDefined"');
  expect((await at("two,two")).body).not.toContain("LayerNotDefined");
});

test("RESTful capabilities are 406 only where Accept matches neither the type nor a wildcard", async () => {
  await using protocols = await startProtocols({ catalogue: () => catalogueOf([layer]) });
  const statusFor = async (accept: string): Promise<number> =>
    (await protocols.request("/service/wmts/rest/WMTSCapabilities.xml", { headers: { Accept: accept } })).status;
  for (const accept of ["example/unknown", "application/json", "image/png, text/html"])
    expect([accept, await statusFor(accept)]).toEqual([accept, 406]);
  for (const accept of ["*/*", "text/xml", "application/xml", "text/*", "text/html, */*;q=0.1", ""])
    expect([accept, await statusFor(accept)]).toEqual([accept, 200]);
});

test("the list of tile sets has the id and the limits of each (OGC API - Tiles)", async () => {
  const list: unknown = JSON.parse(await document("/ogc/collections/two/map/tiles"));
  expect(list).toMatchObject({
    tilesets: expect.arrayContaining([
      expect.objectContaining({
        tileMatrixSetId: "EPSG:4326",
        tileMatrixSetLimits: expect.arrayContaining([
          { tileMatrix: "EPSG:4326:0", minTileRow: 0, maxTileRow: 0, minTileCol: 1, maxTileCol: 1 },
        ]),
      }),
    ]),
  });
});
