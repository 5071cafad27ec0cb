import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalogue } from "../../../test/support/tile-protocols.ts";
import type { TileRequest } from "../../cache/tile-reader.ts";
import { tileExtent } from "../../grid/grid-set.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import { coverageAt, type GridSubset } from "../../layer/grid-subset.ts";
import type { Layer } from "../../layer/layer.ts";
import { refusalMessage } from "../../lib/refusal.ts";
import { parseRequested, routeOf } from "./tile-route.ts";

const layers = [...catalogue.layers.values()];

function parseTarget(target: string): ReturnType<typeof parseRequested> {
  const cut = target.indexOf("?");
  const route = routeOf(cut < 0 ? target : target.slice(0, cut));
  if (!route.ok) return { errors: { dialect: "plain", picture: undefined }, requested: route };
  return parseRequested(catalogue, route.value, cut < 0 ? "" : target.slice(cut + 1));
}

function tileOf(target: string): TileRequest {
  const { requested } = parseTarget(target);
  if (!requested.ok) throw new Error(`${target}: ${requested.error.code}: ${refusalMessage(requested.error)}`);
  if (requested.value.kind !== "tile") throw new Error(`${target}: not a tile`);
  return requested.value.request;
}

function refusalOf(target: string): string {
  const { requested } = parseTarget(target);
  if (requested.ok) throw new Error(`${target}: not refused`);
  const { code, exception } = requested.error;
  return exception === undefined ? code : [code, exception.code, exception.locator].join(" ");
}

interface Pick {
  readonly layer: Layer;
  readonly subset: GridSubset;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly mimeType: string;
  readonly extension: string;
}

/** An arbitrary tile that a layer of the fixture offers. */
const anyTile: fc.Arbitrary<Pick> = fc
  .tuple(
    fc.nat(),
    fc.nat(),
    fc.nat(),
    fc.nat(),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.double({ min: 0, max: 1, noNaN: true }),
  )
  .map(([l, s, f, level, right, up]) => {
    const layer = layers[l % layers.length];
    const subset = layer?.gridSubsets[s % layer.gridSubsets.length];
    const format = layer?.formats[f % layer.formats.length];
    if (layer === undefined || subset === undefined || format === undefined) throw new Error("empty fixture");
    const z = subset.zoomStart + (level % (subset.zoomStop - subset.zoomStart + 1));
    const rect = coverageAt(subset, z);
    if (rect === undefined) throw new Error("no coverage");
    return {
      layer,
      subset,
      z,
      x: rect.minX + Math.floor(right * (rect.maxX - rect.minX)),
      y: rect.minY + Math.floor(up * (rect.maxY - rect.minY)),
      mimeType: format.mimeType,
      extension: format.extension,
    };
  });

/** The address of the same tile in each protocol. */
function addresses({ layer, subset, x, y, z, mimeType, extension }: Pick): Record<string, string> {
  const grid = subset.gridSet;
  const matrix = grid.matrices[z];
  if (matrix === undefined) throw new Error("no matrix");
  const name = encodeURIComponent(layer.name);
  const row = matrix.matrixHeight - 1 - y;
  const gridId = encodeURIComponent(grid.id);
  const matrixId = encodeURIComponent(matrix.name);
  const box = tileExtent(grid, { x, y, z });
  const kvp = `SERVICE=WMTS&REQUEST=GetTile&LAYER=${name}&FORMAT=${mimeType}&TILEMATRIXSET=${gridId}&TILEROW=${row}&TILECOL=${x}`;
  const map = `request=GetMap&layers=${name}&format=${mimeType}&width=${grid.tileWidth}&height=${grid.tileHeight}`;
  const rest = `/service/wmts/rest/${name}`;
  const tms = `/service/tms/1.0.0/${name}@${gridId}@${extension}`;
  const swapped = grid.id === "EPSG:4326";
  return {
    xyz: `/xyz/${name}/${gridId}/${z}/${x}/${row}.${extension}`,
    "xyz with a trailing slash": `/xyz/${name}/${gridId}/${z}/${x}/${row}.${extension}/`,
    tms: `${tms}/${z}/${x}/${y}.${extension}`,
    "tms from the top": `${tms}/${z}/${x}/${row}.${extension}?flipY=true`,
    "wmts by name": `/service/wmts?${kvp}&TILEMATRIX=${matrixId}&STYLE=`,
    "wmts by number": `/service/wmts?${kvp}&tileMatrix=${z}&style=default`,
    "wmts rest": `${rest}/${gridId}/${matrixId}/${row}/${x}?format=${mimeType}`,
    "wmts rest with an empty style": `${rest}//${gridId}/${matrixId}/${row}/${x}?FORMAT=${mimeType}`,
    "wmts rest with a style": `${rest}/default/${gridId}/${z}/${row}/${x}.${extension}`,
    "wms 1.1.1": `/service/wms?${map}&version=1.1.1&srs=EPSG:${grid.srs}&bbox=${box.minX},${box.minY},${box.maxX},${box.maxY}`,
    "wms 1.3.0": `/service/wms?${map}&version=1.3.0&crs=EPSG:${grid.srs}&bbox=${
      swapped ? [box.minY, box.minX, box.maxY, box.maxX] : [box.minX, box.minY, box.maxX, box.maxY]
    }`,
  };
}

describe("the address of a tile", () => {
  it("means the same tile in every protocol", () => {
    fc.assert(
      fc.property(anyTile, (pick) => {
        for (const [protocol, target] of Object.entries(addresses(pick))) {
          const found = tileOf(target);
          const seen = [found.layer.name, found.index, found.format.mimeType, found.parameters.id];
          expect(seen, protocol).toEqual([pick.layer.name, { x: pick.x, y: pick.y, z: pick.z }, pick.mimeType, ""]);
          // WMS names no grid set: if two grid sets contain the same tile, both are right.
          const extent = tileExtent(found.subset.gridSet, found.index);
          if (protocol.startsWith("wms ")) expect(extent).toEqual(tileExtent(pick.subset.gridSet, pick));
          else expect(found.subset.gridSet.id, protocol).toBe(pick.subset.gridSet.id);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("is never answered by throwing, whatever is in it", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "service",
        "xyz",
        "wmts",
        "tms",
        "wms",
        "rest",
        "1.0.0",
        "topp:states",
        "EPSG:900913",
        "0",
        "1.png",
      ),
      fc.constantFrom(
        "..",
        ".",
        "%2F",
        "%zz",
        "%ff",
        "a%2Fb",
        "-1",
        "1e9",
        "99999999999999999999",
        "",
        "@",
        "@@@",
        "\u00e9",
      ),
      fc.string(),
    );
    const key = fc.constantFrom(
      "REQUEST",
      "LAYER",
      "LAYERS",
      "BBOX",
      "SRS",
      "WIDTH",
      "HEIGHT",
      "FORMAT",
      "TILEROW",
      "TILECOL",
      "TILEMATRIX",
      "TILEMATRIXSET",
      "VERSION",
      "STYLES",
    );
    const value = fc.oneof(
      fc.constantFrom(
        "GetTile",
        "GetMap",
        "GetCapabilities",
        "topp:states",
        "EPSG:900913",
        "image/png",
        "256",
        "0",
        "0,0,1,1",
        "NaN,,1e999,-0",
        "-1",
      ),
      fc.string(),
    );
    const pairs = fc.array(fc.tuple(key, value), { maxLength: 9 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), pairs, (path, query) => {
        const target = `/${path.join("/")}?${query.map(([k, v]) => `${k}=${v}`).join("&")}`;
        const { requested } = parseTarget(target);
        if (!requested.ok) expect(refusalMessage(requested.error)).not.toBe("");
        else expect(["tile", "document"]).toContain(requested.value.kind);
      }),
      { numRuns: 2000 },
    );
  });

  it("is read strictly and without normalising", () => {
    expect(refusalOf("/xyz/a%2/0/0/0.png")).toBe("malformed");
    expect(refusalOf("/xyz/%ff/0/0/0.png")).toBe("malformed");
    expect(refusalOf("/xyz/topp:states/../topp:states/0/0/0.png")).toBe("not_found");
    expect(refusalOf("/xyz/img+states/0/0/0.png")).toBe("unknown_layer");
    expect(refusalOf("/xyz/topp:states/0/0/0.png?STYLES=%zz")).toBe("malformed");
    expect(tileOf("/xyz/a%2Fb@c%25%C3%A9/0/0/0.png").layer.name).toBe("a/b@c%é");
    expect(tileOf("/xyz/a%2Fb@c%25\u00c3\u00a9/0/0/0.png").layer.name, "raw bytes of UTF-8").toBe("a/b@c%é");
  });

  it("of XYZ names the mistake", () => {
    expect(refusalOf("/xyz/nope/0/0/0.png")).toBe("unknown_layer");
    expect(refusalOf("/xyz/img%20states/0/0/0.jpg"), "no EPSG:900913").toBe("not_found");
    expect(tileOf("/xyz/img%20states/EPSG:4326/0/1/0.jpg").format.mimeType).toBe("image/jpeg");
    expect(refusalOf("/xyz/topp:states/EPSG:9/0/0/0.png")).toBe("bad_field");
    expect(refusalOf("/xyz/topp:states/0/0/0.webp")).toBe("bad_field");
    expect(refusalOf("/xyz/topp:states/0/0/0")).toBe("bad_field");
    expect(refusalOf("/xyz/topp:states/0/a/0.png")).toBe("bad_field");
    expect(refusalOf("/xyz/topp:states/0/-1/0.png")).toBe("bad_field");
    expect(refusalOf("/xyz/topp:states/0/1/0.png")).toBe("outside_coverage");
    expect(refusalOf("/xyz/topp:states/99/0/0.png")).toBe("outside_coverage");
    expect(refusalOf("/xyz/topp:states/EPSG:4326/0/0/0.png"), "below zoomStart").toBe("outside_coverage");
    expect(refusalOf(`/xyz/topp:states/0/${"9".repeat(400)}/0.png`)).toBe("outside_coverage");
    expect(refusalOf("/xyz/topp:states/0/0/0.png?STYLES=nope")).toBe("bad_field");
  });

  it("carries the layer's parameters in every protocol", () => {
    const style = (target: string): string | undefined => {
      const { STYLES } = tileOf(target).parameters.values;
      return STYLES;
    };
    const kvp =
      "request=GetTile&layer=topp:states&format=image/png&tilematrixset=EPSG:900913&tilematrix=0&tilerow=0&tilecol=0";
    expect(style("/xyz/topp:states/0/0/0.png?styles=pop")).toBe("pop");
    expect(style("/service/tms/1.0.0/topp:states@EPSG:900913@png/0/0/0.png?STYLES=pop")).toBe("pop");
    expect(style("/service/wmts/rest/topp:states/gr%C3%B6%C3%9Fe/EPSG:900913/0/0/0.png")).toBe("größe");
    expect(style(`/service/wmts?${kvp}&style=pop`)).toBe("pop");
    expect(style(`/service/wmts?${kvp}&STYLE=default`)).toBe(undefined);
    const filtered = tileOf("/xyz/topp:states/0/0/0.png?cql_filter=STATE+=+'a%2Bb'&TIME=2021").parameters.values;
    expect(filtered).toEqual({ STYLES: "", TIME: "2021", CQL_FILTER: "STATE = 'a+b'" });
    expect(refusalOf(`/service/wmts?${kvp}&style=nope`)).toBe("bad_field InvalidParameterValue STYLE");
    expect(refusalOf(`/service/wmts?${kvp}&TIME=1999`)).toBe("bad_field InvalidParameterValue TIME");
    expect(tileOf("/service/wmts/rest/img%20states/any/EPSG:4326/0/0/0.jpeg").parameters.id, "no STYLES filter").toBe(
      "",
    );
  });

  it("of WMTS KVP is checked in GWC's order with its codes", () => {
    const given: string[] = [];
    const next = (pair: string): string => {
      given.push(pair);
      return refusalOf(`/service/wmts?${given.join("&")}`);
    };
    expect(refusalOf("/service/wmts")).toBe("bad_field MissingParameterValue request");
    expect(refusalOf("/service/wmts?request=Nope")).toBe("bad_field InvalidParameterValue request");
    expect(refusalOf(`/service/wmts?service=WFS&request=GetTile`)).toBe("bad_field InvalidParameterValue service");
    expect(refusalOf(`/service/wmts?service=wmts&version=9.9&request=GetTile`)).toBe(
      "bad_field InvalidParameterValue version",
    );
    expect(refusalOf("/service/wmts?request=GetFeatureInfo")).toBe("bad_field MissingParameterValue LAYER");
    expect(next("Request=gettile")).toBe("bad_field MissingParameterValue LAYER");
    expect(refusalOf("/service/wmts?request=GetTile&layer=x")).toBe("unknown_layer InvalidParameterValue LAYER");
    expect(next("layer=topp:states")).toBe("bad_field MissingParameterValue FORMAT");
    expect(next("format=image/png")).toBe("bad_field MissingParameterValue TILEMATRIXSET");
    expect(next("TileMatrixSet=EPSG:4326")).toBe("bad_field MissingParameterValue TILEMATRIX");
    expect(next("TileMatrix=EPSG:4326:1")).toBe("bad_field MissingParameterValue TILEROW");
    expect(next("TileRow=9")).toBe("bad_field MissingParameterValue TILECOL");
    expect(next("TileCol=-1")).toBe("outside_coverage TileOutOfRange TILECOL");
    const last = "/service/wmts?request=GetTile&layer=topp:states&tilematrixset=EPSG:4326";
    expect(refusalOf(`${last}&format=image/webp`)).toBe("bad_field InvalidParameterValue FORMAT");
    expect(refusalOf(`${last}&format=image/png&tilematrix=0`)).toBe("bad_field InvalidParameterValue TILEMATRIX");
    expect(refusalOf(`${last}&format=image/png&tilematrix=1&tilecol=0&tilerow=a`)).toBe(
      "bad_field InvalidParameterValue TILEROW",
    );
    expect(refusalOf(`${last}&format=image/png&tilematrix=1&tilecol=0&tilerow=9`)).toBe(
      "outside_coverage TileOutOfRange TILEROW",
    );
  });

  it("of TMS may leave out grid set and extension", () => {
    const at = (map: string): string => {
      const { subset, format } = tileOf(`/service/tms/1.0.0/${map}/1/0/1.png`);
      return `${subset.gridSet.id} ${format.extension}`;
    };
    expect(at("topp%3Astates")).toBe("EPSG:4326 png");
    expect(at("topp:states@png8")).toBe("EPSG:4326 png");
    expect(at("topp:states@EPSG%3A900913")).toBe("EPSG:900913 png");
    expect(at("topp:states@EPSG:900913@jpeg"), "the tile's extension counts").toBe("EPSG:900913 png");
    expect(tileOf("/service/tms/1.0.0/a%2Fb@c%25%C3%A9@EPSG:900913@png/0/0/0.png").layer.name).toBe("a/b@c%é");
    expect(refusalOf("/service/tms/1.0.0/topp:states@nope/1/0/1.png")).toBe("bad_field");
    expect(refusalOf("/service/tms/1.0.0/nope@EPSG:4326@png/1/0/1.png")).toBe("unknown_layer");
    expect(refusalOf("/service/tms/2.0")).toBe("not_found");
    expect(refusalOf("/service/tms/1.0.0/topp:states/1")).toBe("not_found");
  });

  it("of WMS must fit a tile", () => {
    const map = "/service/wms?REQUEST=GetMap&FORMAT=image/png&WIDTH=256&HEIGHT=256";
    const mercator = `${map}&LAYERS=topp:states&SRS=EPSG:3857`;
    const half = 20037508.34;
    expect(tileOf(`${mercator}&BBOX=0,0,${half},${half}`).index).toEqual({ x: 1, y: 1, z: 1 });
    expect(tileOf(`${mercator}&BBOX=100,-100,20037000,20038000`).index, "GWC's tolerance").toEqual({
      x: 1,
      y: 1,
      z: 1,
    });
    expect(refusalOf(`${mercator}&BBOX=4000000,0,24037508,${half}`)).toBe("bad_field");
    expect(refusalOf(`${mercator}&BBOX=0,0,${half},${half / 2}`), "not square").toBe("bad_field");
    expect(refusalOf(`${mercator}&BBOX=${half},${half},${2 * half},${2 * half}`)).toBe("outside_coverage");
    expect(refusalOf(`${mercator}&BBOX=1,1,0,0`)).toBe("bad_field");
    expect(refusalOf(`${mercator}&BBOX=1,,2,3`)).toBe("bad_field");
    expect(refusalOf(mercator.replace("WIDTH=256", "WIDTH=512"))).toBe("bad_field");
    expect(refusalOf(`${map}&LAYERS=topp:states,broken&SRS=EPSG:3857`)).toBe("bad_field");
    expect(refusalOf(`${map}&LAYERS=nope&SRS=EPSG:3857`)).toBe("unknown_layer LayerNotDefined ");
    expect(refusalOf(`${map}&LAYERS=broken&SRS=EPSG:4326`)).toBe("bad_field InvalidSRS ");
    expect(refusalOf(`${map}&LAYERS=broken&CRS=EPSG:4326&VERSION=1.3.0`)).toBe("bad_field InvalidCRS ");
    const fitting = `${mercator}&BBOX=0,0,${half},${half}`;
    expect(refusalOf(`${fitting}&STYLES=nope`)).toBe("bad_field StyleNotDefined ");
    expect(refusalOf(`${fitting}&STYLES=pop&TIME=1066`)).toBe("bad_field InvalidDimensionValue ");
    expect(refusalOf(`${fitting}&STYLES=pop&CQL_FILTER=1`)).toBe("bad_field");
    expect(refusalOf("/service/wms?REQUEST=DescribeLayer")).toBe("bad_field OperationNotSupported ");
    const images = `${map.replace("png", "jpeg")}&LAYERS=img%20states&VERSION=1.3.0`;
    expect(tileOf(`${images}&CRS=CRS:84&BBOX=0,-90,180,90`).index).toEqual({ x: 1, y: 0, z: 0 });
    expect(tileOf(`${images}&CRS=EPSG:4326&BBOX=-90,0,90,180`).index).toEqual({ x: 1, y: 0, z: 0 });
  });
});

it("an empty catalogue has no layer and still its documents", () => {
  const empty = catalogueOf([]);
  for (const [protocol, query] of [
    ["wmts", "request=GetCapabilities"],
    ["wms", "request=GetCapabilities&tiled=true"],
    ["wms", "request=GetCapabilities&version=1.3.0"],
  ] as const) {
    const { requested } = parseRequested(empty, { protocol, rest: [] }, query);
    if (!requested.ok || !("parts" in requested.value)) throw new Error("no document of all layers");
    expect([...requested.value.parts("http://a")].join("")).toContain("http://a/service/");
  }
});
