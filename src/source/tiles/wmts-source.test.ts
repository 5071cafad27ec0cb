import { describe, expect, test } from "vitest";
import { formatNamed } from "../../../test/support/layer.ts";
import type { WmtsSourceOptions } from "../../layer/source-options.ts";
import { tileRequest, UNHEARD } from "../source.conformance.ts";
import { describeTileSource } from "../tile-source.conformance.ts";
import { createWmtsSource, wmtsUrl } from "./wmts-source.ts";

const OPTIONS: WmtsSourceOptions = {
  type: "wmts",
  url: "http://u/",
  layer: "roads",
  style: "",
  tileMatrixSet: "EPSG:900913",
  timeoutMs: 2000,
  connections: 2,
  vendorParameters: {},
};

describeTileSource("wmts, RESTful", {
  create: (origins) =>
    createWmtsSource(
      { ...OPTIONS, url: origins.map((origin) => `${origin}/{TileMatrix}/{TileRow}/{TileCol}.png`) },
      UNHEARD,
    ),
  path: "/2/2/2.png",
});
describeTileSource("wmts, key-value pairs", {
  create: (origins) =>
    createWmtsSource({ ...OPTIONS, url: origins.map((origin) => `${origin}/service/wmts`) }, UNHEARD),
  path: "/service/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=roads&STYLE=&FORMAT=image%2Fpng&TILEMATRIXSET=EPSG%3A900913&TILEMATRIX=2&TILEROW=2&TILECOL=2",
});

const tile = tileRequest("EPSG:900913", [3, 4, 5]);
const requested = (options: Partial<WmtsSourceOptions>, request = tile, address = "http://u/wmts") =>
  Object.fromEntries(wmtsUrl(address, { ...OPTIONS, ...options }, request).searchParams);

test("levels are called by their number, with a prefix, or by names of their own", () => {
  expect(requested({})).toMatchObject({ TILEMATRIX: "5", TILEROW: "27", TILECOL: "3" });
  expect(requested({ tileMatrixPrefix: "EPSG:900913:" })).toMatchObject({ TILEMATRIX: "EPSG:900913:5" });
  expect(requested({ tileMatrices: ["a", "b", "c", "d", "e", "f"] })).toMatchObject({ TILEMATRIX: "f" });
});

test("a level without a name is a failure, not a request", () => {
  expect(() => requested({ tileMatrices: ["a"] })).toThrow("level 5 has no name among tileMatrices");
});

test("the format is the tile's or the configured one", () => {
  expect(requested({}, { ...tile, format: formatNamed("image/png8") })).toMatchObject({ FORMAT: "image/png" });
  expect(requested({}, { ...tile, format: formatNamed("image/jpeg") })).toMatchObject({ FORMAT: "image/jpeg" });
  expect(requested({ format: "image/png; mode=8bit" })).toMatchObject({ FORMAT: "image/png; mode=8bit" });
});

test("keys of the address, vendor parameters and values of filters are sent, but never instead of the tile's own", () => {
  const query = requested(
    { vendorParameters: { tenant: "7" } },
    { ...tile, parameters: { TIME: "2024", STYLE: "night", TILEROW: "1", REQUEST: "GetMap", EMPTY: "" } },
    "http://u/wmts?map=/x.map&service=WFS&style=old",
  );
  expect(query).toMatchObject({
    map: "/x.map",
    tenant: "7",
    TIME: "2024",
    SERVICE: "WMTS",
    REQUEST: "GetTile",
    TILEROW: "27",
  });
  expect(Object.keys(query)).not.toContain("service");
  expect(Object.keys(query)).not.toContain("EMPTY");
  expect(query["STYLE"]).toBe("night");
});

describe("a template", () => {
  const filled = (template: string, options: Partial<WmtsSourceOptions> = {}) =>
    wmtsUrl(template, { ...OPTIONS, ...options }, tile).href;

  test("may use every placeholder, in any case", () => {
    expect(
      filled("http://u/{Layer}/{Style}/{TileMatrixSet}/{tilematrix}/{TILEROW}/{TileCol}.png", { style: "default" }),
    ).toBe("http://u/roads/default/EPSG:900913/5/27/3.png");
  });

  test("has what would end a path escaped", () => {
    expect(filled("http://u/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}", { tileMatrixSet: "a/b?c#d $&" })).toBe(
      "http://u/a%2Fb%3Fc%23d%20%24%26/5/27/3",
    );
  });

  test("gets parameters behind it", () => {
    expect(filled("http://u/{TileMatrix}/{TileRow}/{TileCol}", { vendorParameters: { token: "t" } })).toBe(
      "http://u/5/27/3?token=t",
    );
  });
});

test("rows of a grid that is anchored at its top are counted from there too", () => {
  const request = tileRequest("WorldCRS84Quad", [3, 0, 1]);
  expect(requested({}, request)).toMatchObject({ TILEMATRIX: "1", TILEROW: "1", TILECOL: "3" });
});
