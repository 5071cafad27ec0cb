import { expect, test } from "vitest";
import { layerNamed } from "../../../../test/support/layer.ts";
import { geodetic, mercator } from "../../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { gridSubset } from "../../../layer/grid-subset.ts";
import { parseQuery } from "../../request/query.ts";
import { parseOgc } from "./ogc-address.ts";

const box = (minX: number, minY: number, maxX: number, maxY: number) => ({ minX, minY, maxX, maxY });
const layers = [
  layerNamed("world", { gridSubsets: [gridSubset(mercator, {}), gridSubset(geodetic, {})], fullWms: true }),
  layerNamed("part", { gridSubsets: [gridSubset(geodetic, { extent: box(0, 40, 20, 50) })], fullWms: true }),
  layerNamed("tiles only", { gridSubsets: [gridSubset(mercator, {})] }),
];

function map(layer: string, text: string) {
  const query = parseQuery(text);
  if (!query.ok) throw new Error(text);
  const parsed = parseOgc(catalogueOf(layers), ["collections", layer, "map"], query.value);
  if (!parsed.ok) return { refused: "field" in parsed.error ? parsed.error.field : parsed.error.code };
  if (parsed.value.kind !== "map") throw new Error(parsed.value.kind);
  const { extent, width, height } = parsed.value.request;
  const { headers = {} } = parsed.value;
  return { ...extent, width, height, crs: headers["Content-Crs"], bbox: headers["Content-Bbox"] };
}
const EPSG = "http://www.opengis.net/def/crs/EPSG/0/";
const CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";

test("a map without parameters shows the whole layer in its CRS, as large as its shape allows", () => {
  expect(map("part", "")).toEqual({
    ...box(0, 40, 20, 50),
    width: 1024,
    height: 512,
    crs: `<${EPSG}4326>`,
    bbox: "40,0,50,20",
  });
  expect(map("world", "")).toMatchObject({ width: 1024, height: 1024, crs: `<${EPSG}3857>` });
});

test("width and height scale the map; the missing one follows from the shape of the box", () => {
  for (const [query, width, height] of [
    ["width=300", 300, 150],
    ["height=300", 600, 300],
    ["width=300&height=300", 300, 300],
  ] as const)
    expect(map("part", query)).toMatchObject({ ...box(0, 40, 20, 50), width, height });
});

test("a scale determines the size by the size of a pixel", () => {
  const metres = 20 * 111319.49079327358;
  const at = map("part", "scale-denominator=20000000");
  expect(at).toMatchObject({ width: Math.round(metres / 20_000_000 / 0.00028) });
  expect(map("part", "scale-denominator=20000000&mm-per-pixel=0.56")).toMatchObject({
    width: Math.round(metres / 20_000_000 / 0.00056),
  });
});

test("bbox, subset and center name the same area, in the order of the axes of their CRS", () => {
  const same = { ...box(5, 42, 15, 47), width: 200, height: 100 };
  for (const query of [
    "bbox=5,42,15,47",
    `bbox=42,5,47,15&bbox-crs=${EPSG}4326`,
    "bbox=42,5,47,15&bbox-crs=[EPSG:4326]",
    `bbox=5,42,15,47&bbox-crs=${CRS84}`,
    "subset=Lon(5:15),Lat(42:47)",
    `subset=Lat(42:47),Lon(5:15)&subset-crs=${EPSG}4326`,
  ])
    expect([query, map("part", `${query}&width=200`)]).toEqual([query, expect.objectContaining(same)]);
  expect(map("part", "subset=Lon(*:15)&width=150")).toMatchObject({ ...box(0, 40, 15, 50), height: 100 });
  const metres = `scale-denominator=${(0.05 * 111319.49079327358) / 0.00028}`;
  for (const query of ["center=10,44.5", `center=44.5,10&center-crs=${EPSG}4326`]) {
    const found = map("part", `${query}&width=200&height=100&${metres}`);
    const near = (side: number) => expect.closeTo(side, 6);
    expect(found).toMatchObject({ minX: near(5), minY: near(42), maxX: near(15), maxY: near(47) });
  }
});

test("crs selects the CRS of the map, and a box in another CRS is converted", () => {
  expect(map("world", `crs=${CRS84}&bbox=-10,30,10,40&width=200`)).toMatchObject({
    ...box(-10, 30, 10, 40),
    crs: `<${CRS84}>`,
    bbox: "-10,30,10,40",
  });
  expect(map("world", `crs=${EPSG}4326&bbox=-10,30,10,40&width=200`)).toMatchObject({ bbox: "30,-10,40,10" });
  const web = map("world", `crs=${EPSG}3857&bbox=-10,0,10,40&width=200`);
  expect(web).toMatchObject({
    crs: `<${EPSG}3857>`,
    minX: expect.closeTo(-1113194.9, 0),
    maxY: expect.closeTo(4865942.3, 0),
  });
});

test("wrong values are refused with the name of their parameter", () => {
  for (const [query, refused] of [
    ["bbox=1,2,3", "bbox"],
    ["bbox=15,42,5,47", "bbox"],
    ["bbox=5,42,15,47&subset=Lat(1:2)", "bbox, subset"],
    ["subset=Height(1:2)", "subset"],
    ["subset=Lat(2:1)", "subset"],
    ["subset=Lat(40:50", "subset"],
    ["center=1", "center"],
    ["crs=nonsense", "crs"],
    [`crs=${EPSG}2056`, "crs"],
    ["bbox=1,2,3,4&bbox-crs=x", "bbox-crs"],
    ["width=0", "width"],
    ["height=1.5", "height"],
    ["scale-denominator=-1", "scale-denominator"],
    ["scale-denominator=1000&width=3", "scale-denominator"],
    ["width=5000", "WIDTH, HEIGHT"],
    ["bgcolor=red", "BGCOLOR"],
    ["f=gif", "extension"],
  ] as const)
    expect([query, map("part", query)]).toEqual([query, { refused }]);
  expect(map("tiles only", "")).toEqual({ refused: "not_found" });
});
