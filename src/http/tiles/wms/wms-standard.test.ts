import { describe, expect, test } from "vitest";
import { formatNamed, layerNamed } from "../../../../test/support/layer.ts";
import {
  geodetic,
  mercator,
  type ProtocolServer,
  startProtocols,
  textsOf,
} from "../../../../test/support/tile-protocols.ts";
import { type Catalogue, catalogueOf } from "../../../layer/catalogue.ts";
import { gridSubset } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";

/**
 * What the standards demand of a WMS (OGC 06-042, WMS 1.3.0, and OGC 01-068r3, WMS 1.1.1), by their sections. The
 * abstract tests of the OGC for both versions check the same.
 */

const source = {
  type: "wms",
  url: "http://127.0.0.1:9/wms",
  version: "1.1.1",
  layers: ["x"],
  styles: [],
  transparent: true,
  timeoutMs: 1000,
  connections: 1,
  vendorParameters: {},
} as const;

const styled = (name: string, more: Partial<Layer> = {}): Layer =>
  layerNamed(name, {
    source,
    fullWms: true,
    queryable: true,
    gridSubsets: [
      gridSubset(geodetic, { extent: { minX: -20, minY: -10, maxX: 20, maxY: 10 } }),
      gridSubset(mercator, {}),
    ],
    formats: [formatNamed("image/png"), formatNamed("image/jpeg")],
    parameterFilters: [
      { type: "string", key: "STYLES", default: "day", values: ["night"] },
      { type: "string", key: "TIME", default: "2020", values: ["2021", "2022"] },
    ],
    ...more,
  });
const plain = layerNamed("plain", {
  source,
  fullWms: true,
  gridSubsets: [gridSubset(geodetic, {})],
  formats: [formatNamed("image/webp")],
});
const whole = catalogueOf([styled("a"), styled("b"), plain]);

const BOX: Readonly<Record<string, string>> = { "1.3.0": "&CRS=CRS:84", "1.1.1": "&SRS=EPSG:4326" };
const map = (version: string, more: Readonly<Record<string, string>> = {}): string => {
  const fields = {
    LAYERS: "a",
    STYLES: "",
    FORMAT: "image/png",
    BBOX: "-10,-5,10,5",
    WIDTH: "200",
    HEIGHT: "100",
    ...more,
  };
  const query = Object.entries(fields).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `/service/wms?VERSION=${version}&REQUEST=GetMap${BOX[version]}&${query.join("&")}`;
};

const at = async <T>(run: (server: ProtocolServer) => Promise<T>, catalogue: Catalogue = whole): Promise<T> => {
  await using server = await startProtocols({ catalogue: () => catalogue });
  return await run(server);
};

/** Returns the status, the type and the exception code of an answer. */
const answerTo = (target: string, catalogue?: Catalogue) =>
  at(async ({ request }) => {
    const { status, headers, body } = await request(target);
    const code = /<ServiceException code="(\w+)"/.exec(body)?.[1];
    return { status, type: headers["content-type"], code, body };
  }, catalogue);

const XML = { "1.3.0": "text/xml", "1.1.1": "application/vnd.ogc.se_xml" } as const;
const IN_PICTURE = {
  "1.3.0": { blank: "BLANK", inimage: "INIMAGE", xml: "XML" },
  "1.1.1": {
    blank: "application/vnd.ogc.se_blank",
    inimage: "application/vnd.ogc.se_inimage",
    xml: "application/vnd.ogc.se_xml",
  },
} as const;

describe.each(["1.3.0", "1.1.1"] as const)("GetMap of %s", (version) => {
  test.each<[string, Record<string, string>]>([
    ["one layer", {}],
    ["two layers", { LAYERS: "a,b" }],
    ["three layers of different formats", { LAYERS: "a,b,plain" }],
    ["as many layers as LayerLimit", { LAYERS: Array.from({ length: 16 }, () => "a").join(",") }],
    ["a format that only another layer has", { FORMAT: "image/webp" }],
    ["a format without transparency", { FORMAT: "image/jpeg", TRANSPARENT: "TRUE" }],
    ["two layers and two styles", { LAYERS: "a,b", STYLES: "night,day" }],
    ["all default styles, by one empty value", { LAYERS: "a,b,plain", STYLES: "" }],
    ["all default styles, by commas", { LAYERS: "a,b,plain", STYLES: ",," }],
    ["a named and default styles", { LAYERS: "a,b,plain", STYLES: "night,," }],
    ["a parameter that no standard knows", { NOBODY: "knows" }],
    ["a box in exponents", { BBOX: "-1.0e1,-5e0,1E1,0.5e+1" }],
    ["a box beside the layer", { BBOX: "100,50,120,60" }],
    ["a box beyond the CRS", { BBOX: "-300,-200,300,200" }],
    ["a scale finer than the finest level", { BBOX: "1,1,1.0000001,1.00000005" }],
    ["a scale coarser than the coarsest level", { WIDTH: "2", HEIGHT: "1" }],
    ["a stretched picture", { WIDTH: "10", HEIGHT: "300" }],
    ["8 x 5 pixels", { WIDTH: "8", HEIGHT: "5" }],
    ["1 x 1 pixel", { WIDTH: "1", HEIGHT: "1" }],
    ["1024 x 768 pixels", { WIDTH: "1024", HEIGHT: "768" }],
    ["4096 x 4096 pixels", { WIDTH: "4096", HEIGHT: "4096" }],
  ])("is a picture of %s", async (_, more) => {
    const { status, type } = await answerTo(map(version, more));
    expect([status, type]).toEqual([200, more["FORMAT"] ?? "image/png"]);
  });

  test.each<[string, Record<string, string>, string | undefined]>([
    ["an unknown layer", { LAYERS: "nope" }, "LayerNotDefined"],
    ["an unknown first layer", { LAYERS: "nope,a" }, "LayerNotDefined"],
    ["an unknown second layer", { LAYERS: "a,nope" }, "LayerNotDefined"],
    ["more layers than LayerLimit", { LAYERS: Array.from({ length: 17 }, () => "a").join(",") }, undefined],
    ["an unknown style", { STYLES: "nope" }, "StyleNotDefined"],
    ["an unknown style of a layer without styles", { LAYERS: "plain", STYLES: "nope" }, "StyleNotDefined"],
    ["an unknown first style", { LAYERS: "a,b", STYLES: "nope,night" }, "StyleNotDefined"],
    ["an unknown second style", { LAYERS: "a,b", STYLES: "night,nope" }, "StyleNotDefined"],
    ["fewer styles than layers", { LAYERS: "a,b,plain", STYLES: "night,day" }, "StyleNotDefined"],
    ["more styles than layers", { LAYERS: "a,b", STYLES: "night,day,day" }, "StyleNotDefined"],
    ["an unknown format", { FORMAT: "image/nope" }, "InvalidFormat"],
    ["an unknown time", { TIME: "1999" }, "InvalidDimensionValue"],
    ["a box whose minimum is above its maximum", { BBOX: "10,-5,-10,5" }, undefined],
    ["a box without a width", { BBOX: "10,-5,10,5" }, undefined],
    ["a box whose lower side is above its upper side", { BBOX: "-10,5,10,-5" }, undefined],
    ["a box without a height", { BBOX: "-10,5,10,5" }, undefined],
    ["more pixels than MaxWidth", { WIDTH: "4097" }, undefined],
  ])("refuses %s by an exception document", async (_, more, code) => {
    for (const exceptions of [undefined, IN_PICTURE[version].xml]) {
      const asked = exceptions === undefined ? more : { ...more, EXCEPTIONS: exceptions };
      expect(await answerTo(map(version, asked))).toMatchObject({ status: 400, type: XML[version], code });
    }
  });

  test("a CRS that a layer lacks is refused, also of the second layer", async () => {
    const code = version === "1.3.0" ? "InvalidCRS" : "InvalidSRS";
    for (const [layers, crs] of [
      ["a", "EPSG:2056"],
      ["a,plain", "EPSG:3857"],
    ]) {
      const target = map(version, { LAYERS: layers ?? "" }).replace(/RS=(?:CRS:84|EPSG:4326)/, `RS=${crs}`);
      expect(await answerTo(target)).toMatchObject({ status: 400, code });
    }
  });

  test("an exception is a picture of the requested format and size where EXCEPTIONS asks for it", async () => {
    const { blank, inimage } = IN_PICTURE[version];
    const failing = (exceptions: string, more: Record<string, string> = {}) =>
      answerTo(map(version, { LAYERS: "nope", EXCEPTIONS: exceptions, ...more }));
    expect(await failing(inimage)).toEqual({
      status: 200,
      type: "image/png",
      code: undefined,
      body: "200 x 100 of 255,255,255: Unknown layer: nope",
    });
    expect(await failing(blank, { BGCOLOR: "0xFF0000", TRANSPARENT: "FALSE" })).toMatchObject({
      type: "image/png",
      body: "200 x 100 of 255,0,0: undefined",
    });
    expect((await failing(blank, { TRANSPARENT: "TRUE" })).body).toBe("200 x 100 of nothing: undefined");
    expect((await failing(blank, { FORMAT: "image/jpeg" })).type).toBe("image/jpeg");
    // A request that describes no picture gets a document.
    for (const more of [{ FORMAT: "image/nope" }, { WIDTH: "0" }, { HEIGHT: "5000" }])
      expect(await failing(inimage, more)).toMatchObject({ status: 400, type: XML[version] });
  });

  test("the parts of a map have their own style and time, by position", async () => {
    const values = (more: Record<string, string>) =>
      at(async ({ request, reader }) => {
        await request(map(version, { LAYERS: "a,b", ...more }));
        const read = new Map(reader.requests.map(({ layer, parameters }) => [layer.name, parameters.values]));
        return [read.get("a"), read.get("b")].map((of) => [of?.["STYLES"] ?? "", of?.["TIME"] ?? ""]);
      });
    const day = ["", ""];
    expect(await values({})).toEqual([day, day]);
    expect(await values({ STYLES: "night,", TIME: ",2022" })).toEqual([
      ["night", "2020"],
      ["day", "2022"],
    ]);
    expect(await values({ STYLES: ",night", TIME: "2021" })).toEqual([
      ["day", "2021"],
      ["night", "2021"],
    ]);
  });

  test("without TRANSPARENT a composed map is opaque, and a layer is not hidden by JPEG tiles above it", async () => {
    const formats = await at(async ({ request, reader }) => {
      await request(map(version, { LAYERS: "a,b", FORMAT: "image/jpeg" }));
      return [...new Set(reader.requests.map(({ layer, format }) => `${layer.name} ${format.mimeType}`))].sort();
    });
    expect(formats).toEqual(["a image/jpeg", "b image/png"]);
  });

  test("feature information of several layers is joined", async () => {
    const info = (more: string) =>
      answerTo(
        `${map(version, { LAYERS: "a,plain,b", STYLES: "day,,night" }).replace("GetMap", "GetFeatureInfo")}&I=1&J=2&X=1&Y=2&${more}`,
      );
    expect(await info("QUERY_LAYERS=a,b,plain")).toMatchObject({
      status: 200,
      body: "a 1,2 of 200 x 100\nb 1,2 of 200 x 100\nplain 1,2 of 200 x 100\n",
    });
    expect((await info("QUERY_LAYERS=b")).body).toBe("b 1,2 of 200 x 100");
    expect(await info("QUERY_LAYERS=a,nope")).toMatchObject({ status: 400, code: "LayerNotDefined" });
    expect(await info("QUERY_LAYERS=a,b&INFO_FORMAT=nope/nope")).toMatchObject({ status: 400, code: "InvalidFormat" });
    expect(await info("QUERY_LAYERS=a,b&INFO_FORMAT=application/json")).toMatchObject({
      status: 400,
      code: "InvalidFormat",
      body: expect.stringContaining("cannot be described together"),
    });
    expect(
      await answerTo(`${map(version).replace("GetMap", "GetFeatureInfo")}&QUERY_LAYERS=a&I=200&J=2&X=200&Y=2`),
    ).toMatchObject({ status: 400, code: "InvalidPoint" });
  });
});

describe("a GetMap without VERSION", () => {
  const strict = catalogueOf([styled("a"), styled("tiles", { fullWms: false })], {
    information: {},
    isCiteCompliant: true,
    isFullWms: false,
    updateSequence: 0,
  });
  const versions = [
    ["1.3.0", "text/xml"],
    ["1.1.1", "application/vnd.ogc.se_xml"],
  ] as const;

  test.each(versions)("is of 1.1.1, also with the CRS of %s, as GeoWebCache's clients send it", async (version) => {
    const without = map(version).replace(`VERSION=${version}&`, "");
    expect(await answerTo(without)).toMatchObject({ status: 200, type: "image/png" });
    const refused = { status: 400, type: "application/vnd.ogc.se_xml" };
    expect(await answerTo(without.replace("FORMAT", "NOFORMAT"))).toMatchObject(refused);
    expect(await answerTo(without.replace("CRS:84", "EPSG:4326"))).toMatchObject({ status: 200 });
  });

  test.each(versions)("of %s is refused on a strict server, also of one tile", async (version, type) => {
    for (const layer of ["a", "tiles"]) {
      const without = map(version, { LAYERS: layer }).replace(`VERSION=${version}&`, "");
      const refused = { status: 400, type, code: "MissingParameterValue" };
      expect(await answerTo(without, strict)).toMatchObject(refused);
    }
    expect(await answerTo(map(version), strict)).toMatchObject({ status: 200 });
    const old = map(version).replace(`VERSION=${version}&`, "WMTVER=1.0.0&").replace("GetMap", "map");
    expect(await answerTo(old, strict)).toMatchObject({ status: 200 });
  });
});

test.each([
  ["1.3.0", "1.3.0"],
  ["100.0.0", "1.3.0"],
  ["1.4.0", "1.3.0"],
  ["1.1.1", "1.1.1"],
  ["1.0.0", "1.1.1"],
  ["0.0.0", "1.1.1"],
  ["", "1.1.1"],
])("the version %j of a request for capabilities is answered in %s", async (asked, given) => {
  const { body } = await answerTo(
    `/service/wms?REQUEST=GetCapabilities&VERSION=${asked}&UPDATESEQUENCE=1&FORMAT=nope/nope`,
  );
  expect(body).toMatch(new RegExp(`<WM(?:T_M)?S_Capabilities version="${given}"`));
});

test("WMTVER names the version if VERSION does not", async () => {
  const versionOf = async (named: string) =>
    /_Capabilities version="([^"]*)"/.exec((await answerTo(`/service/wms?REQUEST=GetCapabilities&${named}`)).body)?.[1];
  expect(await versionOf("WMTVER=1.3.0")).toBe("1.3.0");
  expect(await versionOf("WMTVER=1.1.1")).toBe("1.1.1");
  expect(await versionOf("VERSION=1.1.1&WMTVER=100.0.0")).toBe("1.1.1");
  expect(await versionOf("WMTVER=0.0.0&VERSION=1.3.0")).toBe("1.3.0");
});

test("capabilities name the limits and the exceptions, and a server of tiles alone offers neither", async () => {
  const document = (version: string, catalogue?: Catalogue) =>
    answerTo(`/service/wms?REQUEST=GetCapabilities&VERSION=${version}`, catalogue).then(({ body }) => body);
  const body = await document("1.3.0");
  expect([textsOf(body, "LayerLimit"), textsOf(body, "MaxWidth"), textsOf(body, "MaxHeight")]).toEqual([
    ["16"],
    ["4096"],
    ["4096"],
  ]);
  const exceptionsOf = (text: string) => textsOf(/<Exception>.*<\/Exception>/s.exec(text)?.[0] ?? "", "Format");
  expect(exceptionsOf(body)).toEqual(["XML", "INIMAGE", "BLANK"]);
  expect(exceptionsOf(await document("1.1.1"))).toEqual([
    "application/vnd.ogc.se_xml",
    "application/vnd.ogc.se_inimage",
    "application/vnd.ogc.se_blank",
  ]);
  const tiles = catalogueOf([styled("a", { fullWms: false })]);
  expect(exceptionsOf(await document("1.3.0", tiles))).toEqual(["XML"]);
  expect(textsOf(await document("1.3.0", tiles), "LayerLimit")).toEqual(["1"]);
  const refused = await answerTo(map("1.3.0", { LAYERS: "a,a", EXCEPTIONS: "BLANK" }), tiles);
  expect(refused).toMatchObject({ status: 400, type: "text/xml" });
  expect(refused.body).toContain("LAYERS: expected one layer per request");
});

test("fullWMS of GeoWebCache's settings opens all layers for maps of any box", async () => {
  const tiles = [styled("a", { fullWms: false })];
  expect((await answerTo(map("1.3.0"), catalogueOf(tiles))).status).toBe(400);
  const opened = catalogueOf(tiles, { information: {}, isCiteCompliant: false, isFullWms: true, updateSequence: 0 });
  expect((await answerTo(map("1.3.0"), opened)).status).toBe(200);
});

test("several layers with one that has only tiles are refused with its name", async () => {
  const mixed = catalogueOf([styled("a"), styled("tiles", { fullWms: false })]);
  const { status, body } = await answerTo(map("1.3.0", { LAYERS: "a,tiles" }), mixed);
  expect([status, body]).toEqual([400, expect.stringContaining("These layers lack fullWms: tiles")]);
});

test("a map of several layers needs the credentials of the secured one", async () => {
  const mixed = catalogueOf([styled("a"), styled("secret", { secured: true })]);
  const target = map("1.3.0", { LAYERS: "a,secret" });
  expect((await answerTo(target, mixed)).status).toBe(401);
  const allowed = await at(({ request }) => request(target, { headers: { authorization: "Basic bWU6bWU=" } }), mixed);
  expect([allowed.status, allowed.headers["cache-control"]]).toEqual([200, expect.stringContaining("private")]);
});

test("the box of one tile is the stored tile, unless a background is asked for", async () => {
  const tile = { BBOX: "-180,-90,0,90", WIDTH: "256", HEIGHT: "256", LAYERS: "plain", FORMAT: "image/webp" };
  const result = (more: Record<string, string>) =>
    at(async ({ request }) => (await request(map("1.1.1", { ...tile, ...more }))).headers["geowebcache-cache-result"]);
  expect(await result({})).toBe("HIT");
  expect(await result({ TRANSPARENT: "TRUE", BGCOLOR: "0xFF0000" })).toBe("HIT");
  expect(await result({ TRANSPARENT: "FALSE" })).toBe("WMS");
  expect(await result({ BGCOLOR: "0xFF0000" })).toBe("WMS");
  expect(await result({ LAYERS: "plain,plain" })).toBe("WMS");
});
