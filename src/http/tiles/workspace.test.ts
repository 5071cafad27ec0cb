import { expect, test } from "vitest";
import { layerNamed } from "../../../test/support/layer.ts";
import { geodetic, mercator, startProtocols } from "../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import { gridSubset } from "../../layer/grid-subset.ts";

const gridSubsets = [gridSubset(geodetic, {}), gridSubset(mercator, {})];
const layers = ["topp:roads", "ne:roads", "alone", "topp:a:b"].map((name) => layerNamed(name, { gridSubsets }));

/** Starts the protocols below the mount of a workspace. */
const below = (workspace: string) => startProtocols({ catalogue: () => catalogueOf(layers) }, workspace);

const DOCUMENTS = [
  "/service/wmts?REQUEST=GetCapabilities",
  "/service/wms?REQUEST=GetCapabilities&VERSION=1.3.0",
  "/service/tms/1.0.0",
  "/ogc/collections",
  "/ogc/collections/roads/map/tiles",
  "/ogc/api",
  "/tilejson/roads",
  "/service/kml/roads.png.kml",
];

test("the documents below the mount of a workspace have its layers, without their prefix", async () => {
  await using protocols = await below("topp");
  for (const address of DOCUMENTS) {
    const { status, body } = await protocols.request(address);
    expect([address, status]).toEqual([address, 200]);
    expect([address, body.includes("roads")]).toEqual([address, true]);
    expect([address, /alone|topp:|topp%3A|ne:/.exec(body)?.[0]]).toEqual([address, undefined]);
  }
});

test("tiles have both names of a layer, and are those of the layer", async () => {
  await using protocols = await below("ne");
  for (const name of ["roads", "ne:roads"])
    for (const address of [
      `/xyz/${name}/0/0/0.png`,
      `/service/tms/1.0.0/${name}@EPSG:900913@png/0/0/0.png`,
      `/service/wmts/rest/${name}/EPSG:900913/EPSG:900913:0/0/0?format=image/png`,
      `/service/wmts?REQUEST=GetTile&LAYER=${name}&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:0&TILEROW=0&TILECOL=0`,
      `/ogc/collections/${name}/map/tiles/WebMercatorQuad/0/0/0`,
    ]) {
      const { status, headers } = await protocols.request(address);
      expect([address, status, headers["geowebcache-layer"]]).toEqual([address, 200, "ne:roads"]);
      expect(protocols.reader.requests.at(-1)?.layer.name).toBe("ne:roads");
    }
  for (const other of ["topp:roads", "alone"])
    expect((await protocols.request(`/xyz/${other}/0/0/0.png`)).status).toBe(404);
});

test("a workspace without layers does not exist", async () => {
  await using protocols = await below("nope");
  const reply = await protocols.request(DOCUMENTS[0] ?? "");
  expect([reply.status, reply.headers["content-type"]]).toEqual([404, "text/plain"]);
});
