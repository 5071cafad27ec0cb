import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { reportText } from "../../../output/element-report.ts";
import { problemsOfText } from "../../problems-of-text.ts";
import { foreignYaml } from "../foreign-configuration.ts";
import { mapProxyConfiguration } from "./mapproxy-configuration.ts";

function fileWith(text: string, others: Readonly<Record<string, string>> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-mapproxy-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(others)) writeFileSync(join(directory, name), content);
  const file = join(directory, "mapproxy.yaml");
  writeFileSync(file, text);
  return file;
}

const REALISTIC = `
base: [common.yaml]
services:
  demo:
  wms: { md: { title: City, abstract: Maps, fees: None, contact: { person: Ann, organization: Town } }, srs: [EPSG:3857] }
  wmts:
layers:
  - title: Group
    layers:
      - { name: roads, title: Roads, sources: [roads_cache], md: { abstract: All roads, keyword_list: [{ keywords: [road] }] } }
      - { name: utm, title: UTM, sources: [utm_cache] }
  - { name: ortho, title: Photos, tile_sources: [ortho_cache], sources: [ortho_cache, labels] }
  - { name: merged, title: Two, sources: [two_cache] }
  - { name: mixed, title: Over, sources: [over_cache] }
  - { name: direct, title: Direct, sources: [city_wms] }
  - { name: old, title: Old, sources: [old_cache] }
  - { name: weather, title: Weather, sources: [roads_cache], dimensions: { time: { values: ["2026", "2025"], default: "2026" } } }
caches:
  roads_cache: { grids: [GLOBAL_WEBMERCATOR, GLOBAL_GEODETIC], sources: [city_wms], refresh_before: { days: 7 }, watermark: { text: City } }
  utm_cache:
    grids: [utm33]
    sources: ["city_wms:districts,streets"]
    format: image/jpeg
    meta_size: [2, 20]
    cache: { type: file, directory_layout: mp, use_grid_names: true }
  ortho_cache: { grids: [GLOBAL_WEBMERCATOR], sources: [tiles], format: image/jpeg, cache: { type: sqlite } }
  two_cache: { grids: [GLOBAL_MERCATOR], sources: [city_wms, labels], cache: { type: mbtiles } }
  over_cache: { grids: [GLOBAL_MERCATOR], sources: [city_wms, tiles], cache: { type: couchdb } }
  old_cache: { grids: [GLOBAL_MERCATOR], sources: [], cache: { type: file, directory: /srv/old, directory_layout: tms } }
sources:
  city_wms:
    type: wms
    wms_opts: { version: 1.1.0, featureinfo: true, legendgraphic: true }
    req: { url: "http://bob:secret@127.0.0.1:9/wms?map=/a.map", layers: "land,roads", transparent: true, dpi: 96 }
    coverage: { bbox: [13, 52, 14, 53], srs: "EPSG:4326" }
    http: { headers: { X-Key: secret }, client_timeout: 20 }
    concurrent_requests: 3
  labels:
    type: wms
    wms_opts: { version: 1.1.0, featureinfo: true, legendgraphic: true }
    req: { url: "http://bob:secret@127.0.0.1:9/wms?map=/a.map", layers: labels, transparent: true, dpi: 96 }
    coverage: { bbox: [13, 52, 14, 53], srs: "EPSG:4326" }
    http: { client_timeout: 20 }
    concurrent_requests: 3
  tiles: { type: tile, grid: GLOBAL_WEBMERCATOR, url: "http://127.0.0.1:9/%(z)s/%(x)s/%(y)s.%(format)s" }
grids:
  utm33:
    srs: EPSG:25833
    bbox: [300000, 5700000, 500000, 5900000]
    origin: nw
    res: [1000, 500, 250]
globals:
  image: { paletted: false }
`;
const COMMON = "globals: { cache: { base_dir: ./tiles, meta_buffer: 40 }, tiles: { expires_hours: 1 } }\n";

test("a realistic file becomes a configuration file that is valid", async () => {
  const file = fileWith(REALISTIC, { "common.yaml": COMMON });
  const taken = await mapProxyConfiguration(file);
  const text = foreignYaml("MapProxy", taken);
  expect(await problemsOfText(text, { PASSWORD_CITY_WMS: "x", PASSWORD_LABELS: "x" })).toEqual([]);
  expect(text).not.toContain("bob:secret");
  expect(taken.variables).toContain("PASSWORD_CITY_WMS");
  const layer = (name: string) => taken.layers.find(({ content }) => content["name"] === name)?.content;
  const base = join(file, "../tiles");
  expect(layer("roads")).toMatchObject({
    title: "Roads",
    description: "All roads",
    keywords: ["road"],
    source: {
      type: "wms",
      url: "http://127.0.0.1:9/wms?map=/a.map",
      username: "bob",
      layers: ["land", "roads"],
      vendorParameters: { DPI: "96" },
      timeoutSeconds: 20,
      connections: 3,
    },
    tilesOnDisk: [
      { gridSet: "EPSG:900913", path: join(base, "roads_cache_EPSG3857"), layout: "tc", rows: "top" },
      { gridSet: "GLOBAL_GEODETIC", path: join(base, "roads_cache_EPSG4326"), layout: "tc" },
    ],
    metatile: [4, 4],
    gutter: 40,
    expireCacheSeconds: 7 * 86_400,
    expireClientSeconds: 3600,
    queryable: true,
    fullWms: true,
  });
  expect(layer("utm")).toMatchObject({
    source: { layers: ["districts", "streets"] },
    metatile: [2, 16],
    tilesOnDisk: [
      { gridSet: "utm33", path: join(base, "utm_cache/utm33"), layout: "mp", rows: "top", extension: "jpeg" },
    ],
    jpegQuality: 90,
  });
  expect(layer("ortho")).toMatchObject({ source: { type: "xyz", url: "http://127.0.0.1:9/{z}/{x}/{y}.jpeg" } });
  expect(layer("merged")).toMatchObject({ source: { layers: ["land", "roads", "labels"] } });
  expect(layer("old")).toMatchObject({ source: { type: "none" }, tilesOnDisk: [{ path: "/srv/old", layout: "tms" }] });
  expect(layer("weather")).toMatchObject({ parameterFilters: [{ key: "TIME", default: "2026" }] });
  expect(layer("weather")?.["tilesOnDisk"]).toBeUndefined();
  expect(taken.gridSets).toMatchObject([
    { id: "GLOBAL_GEODETIC", srs: "EPSG:4326", resolutions: expect.arrayContaining([1.40625]) },
    { id: "utm33", alignTopLeft: true, resolutions: [1000, 500, 250], scaleNames: ["00", "01", "02"] },
  ]);
  expect(taken.serviceInformation).toMatchObject({ title: "City", fees: "None" });
  expect(taken.leftOut).toEqual([
    expect.stringContaining(
      "the layer mixed: the sources city_wms, tiles of the cache over_cache are drawn over each other",
    ),
    "the layer direct: its sources have no cache",
    "the cache over_cache, which no layer uses alone",
  ]);
});

test("the report names each element", async () => {
  const taken = await mapProxyConfiguration(fileWith(REALISTIC, { "common.yaml": COMMON }));
  const report = reportText(taken.reports);
  expect(report).toContain("source city_wms\n");
  expect(report).toContain("  taken over differently: wms_opts.version (requests are of version 1.1.1)");
  expect(report).toMatch(/cache roads_cache\n {2}taken over: .*refresh_before.days/);
  expect(report).toMatch(/kept, without effect: .*watermark.text/);
  expect(report).toContain("  kept, without effect: http.headers.X-Key (requests have no headers");
  expect(report).toContain("once the server runs, `nuthatch import");
  const paths = taken.reports.map(({ title, path }) => `${title} ${path}`);
  expect(new Set(paths).size).toBe(paths.length);
});

test("grids are worked out as in MapProxy", async () => {
  const { gridSets } = await mapProxyConfiguration(
    fileWith(`
layers: [{ name: a, title: a, sources: [a] }]
caches: { a: { grids: [sq, ranged, aligned], sources: [], cache: { type: file, use_grid_names: true } } }
sources: {}
grids:
  sq: { srs: EPSG:25833, bbox: "0,0,256000,256000", res_factor: sqrt2, num_levels: 3 }
  ranged: { srs: EPSG:25833, bbox: [0, 0, 256000, 256000], min_res: 1000, max_res: 10, num_levels: 3 }
  aligned: { base: sq, align_resolutions_with: sq, num_levels: 2, bbox: [12, 50, 13, 51], bbox_srs: "EPSG:4326" }
`),
  );
  const resolutions = gridSets.map((one) => one["resolutions"]);
  expect(resolutions[0]).toEqual([1000, 1000 / Math.SQRT2, 1000 / Math.SQRT2 / Math.SQRT2]);
  expect(resolutions[1]).toEqual([expect.closeTo(1000), expect.closeTo(100), expect.closeTo(10)]);
  const [minX = 0] = Array.isArray(gridSets[2]?.["extent"]) ? gridSets[2]["extent"].map(Number) : [];
  expect(minX).toBeCloseTo(285_015.8, -2);
});

test("a file that is none of MapProxy, and one that is its own base, are refused", async () => {
  await expect(mapProxyConfiguration(fileWith("a: 1\n"))).rejects.toThrow("is no configuration of MapProxy");
  await expect(mapProxyConfiguration(fileWith("base: mapproxy.yaml\nlayers: []\n"))).rejects.toThrow("its own base");
});

test("of two values of one key the last is taken, as in MapProxy", async () => {
  const taken = await mapProxyConfiguration(
    fileWith(`
layers:
  - { name: a, title: A, sources: [cache] }
caches:
  cache: { grids: [GLOBAL_WEBMERCATOR], sources: [one] }
sources:
  one: { type: wms, req: { url: "http://127.0.0.1:9/old", layers: a } }
  one: { type: wms, req: { url: "http://127.0.0.1:9/new", layers: a, VERSION: 1.1.1 } }
`),
  );
  expect(await problemsOfText(foreignYaml("MapProxy", taken), {})).toEqual([]);
  expect(taken.layers.map(({ content }) => content["source"])).toMatchObject([{ url: "http://127.0.0.1:9/new" }]);
});

test("a layer of an ArcGIS image service has the tiles of its cache alone", async () => {
  const taken = await mapProxyConfiguration(
    fileWith(`
layers:
  - { name: a, title: A, sources: [cache_a] }
  - { name: b, title: B, sources: [cache_b] }
caches:
  cache_a: { grids: [GLOBAL_WEBMERCATOR], sources: [one] }
  cache_b: { grids: [GLOBAL_WEBMERCATOR], sources: [two] }
sources:
  one: { type: arcgis, req: { url: "http://127.0.0.1:9/rest/services/A/ImageServer", layers: "show:0" } }
  two: { type: arcgis, req: { url: "http://127.0.0.1:9/rest/services/B/MapServer", layers: "show:0" } }
`),
  );
  expect(taken.layers.map(({ content }) => content["source"])).toMatchObject([{ type: "none" }, { type: "arcgis" }]);
  expect(reportText(taken.reports)).toContain("image services have none");
});
