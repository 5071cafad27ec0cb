import { describe, expect, test } from "vitest";
import { builtInGridSet } from "../../grid/built-in.ts";
import type { GridSet } from "../../grid/grid-set.ts";
import { formatOf, type TileFormat } from "../../layer/format.ts";
import type { WmsSourceOptions } from "../../layer/source-options.ts";
import { addressesOf } from "../http/servers.ts";
import type { RenderRequest } from "../source.ts";
import { questionUrl, WmsAddresses, wmsUrl } from "./wms-request.ts";

function grid(id: string): GridSet {
  const found = builtInGridSet(id);
  if (found === undefined) throw new Error(id);
  return found;
}
function format(mimeType: string): TileFormat {
  const found = formatOf(mimeType);
  if (found === undefined) throw new Error(mimeType);
  return found;
}

const OPTIONS: WmsSourceOptions = {
  type: "wms",
  url: "http://upstream.example/wms",
  version: "1.1.1",
  layers: ["roads", "rivers"],
  styles: ["thin"],
  transparent: true,
  timeoutMs: 1000,
  connections: 2,
  vendorParameters: {},
};

function requested(
  options: Partial<WmsSourceOptions>,
  request: Partial<RenderRequest> & { readonly gridSet: GridSet },
): Record<string, string> {
  const all = { ...OPTIONS, ...options };
  const [address = ""] = addressesOf(all);
  const whole: RenderRequest = {
    extent: { minX: -10, minY: 20, maxX: -5.5, maxY: 24.5 },
    width: 300,
    height: 200,
    format: format("image/png"),
    parameters: {},
    ...request,
  };
  const url = wmsUrl(address, all, whole);
  expectSameOfSource(address, all, whole, url);
  return Object.fromEntries(url.searchParams);
}

/** A source returns the same address, as its first request or after requests that differ in one part. */
function expectSameOfSource(address: string, options: WmsSourceOptions, request: RenderRequest, url: URL): void {
  const elsewhere = { minX: 1e-9, minY: -2, maxX: 3, maxY: 1e21 };
  const others: RenderRequest[] = [
    request,
    { ...request, extent: elsewhere },
    { ...request, width: 77 },
    { ...request, height: 77 },
    { ...request, format: format("image/jpeg") },
    { ...request, parameters: { ...request.parameters, OTHER: "x" } },
    { ...request, gridSet: grid("GlobalCRS84Pixel") },
  ];
  for (const other of others) {
    const addresses = new WmsAddresses(options);
    for (const [where, asked] of [
      [address, other],
      [`${address}?elsewhere`, request],
      [address, request],
      [address, other],
      [address, request],
      [address, { ...request, extent: elsewhere }],
      [address, request],
    ] as const)
      expect(addresses.picture(where, asked).href).toBe(wmsUrl(where, options, asked).href);
    expect(addresses.picture(address, request).href).toBe(url.href);
  }
}

test("version 1.1.1 asks with SRS, x before y, for every CRS", () => {
  expect(requested({}, { gridSet: grid("EPSG:4326") })).toEqual({
    SERVICE: "WMS",
    VERSION: "1.1.1",
    REQUEST: "GetMap",
    LAYERS: "roads,rivers",
    STYLES: "thin",
    TRANSPARENT: "TRUE",
    FORMAT: "image/png",
    EXCEPTIONS: "application/vnd.ogc.se_xml",
    SRS: "EPSG:4326",
    BBOX: "-10,20,-5.5,24.5",
    WIDTH: "300",
    HEIGHT: "200",
  });
});

describe("version 1.3.0 asks with CRS, in the CRS's own axis order:", () => {
  const own = { ...grid("EPSG:900913"), id: "own" };
  test.each([
    ["EPSG:4326", grid("EPSG:4326"), "EPSG:4326", "20,-10,24.5,-5.5"],
    ["another geographic CRS", { ...own, srs: 4258, yCoordinateFirst: false }, "EPSG:4258", "20,-10,24.5,-5.5"],
    ["EPSG:900913, by its official code", grid("EPSG:900913"), "EPSG:3857", "-10,20,-5.5,24.5"],
    ["WebMercatorQuad, whatever GWC's table says", grid("WebMercatorQuad"), "EPSG:3857", "-10,20,-5.5,24.5"],
    ["a CRS with northings first", { ...own, srs: 3035, yCoordinateFirst: true }, "EPSG:3035", "20,-10,24.5,-5.5"],
    ["UTM, which has eastings first, as GWC's table has not", grid("UTM33WGS84Quad"), "EPSG:32633", "-10,20,-5.5,24.5"],
    ["northings first, not told", { ...own, srs: 31468, yCoordinateFirst: false }, "EPSG:31468", "20,-10,24.5,-5.5"],
    ["eastings first among the 4000s", { ...own, srs: 4647, yCoordinateFirst: false }, "EPSG:4647", "-10,20,-5.5,24.5"],
    ["eastings first, told otherwise", { ...own, srs: 4087, yCoordinateFirst: true }, "EPSG:4087", "-10,20,-5.5,24.5"],
    [
      "a code of somebody's own, as it is told",
      { ...own, srs: 990001, yCoordinateFirst: true },
      "EPSG:990001",
      "20,-10,24.5,-5.5",
    ],
    ["EPSG:2163", { ...own, srs: 2163, yCoordinateFirst: false }, "EPSG:2163", "-10,20,-5.5,24.5"],
  ])("%s", (_, gridSet, crs, box) => {
    const { CRS, SRS, BBOX, EXCEPTIONS } = requested({ version: "1.3.0" }, { gridSet });
    expect({ CRS, SRS, BBOX, EXCEPTIONS }).toEqual({ CRS: crs, SRS: undefined, BBOX: box, EXCEPTIONS: "XML" });
  });
});

test("version 1.1.1 keeps the code 900913", () => {
  expect(requested({}, { gridSet: grid("EPSG:900913") })["SRS"]).toBe("EPSG:900913");
});

test("bounds are plain decimals, however small", () => {
  const extent = { minX: 1e-7, minY: -2.5e-9, maxX: 20037508.342789244, maxY: 0 };
  expect(requested({}, { gridSet: grid("EPSG:900913"), extent })["BBOX"]).toBe(
    "0.0000001,-0.0000000025,20037508.342789244,0",
  );
});

test("png8 is requested as image/png", () => {
  expect(requested({}, { gridSet: grid("EPSG:4326"), format: format("image/png8") })["FORMAT"]).toBe("image/png");
  expect(requested({}, { gridSet: grid("EPSG:4326"), format: format("image/jpeg") })["FORMAT"]).toBe("image/jpeg");
});

test.each(["image/vnd.jpeg-png", "image/vnd.jpeg-png8", "image/avif"])(
  "%s is asked for as a PNG, which may be transparent",
  (mimeType) => {
    const request = { gridSet: grid("EPSG:4326"), format: format(mimeType) };
    expect(requested({}, request)).toMatchObject({ FORMAT: "image/png", TRANSPARENT: "TRUE" });
    expect(requested({ transparent: false }, request)["TRANSPARENT"], "the layer's own word counts").toBe("FALSE");
  },
);

test("a JPEG is requested with a background, whatever the layer's other formats are", () => {
  const jpeg = { gridSet: grid("EPSG:4326"), format: format("image/jpeg") };
  expect(requested({ transparent: true }, jpeg)["TRANSPARENT"]).toBe("FALSE");
  expect(requested({ transparent: true }, { ...jpeg, format: format("image/webp") })["TRANSPARENT"]).toBe("TRUE");
});

test("the query of the configured address is sent too, except keys that the request sets, in any case", () => {
  const found = requested(
    { url: "http://any/cgi?map=/srv/a b.map&version=1.0.0&Layers=x" },
    { gridSet: grid("EPSG:4326") },
  );
  expect(found["map"]).toBe("/srv/a b.map");
  expect(Object.keys(found).filter((key) => /^(version|layers)$/i.test(key))).toEqual(["VERSION", "LAYERS"]);
});

test("vendor parameters are sent, filter values win over them, empty ones change nothing", () => {
  const found = requested(
    { vendorParameters: { map_resolution: "96", CQL_FILTER: "a = 1" }, transparent: false },
    { gridSet: grid("EPSG:4326"), parameters: { STYLES: "", CQL_FILTER: "b > 2 & c", TIME: "" } },
  );
  expect(found).toMatchObject({
    MAP_RESOLUTION: "96",
    CQL_FILTER: "b > 2 & c",
    STYLES: "thin",
    TRANSPARENT: "FALSE",
  });
  expect(found).not.toHaveProperty("TIME");
  expect(requested({}, { gridSet: grid("EPSG:4326"), parameters: { STYLES: "wide" } })["STYLES"]).toBe("wide");
});

test("a legend is requested by layer, style and format, with the keys that 1.3.0 requires, and replaces keys of the address", () => {
  const legend = (options: Partial<WmsSourceOptions>, style: string) =>
    Object.fromEntries(
      questionUrl(
        "http://upstream.example/wms?map=a&layer=old",
        { ...OPTIONS, ...options },
        { kind: "legend", style, format: "image/png", options: { WIDTH: "30" } },
      ).searchParams,
    );
  expect(legend({ vendorParameters: { key: "k" } }, "")).toEqual({
    map: "a",
    SERVICE: "WMS",
    VERSION: "1.1.1",
    REQUEST: "GetLegendGraphic",
    LAYER: "roads,rivers",
    STYLE: "thin",
    FORMAT: "image/png",
    WIDTH: "30",
    KEY: "k",
  });
  expect(legend({ version: "1.3.0" }, "wide")).toMatchObject({ STYLE: "wide", SLD_VERSION: "1.1.0" });
});

test("the requests of a format have its modifier, and the source's own colours where it has none", () => {
  const mercator = grid("EPSG:900913");
  const source = { bgColor: "0x000000", palette: "safe", queryLayers: ["q"] } as const;
  expect(requested(source, { gridSet: mercator })).toMatchObject({
    FORMAT: "image/png",
    TRANSPARENT: "TRUE",
    BGCOLOR: "0x000000",
    PALETTE: "safe",
  });
  const modifier = {
    format: "image/jpeg",
    requestFormat: "image/tiff",
    transparent: false,
    bgColor: "0xFFFFFF",
    palette: "p",
  };
  expect(requested(source, { gridSet: mercator, format: format("image/jpeg"), modifier })).toMatchObject({
    FORMAT: "image/tiff",
    TRANSPARENT: "FALSE",
    BGCOLOR: "0xFFFFFF",
    PALETTE: "p",
  });
  expect(Object.keys(requested({}, { gridSet: mercator }))).not.toEqual(expect.arrayContaining(["BGCOLOR"]));
});

test.each([
  ["1.1.1", {}, "EPSG:900913", "EPSG:900913"],
  ["1.3.0", {}, "EPSG:900913", "EPSG:3857"],
  ["1.1.1", { "EPSG:900913": "EPSG:3857" }, "EPSG:900913", "EPSG:3857"],
  ["1.1.1", { "EPSG:3857": "EPSG:102100" }, "EPSG:900913", "EPSG:102100"],
  ["1.3.0", { "EPSG:900913": "EPSG:900913" }, "EPSG:900913", "EPSG:900913"],
  ["1.1.1", { "EPSG:900913": "EPSG:3857" }, "EPSG:4326", "EPSG:4326"],
] as const)("version %s with the names %o asks for %s as %s", (version, crsNames, id, expected) => {
  const parameters = requested({ version, crsNames }, { gridSet: grid(id) });
  expect(parameters[version === "1.3.0" ? "CRS" : "SRS"]).toBe(expected);
});
