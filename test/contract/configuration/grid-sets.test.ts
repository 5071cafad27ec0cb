import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";

const CONFIGURATION = `
gridSets:
  - { id: ETRS, srs: "EPSG:4258", extent: [-180, -90, 180, 90], alignTopLeft: true, resolutions: [0.703125, 0.3515625] }
  - { id: SCALES, srs: "EPSG:4258", extent: [-180, -90, 180, 90], alignTopLeft: true, scaleDenominators: [279541132.0143589] }
  - { id: FEET, srs: "EPSG:3734", extent: [900000, 100000, 1100000, 300000], scaleDenominators: [1000000] }
  - { id: DPI, srs: "EPSG:25832", extent: [0, 5000000, 1000000, 6000000], scaleDenominators: [1000000], pixelSize: 0.000264583 }
  - { id: LV95, srs: "EPSG:2056", extent: [2420000, 1030000, 2900000, 1350000], resolutions: [4000, 2000] }
  - { id: SMALL, srs: "EPSG:4326", extent: [5, 45, 10, 50], resolutions: [0.01] }
layers:
  - name: units
    source: { type: wms, url: "http://127.0.0.1:9/wms" }
    gridSubsets: [{ gridSet: ETRS }, { gridSet: SCALES }, { gridSet: FEET }, { gridSet: DPI }]
  - name: swiss
    source: { type: wms, url: "http://127.0.0.1:9/wms" }
    gridSubsets: [{ gridSet: LV95 }]
  - name: world
    source: { type: wms, url: "http://127.0.0.1:9/wms" }
    gridSubsets: [{ gridSet: SMALL }, { gridSet: "EPSG:4326" }]
`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ configuration: CONFIGURATION });
});
afterAll(() => server.close());

const text = async (path: string): Promise<string> => (await fetch(`${server.url}${path}`)).text();
const json = async (path: string) => JSON.parse(await text(path));

describe("the scale denominators of a grid set", () => {
  const EXPECTED = {
    ETRS: [0.703_125, 279_541_132.014_358_9],
    SCALES: [0.703_125, 279_541_132.014_358_9],
    FEET: [918.633_5, 1_000_000],
    DPI: [264.583, 944_939.285_7],
  };

  test.each(Object.entries(EXPECTED))(
    "are those of its cells in WMTS, OGC API and /api/v1: %s",
    async (id, [cell, scale]) => {
      const document = await text("/service/wmts?REQUEST=GetCapabilities");
      const [, matrixSet = ""] = document.split(`<TileMatrixSet>\n    <ows:Identifier>${id}</ows:Identifier>`);
      expect(Number(/<ScaleDenominator>([^<]+)/.exec(matrixSet)?.[1])).toBeCloseTo(scale ?? 0, 3);
      const [matrix] = (await json(`/ogc/tileMatrixSets/${id}`)).tileMatrices;
      expect(matrix.scaleDenominator).toBeCloseTo(scale ?? 0, 3);
      expect(matrix.cellSize).toBeCloseTo(cell ?? 0, 3);
      expect((await json(`/api/v1/grid-sets/${id}`)).resolutions[0]).toBeCloseTo(cell ?? 0, 3);
    },
  );

  test("of degrees have axes of latitude and longitude in OGC API", async () => {
    expect((await json("/ogc/tileMatrixSets/ETRS")).orderedAxes).toEqual(["Lat", "Lon"]);
  });
});

test("a grid set of /api/v1 has the unit of its CRS, one of /rest/gridsets GeoWebCache's metre", async () => {
  const put = (path: string, type: string, body: string) =>
    fetch(`${server.url}${path}`, { method: "PUT", headers: { "Content-Type": type }, body });
  const extent = [900000, 100000, 1100000, 300000];
  const own = await put(
    "/api/v1/grid-sets/own",
    "application/json",
    JSON.stringify({ srs: "EPSG:2263", extent, resolutions: [800] }),
  );
  expect(own.status).toBe(201);
  const coords = extent.map((value) => `<double>${value}</double>`).join("");
  const classic = await put(
    "/rest/gridsets/classic",
    "text/xml",
    `<gridSet><name>classic</name><srs><number>2263</number></srs><extent><coords>${coords}</coords></extent><resolutions><double>800</double></resolutions></gridSet>`,
  );
  expect(classic.status).toBe(201);
  expect((await json("/api/v1/grid-sets/own")).metersPerUnit).toBeCloseTo(1200 / 3937, 15);
  expect((await json("/api/v1/grid-sets/classic")).metersPerUnit).toBe(1);
  expect(await text("/rest/gridsets/classic.xml")).toContain("<metersPerUnit>1.0</metersPerUnit>");
  expect(await text("/rest/gridsets/DPI.xml")).toMatch(/<double>1000000.0<\/double>[\s\S]*<pixelSize>2.64583E-4</);
});

describe("the geographic box of a layer", () => {
  const SWISS = [5.013_927, 45.356_001, 11.477_436, 48.300_075];
  const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 3));

  test("is that of its extent in another CRS, in all protocols", async () => {
    const numbers = (element: string) => [...element.matchAll(/-?\d+\.\d+/g)].map(([number]) => Number(number));
    const layerIn = async (path: string) => {
      const parts = (await text(path)).split("Title>swiss<");
      return parts[1] ?? "";
    };
    const wms = await layerIn("/service/wms?REQUEST=GetCapabilities&VERSION=1.3.0");
    const [west, south, east, north] = SWISS;
    expect(numbers(/<EX_GeographicBoundingBox>.*?<\/EX_/.exec(wms)?.[0] ?? "")).toEqual(
      close([west ?? 0, east ?? 0, south ?? 0, north ?? 0]),
    );
    const older = await layerIn("/service/wms?REQUEST=GetCapabilities&VERSION=1.1.1");
    expect(numbers(/<LatLonBoundingBox.*?>/.exec(older)?.[0] ?? "")).toEqual(close(SWISS));
    const wmts = await layerIn("/service/wmts?REQUEST=GetCapabilities");
    expect(numbers(/<ows:LowerCorner>.*?<\/ows:WGS84/s.exec(wmts)?.[0] ?? "")).toEqual(close(SWISS));
    expect((await json("/tilejson/swiss/LV95")).bounds).toEqual(close(SWISS));
    expect((await json("/ogc/collections/swiss")).extent.spatial.bbox[0]).toEqual(close(SWISS));
  });

  test("contains all grid sets, and so does the box in each CRS", async () => {
    expect((await json("/ogc/collections/world")).extent.spatial.bbox[0]).toEqual([-180, -90, 180, 90]);
    const wms = await text("/service/wms?REQUEST=GetCapabilities&VERSION=1.1.1");
    const [, after = ""] = wms.split("<Name>world</Name>");
    expect(after).toContain('<BoundingBox SRS="EPSG:4326" minx="-180" miny="-90" maxx="180" maxy="90"/>');
    expect((await json("/tilejson/world/SMALL")).bounds).toEqual([5, 45, 10, 50]);
  });
});
