import { describe, expect, it } from "vitest";
import {
  tileMapServiceDocument,
  wmsCapabilities111,
  wmsCapabilities130,
  wmtsCapabilities,
} from "../../../test/support/capabilities.ts";
import { catalogue, geodetic, mercator, quad, states, textsOf } from "../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import type { ParameterFilter } from "../../layer/filter/parameter-filter.ts";
import { tileMapDocument, tmsRootDocument } from "./tms/tms-documents.ts";

const BASE = "http://a/b&c";

describe("the WMTS capabilities", () => {
  const document = wmtsCapabilities(catalogue, BASE);

  it("name layers and the grid sets that are used, each once and sorted", () => {
    const identifiers = textsOf(document, "ows:Identifier");
    for (const name of catalogue.layers.keys()) expect(identifiers).toContain(name);
    const sets = ["EPSG:4326", "EPSG:900913", "WebMercatorQuad", "my:grid"];
    expect(identifiers.filter((i) => sets.includes(i))).toEqual(sets);
    expect(identifiers).toContain("EPSG:900913:7");
    expect(textsOf(document, "ows:Title")).toContain("States & <provinces>");
  });

  it("offer styles, dimensions and an address for each format", () => {
    expect(document).toMatch(/<Style isDefault="true">\s*<ows:Identifier>default</);
    expect(textsOf(document, "Default")).toEqual(["2020"]);
    expect(textsOf(document, "Value")).toEqual(["2020", "2021"]);
    expect(document).toContain(
      'template="http://a/b&amp;c/service/wmts/rest/topp%3Astates/{style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}?format=image/png&amp;TIME={TIME}"',
    );
  });

  it("list the values of number filters and the case of a case rule, and no filter that takes any number", () => {
    const listed = wmtsCapabilities(
      catalogueOf([
        {
          ...states,
          parameterFilters: [
            { type: "float", key: "ELEVATION", default: "0", values: [0, 10, 1e7], threshold: 1 },
            { type: "integer", key: "YEAR", default: "", values: [2020], threshold: 1 },
            { type: "string", key: "STYLES", default: "", values: ["Default", "Pop"], normalize: "UPPER" },
            { type: "float", key: "ANY", default: "1", values: [], threshold: 1 },
            { type: "integer", key: "ANY2", default: "", values: [], threshold: 1 },
          ],
        },
      ]),
      BASE,
    );
    expect(textsOf(listed, "Value")).toEqual(["0", "10.0", "1.0E7", "2020"]);
    expect(textsOf(listed, "Default")).toEqual(["0", ""]);
    expect(listed).not.toContain("ANY");
    expect(textsOf(listed, "ows:Identifier")).toEqual(expect.arrayContaining(["", "DEFAULT", "POP"]));
  });

  it("limit a subset to its coverage, rows from the top, and a whole one not at all", () => {
    const [first = "", second = ""] = document.match(/<TileMatrixSetLink>[\s\S]*?<\/TileMatrixSetLink>/g) ?? [];
    expect(textsOf(first, "TileMatrix").at(0)).toBe("EPSG:4326:1");
    expect(textsOf(first, "TileMatrix")).toHaveLength(15);
    expect(["MinTileRow", "MaxTileRow", "MinTileCol", "MaxTileCol"].map((e) => textsOf(first, e)[2])).toEqual([
      "1",
      "2",
      "2",
      "5",
    ]);
    expect(second).not.toContain("Limits");
  });

  it("write corners in the order of the CRS: y first for EPSG:4326, never for Mercator", () => {
    const corners = textsOf(document, "TopLeftCorner");
    expect(corners[0]).toBe("90.0 -180.0");
    expect(corners[geodetic.matrices.length]).toBe("-20037508.34 20037508.34");
    expect(corners[geodetic.matrices.length + mercator.matrices.length]).toBe("-20037508.34 20037508.34");
    expect(quad.yCoordinateFirst, "whatever the grid set says").toBe(true);
    const [whole, own] = textsOf(document, "ows:LowerCorner");
    expect(whole, "of all grid sets, longitude first").toMatch(/^-179\.9\d* -85\.05\d*$/);
    expect(own).toBe("24 -124");
  });
});

describe("every document", () => {
  it("is well-formed XML, and stays so for an empty catalogue", () => {
    for (const each of [catalogue, catalogueOf([])]) {
      const documents = [
        wmtsCapabilities(each, BASE),
        wmsCapabilities111(each, BASE, "listed"),
        wmsCapabilities111(each, BASE, "left out"),
        wmsCapabilities130(each, BASE),
        tileMapServiceDocument(each, BASE),
        tmsRootDocument(BASE),
      ];
      for (const document of documents) expect(textsOf(document, "nothing")).toEqual([]);
    }
  });
});

describe("the TMS documents", () => {
  it("write the address of a tile map as GWC does", () => {
    expect(tileMapServiceDocument(catalogue, BASE)).toContain(
      'srs="EPSG:900913" profile="global-mercator" href="http://a/b&amp;c/service/tms/1.0.0/topp%3Astates@EPSG%3A900913@png8"',
    );
  });

  it("list the levels of the subset, orders from 0, addresses by the grid set's level", () => {
    const [subset] = states.gridSubsets;
    const [format] = states.formats;
    if (subset === undefined || format === undefined) throw new Error("empty fixture");
    const document = tileMapDocument(states, subset, format, BASE);
    expect(document).toContain('@png/1" units-per-pixel="0.3515625" order="0"/>');
    expect(document).toContain('<BoundingBox minx="-180.0" miny="-90.0" maxx="180.0" maxy="90.0"/>');
    expect(textsOf(document, "Abstract")).toEqual(["Größe “x”"]);
  });
});

describe("the WMS capabilities", () => {
  it("list tile sets only on request", () => {
    expect(textsOf(wmsCapabilities111(catalogue, BASE, "listed"), "Layers")).toContain("topp:states");
    expect(wmsCapabilities111(catalogue, BASE, "left out")).not.toContain("TileSet");
  });

  it("list the styles of a layer in the case that its rule gives them", () => {
    const styles: ParameterFilter = { type: "string", key: "STYLES", default: "", values: ["Pop"], normalize: "LOWER" };
    const listed = catalogueOf([{ ...states, parameterFilters: [styles] }]);
    for (const document of [wmsCapabilities111(listed, BASE, "left out"), wmsCapabilities130(listed, BASE)])
      expect(document).toContain("<Style><Name>pop</Name>");
  });

  it("1.3.0 write the box of EPSG:4326 latitude first", () => {
    expect(wmsCapabilities130(catalogue, BASE)).toContain(
      '<BoundingBox CRS="EPSG:4326" minx="24" miny="-124" maxx="49" maxy="-66"/>',
    );
  });
});
