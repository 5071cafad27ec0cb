import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInGridSetIds } from "../../src/grid/built-in.ts";
import { startServer, type TestServer } from "../support/server/server.ts";

/** MapProxy's tests are the only Debian or npm package with the XSD and DTD schemas of WMTS and WMS. */
const SCHEMAS = "/usr/share/python3-mapproxy/test/schemas";
/** Debian's Python: another Python would not find its packages. */
const PYTHON = "/usr/bin/python3";
const missing = [
  ...(existsSync(SCHEMAS) ? [] : ["python3-mapproxy, for the schemas"]),
  ...(spawnSync(PYTHON, ["-c", "import lxml"]).status === 0 ? [] : ["python3-lxml"]),
];
if (missing.length > 0) console.warn(`SKIPPED: the tests of OGC's schemas need Debian's ${missing.join(" and ")}`);

const WMTS = "wmts/1.0/wmtsGetCapabilities_response.xsd";
const WMS_111 = "wms/1.1.1/WMS_MS_Capabilities.dtd";
const WMS_130 = "wms/1.3.0/capabilities_1_3_0.xsd";
const OWS_EXCEPTION = "ows/1.1.0/owsExceptionReport.xsd";

/**
 * The schema calls tile indices positive integers where the standard lets them begin at 0 (07-057r7, page 24: "From 0 to
 * maxTileRow"): no limits at the first row or column can be valid by it, GWC's neither (its issues 250 and 411).
 */
const SCHEMAS_OWN_FAULT =
  /Element '\{http:\/\/www\.opengis\.net\/wmts\/1\.0\}(Min|Max)Tile(Row|Col)': '0' is not a valid value of the atomic type 'xs:positiveInteger'/;

/** Returns the schema errors of a document. */
async function faults(schema: string, document: string): Promise<readonly string[]> {
  const script = fileURLToPath(new URL("validate-with-lxml.py", import.meta.url));
  const child = spawn(PYTHON, [script, SCHEMAS], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stdin.end(JSON.stringify([{ schema, document }]));
  await new Promise((resolve) => child.on("close", resolve));
  const [found]: readonly (readonly string[])[] = JSON.parse(said);
  return (found ?? ["no answer"]).filter((fault) => !SCHEMAS_OWN_FAULT.test(fault));
}

/** Every element of a document, with characters that XML must escape. */
const CONFIGURATION = `
gridSets:
  - { id: "my:grid", srs: EPSG:2163, extent: [-2495667.98, -2223677.20, 3291070.61, 959189.33], scaleDenominators: [25000000, 1000000, 100000, 25000], tileSize: [200, 200] }
layers:
  - name: ws:roads
    title: Roads & "lanes" <all>
    description: What is driven on, é & more
    source: { type: wms, url: "http://127.0.0.1:1/wms", layers: [roads] }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStart: 1, zoomStop: 5 }, { gridSet: EPSG:4326, extent: [-124.8, 24.5, -66.9, 49.4] }, { gridSet: "my:grid" }]
    formats: [image/png, image/jpeg, image/vnd.jpeg-png]
    queryable: true
    parameterFilters:
      - { type: string, key: STYLES, default: day, values: [night, "a & b"] }
      - { type: string, key: TIME, default: "", values: ["2026-01-01", "2026-02-01"] }
      - { type: string, key: EMPTY, default: "", values: [] }
      - { type: regex, key: CQL_FILTER, default: "", regex: ".*" }
      - { type: float, key: ELEVATION, default: "1.5", values: [1.5, 20] }
  - name: "a b/ü"
    source: { type: demo, dataset: world }
    formats: [image/png]
  - name: everywhere
    source: { type: wms, url: "http://127.0.0.1:1/wms", layers: [roads] }
    gridSubsets: [${builtInGridSetIds.map((id) => `{ gridSet: ${id} }`).join(", ")}]
    formats: [image/png]
`;

describe.skipIf(missing.length > 0)("a document is valid by OGC's schema", () => {
  const servers = new Map<string, TestServer>();
  const at = (name: string): string => servers.get(name)?.url ?? "";
  beforeAll(async () => {
    servers.set("all that there is", await startServer({ configuration: CONFIGURATION }));
    servers.set("the demo layers", await startServer());
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.close();
  });

  const read = async (address: string): Promise<string> => (await fetch(address)).text();

  describe.each(["all that there is", "the demo layers"])("with %s:", (name) => {
    test.each([
      ["WMTS", WMTS, "/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities"],
      ["WMTS under GWC's mount", WMTS, "/geowebcache/service/wmts/rest/WMTSCapabilities.xml"],
      ["WMS 1.1.1", WMS_111, "/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities"],
      ["WMS-C", WMS_111, "/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities&TILED=true"],
      ["WMS 1.3.0", WMS_130, "/service/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities"],
    ])("capabilities of %s", async (_, schema, path) => {
      expect(await faults(schema, await read(at(name) + path))).toEqual([]);
    });
  });

  const KVP = "/service/wmts?SERVICE=WMTS&VERSION=1.0.0&REQUEST=GetTile";
  const MAP = "REQUEST=GetMap&LAYERS=no%20%3C%26such&FORMAT=image/png&WIDTH=256&HEIGHT=256&BBOX=0,0,1,1";
  test.each([
    ["WMTS, a missing key", OWS_EXCEPTION, KVP],
    ["WMTS, a value with markup", OWS_EXCEPTION, `${KVP}&LAYER=%3Ca%20%26%20%22b%22%3E%C3%A9`],
    [
      "WMTS, an upstream that is not there",
      OWS_EXCEPTION,
      `${KVP}&LAYER=ws:roads&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:1&TILEROW=0&TILECOL=0`,
    ],
    ["WMS 1.1.1", "wms/1.1.1/exception_1_1_1.dtd", `/service/wms?VERSION=1.1.1&SRS=EPSG:4326&${MAP}`],
    ["WMS 1.3.0", "wms/1.3.0/exceptions_1_3_0.xsd", `/service/wms?VERSION=1.3.0&CRS=EPSG:4326&${MAP}`],
  ])("exceptions of %s", async (_, schema, path) => {
    expect(await faults(schema, await read(at("all that there is") + path))).toEqual([]);
  });

  test("and an invalid one is reported", async () => {
    const document = await read(`${at("the demo layers")}/service/wmts?REQUEST=GetCapabilities`);
    expect(await faults(WMTS, document.replaceAll("<TileMatrixSet>", "<TileMatrixSex>"))).not.toEqual([]);
    expect(await faults(WMTS, document.replaceAll("<Format>", "<Layer/><Format>"))).not.toEqual([]);
  });
});
