import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { reportText } from "../../element-report.ts";
import { problemsOfText } from "../../problems-of-text.ts";
import { foreignYaml } from "../foreign-configuration.ts";
import { withoutRefused } from "../without-refused.ts";
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
    meta_size: [2, 24]
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
    http: { headers: { X-Key: secret, User-Agent: "\${city}/1", Host: h }, client_timeout: 20, manage_cookies: true }
    on_error: { 404: { response: transparent, cache: true }, 403: { response: "#f00" }, other: { response: transparent } }
    concurrent_requests: 3
  labels:
    type: wms
    wms_opts: { version: 1.1.0, featureinfo: true, legendgraphic: true }
    req: { url: "http://bob:secret@127.0.0.1:9/wms?map=/a.map", layers: labels, transparent: true, dpi: 96 }
    coverage: { bbox: [13, 52, 14, 53], srs: "EPSG:4326" }
    http: { headers: { X-Key: secret, User-Agent: "\${city}/1" }, client_timeout: 20, manage_cookies: true }
    on_error: { 404: { response: transparent, cache: true } }
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
  expect(await problemsOfText(text, { PASSWORD_CITY_WMS: "x", PASSWORD_LABELS: "x", X_KEY_CITY_WMS: "x" })).toEqual([]);
  expect(text).not.toContain("bob:secret");
  expect(taken.variables).toEqual(["PASSWORD_CITY_WMS", "X_KEY_CITY_WMS", "PASSWORD_LABELS"]);
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
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file
      headers: { "X-Key": "${X_KEY_CITY_WMS}", "User-Agent": "$${city}/1" },
      cookies: true,
      missing: [404],
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
    metatile: [2, 20],
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
    "the layer direct: its sources have no cache (mapproxy.yaml:15)",
    "the cache over_cache, which no layer uses alone (mapproxy.yaml:28)",
  ]);
});

test("cookies of all sources are those of a source, and a header Cookie is sent instead of them", async () => {
  const taken = await mapProxyConfiguration(
    fileWith(`globals: { http: { manage_cookies: yes } }
sources:
  a: { type: wms, req: { url: "http://127.0.0.1:9/a", layers: a } }
  b: { type: wms, req: { url: "http://127.0.0.1:9/b", layers: b }, http: { manage_cookies: no } }
  c: { type: wms, req: { url: "http://127.0.0.1:9/c", layers: c }, http: { manage_cookies: yes, headers: { cookie: s=1 } } }
caches: { a_cache: { sources: [a] }, b_cache: { sources: [b] }, c_cache: { sources: [c] } }
layers: [{ name: a, title: A, sources: [a_cache] }, { name: b, title: B, sources: [b_cache] }, { name: c, title: C, sources: [c_cache] }]`),
  );
  expect(taken.layers.map(({ content }) => (content["source"] as Record<string, unknown>)["cookies"])).toEqual([
    true,
    undefined,
    undefined,
  ]);
  expect(await problemsOfText(foreignYaml("MapProxy", taken), { COOKIE_C: "s=1" })).toEqual([]);
  expect(reportText(taken.reports)).toContain("http.manage_cookies (the header Cookie is sent instead)");
});

test("the report names each element", async () => {
  const taken = await mapProxyConfiguration(fileWith(REALISTIC, { "common.yaml": COMMON }));
  const report = reportText(taken.reports);
  expect(report).toContain("source city_wms\n");
  expect(report).toContain("  taken over differently: wms_opts.version (requests are of version 1.1.1)");
  expect(report).toMatch(/cache roads_cache\n {2}taken over: .*refresh_before.days/);
  expect(report).toMatch(/kept, without effect: .*watermark.text/);
  expect(report).toContain("  kept, without effect: http.headers.Host (is a header that Nuthatch sets itself)");
  expect(report).toContain("  taken over differently: http.headers.X-Key (the value is in a variable)");
  expect(report).toMatch(/source city_wms\n {2}taken over: .*http.manage_cookies/);
  expect(report).toMatch(/taken over differently: on_error.404.response \(source.missing/);
  expect(report).toMatch(/kept, without effect: on_error.403.response \(no tile has a colour/);
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

test("a text with the sign of a variable stays this text, and a password is a variable", async () => {
  const taken = await mapProxyConfiguration(
    fileWith(`
services: { wms: { md: { title: "tiles for \${CITY}" } } }
layers:
  - { name: a, title: "costs \${5}", sources: [cache] }
caches:
  cache: { grids: [GLOBAL_WEBMERCATOR], sources: [one] }
sources:
  one: { type: wms, req: { url: "http://me:word@127.0.0.1:9/\${x}", layers: a } }
`),
  );
  const text = foreignYaml("MapProxy", taken);
  expect(await problemsOfText(text, { PASSWORD_ONE: "x" })).toEqual([]);
  for (const part of [`tiles for $\${CITY}`, `costs $\${5}`, `127.0.0.1:9/$\${x}`, `password: \${PASSWORD_ONE}`])
    expect(text).toContain(part);
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

/** Returns a file with one layer for each cache. Each source requests the layer `a`. */
const fileOf = (sections: string): string => fileWith(`services: { tms: }\n${sections}`);
const UP = 'type: wms, req: { url: "http://127.0.0.1:9/wms", layers: a }';
const layerIn = (taken: Awaited<ReturnType<typeof mapProxyConfiguration>>, name: string) =>
  taken.layers.find(({ content }) => content["name"] === name)?.content;

test.each([
  // The values are those of MapProxy 1.15.1.
  ["EPSG:25832", "[5, 47, 16, 55]", [195914.757486, 5205922.313299, 1032085.492835, 6117225.183734]],
  ["EPSG:2056", "[5.9, 45.8, 10.5, 47.9]", [2480365.00166, 1072112.855208, 2837983.265415, 1309971.646179]],
  ["EPSG:3067", "[19, 59, 32, 70.5]", [41085.76799, 6541018.99799, 787090.182976, 7841236.598503]],
  ["EPSG:3857", "[-180, -90, 180, 90]", [-20037508.342789, -20037508.342789, 20037508.342789, 20037508.342789]],
])("a grid in %s whose box is in degrees has MapProxy's corners", async (srs, box, corners) => {
  const taken = await mapProxyConfiguration(
    fileOf(`
layers: [{ name: a, title: A, sources: [c] }]
caches: { c: { grids: [g], sources: [up] } }
grids: { g: { srs: "${srs}", bbox: ${box}, bbox_srs: "EPSG:4326", res: [1000, 500, 200] } }
sources: { up: { ${UP} } }
`),
  );
  // PROJ and proj4 differ by less than a millimetre; in EPSG:2056 by half a metre, because of the datum.
  const near = srs === "EPSG:2056" ? -1 : 2;
  expect(taken.gridSets[0]?.["extent"]).toEqual(corners.map((corner) => expect.closeTo(corner, near)));
  const report = reportText(taken.reports);
  if (srs === "EPSG:2056") expect(report).toContain("bbox (EPSG:4326 and EPSG:2056 have two datums: MapProxy may");
  else expect(report).not.toContain("datum");
});

test.each([
  // The values are those of MapProxy 1.15.1.
  ["time", "[2012-11-12, 2012-11-13]", ["2012-11-12", "2012-11-13"], "2012-11-13"],
  ["Elevation", "[0, 1000, 3000], default: 1000", ["0", "1000", "3000"], "1000"],
  ["elevation", '["0/1000/3000"]', ["0", "1000", "3000"], "3000"],
  ["run", "[a]", ["a"], "a"],
  [
    "dim_reference_time",
    '["2020-08-25T00:00:00Z/2020-08-25T03:00:00Z/PT2H"]',
    ["2020-08-25T00:00:00Z", "2020-08-25T02:00:00Z", "2020-08-25T04:00:00Z"],
    "2020-08-25T04:00:00Z",
  ],
  ["TIME", '["2007-03-01T13:00:00/P1D"]', ["2007-03-01T13:00:00", "2007-03-02T13:00:00"], "2007-03-02T13:00:00"],
  ["time", '["P1D/2007-03-01T13:00Z"]', ["2007-02-28T13:00:00Z", "2007-03-01T13:00:00Z"], "2007-03-01T13:00:00Z"],
  ["time", '["2007-03-01T13:00:00+00:00"]', ["2007-03-01T13:00:00Z"], "2007-03-01T13:00:00Z"],
  ["time", '["2000-01-01T00:00:00Z/2020-01-01T00:00:00Z/PT1S"]', [], ""],
  ["time", '["2000-01-01T00:00:00Z/2020-01-01T00:00:00Z/P1M"], default: now', [], "now"],
])("the values of the dimension %s: %s are those of MapProxy", async (name, values, expected, standard) => {
  const taken = await mapProxyConfiguration(
    fileOf(`
layers: [{ name: a, title: A, sources: [c], dimensions: { ${name}: { values: ${values} } } }]
caches: { c: { grids: [GLOBAL_MERCATOR], sources: [up], disable_storage: true } }
sources: { up: { ${UP} } }
`),
  );
  expect(taken.layers[0]?.content["parameterFilters"]).toEqual([
    { type: "string", key: name.toUpperCase(), default: standard, values: expected },
  ]);
  expect(reportText(taken.reports).includes("all requests have the default")).toBe(expected.length === 0);
});

test("a grid set has the name that MapProxy gives the grid, also in the directory of its tiles", async () => {
  const gridsOf = (names: readonly string[]) =>
    names.map((name, i) => `g${i}: { srs: "EPSG:2583${i}", bbox: [0, 0, 256000, 256000]${name} }`).join(", ");
  const taken = (grids: string) =>
    mapProxyConfiguration(
      fileOf(`
layers: [{ name: a, title: A, sources: [c] }]
caches: { c: { grids: [none, g1, g2, g3], sources: [up], cache: { type: file, use_grid_names: true } } }
grids: { ${grids} }
sources: { up: { ${UP} } }
`),
    );
  const setsOf = ({ gridSets, layers }: Awaited<ReturnType<typeof taken>>) => {
    const tiles = layers[0]?.content["tilesOnDisk"];
    const paths = Array.isArray(tiles)
      ? tiles.map(({ gridSet, path }) => [gridSet, String(path).split("/").at(-1)])
      : [];
    return { ids: gridSets.map(({ id }) => id), paths };
  };
  const named = await taken(gridsOf(["", ", name: First", "", ", base: g1"]));
  expect(setsOf(named)).toEqual({
    ids: ["First", "g2", "g3"],
    paths: [
      ["First", "First"],
      ["g2", "g2"],
      ["g3", "g3"],
    ],
  });
  expect(reportText(named.reports)).not.toMatch(/without effect: .*name/);
  const twice = await taken(gridsOf(["", ", name: Same", ", name: Same", ""]));
  expect(setsOf(twice)).toEqual({
    ids: ["g1", "g2", "g3"],
    paths: [
      ["g1", "Same"],
      ["g2", "Same"],
      ["g3", "g3"],
    ],
  });
  expect(reportText(twice.reports)).toContain("name (two grids have one name: the key names the grid set)");
});

test("an upstream is asked for the code of web mercator that MapProxy asks for", async () => {
  const taken = await mapProxyConfiguration(
    fileOf(`
layers:
  - { name: web, title: A, sources: [web] }
  - { name: old, title: A, sources: [old] }
  - { name: listed, title: A, sources: [listed] }
  - { name: new, title: A, sources: [new] }
  - { name: own, title: A, sources: [own] }
caches:
  web: { grids: [GLOBAL_WEBMERCATOR], sources: [up] }
  old: { grids: [GLOBAL_MERCATOR], sources: [up] }
  listed: { grids: [GLOBAL_MERCATOR], sources: [supporting] }
  new: { grids: [GLOBAL_WEBMERCATOR], sources: [newer] }
  own: { grids: [town], sources: [up] }
grids: { town: { srs: "EPSG:3857", bbox: [0, 0, 256000, 256000], res: [1000] } }
sources:
  up: { ${UP} }
  supporting: { ${UP}, supported_srs: ["EPSG:4326", "EPSG:102100", "EPSG:3857"] }
  newer: { ${UP}, wms_opts: { version: 1.3.0 } }
`),
  );
  const names = (name: string) =>
    Object.entries(layerIn(taken, name)?.["source"] ?? {}).find(([key]) => key === "crsNames")?.[1];
  expect(["web", "old", "listed", "new", "own"].map(names)).toEqual([
    { "EPSG:900913": "EPSG:3857" },
    undefined,
    { "EPSG:900913": "EPSG:102100" },
    undefined,
    undefined,
  ]);
  expect(await problemsOfText(foreignYaml("MapProxy", taken), {})).toEqual([]);
});

test("values are read as YAML 1.1, and a flag that is neither true nor false leaves out its layer alone", async () => {
  const taken = await mapProxyConfiguration(
    fileOf(`
layers: [{ name: a, title: A, sources: [c] }, { name: b, title: B, sources: [d] }]
caches:
  c: { grids: [g], sources: [up], disable_storage: yes, cache: { type: file, use_grid_names: Yes } }
  d: { grids: [g], sources: [doubtful] }
grids: { g: { srs: "EPSG:25832", bbox: [300000, 5_000_000, 900000, 5600000], num_levels: 012 } }
sources:
  up: { ${UP}, image: { transparent: yes }, wms_opts: { featureinfo: on, legendgraphic: Yes } }
  doubtful: { ${UP}, image: { transparent: perhaps } }
`),
  );
  expect(taken.layers).toHaveLength(1);
  expect(layerIn(taken, "a")).toMatchObject({
    source: { transparent: true },
    expireCacheSeconds: -1,
    queryable: true,
    legends: [{ style: "" }],
  });
  expect(taken.gridSets[0]).toMatchObject({ extent: [300000, 5e6, 900000, 5.6e6] });
  expect(taken.gridSets[0]?.["resolutions"]).toHaveLength(10);
  expect(taken.leftOut).toContain(
    'the layer b: image.transparent of the source doubtful (mapproxy.yaml:10): expected true or false, got "perhaps"',
  );
});

test.each(["wms:", "wms: {}", "wms: { md: { title: A } }"])(
  "with the service %s maps of any box are served",
  async (service) => {
    const taken = await mapProxyConfiguration(
      fileWith(`
services:
  tms:
  ${service}
layers: [{ name: a, title: A, sources: [c] }]
caches: { c: { grids: [GLOBAL_MERCATOR], sources: [up] } }
sources: { up: { ${UP} } }
`),
    );
    expect(layerIn(taken, "a")).toMatchObject({ fullWms: true });
  },
);

test.each(["services: { tms: }", "services:", "globals:"])(
  "with %s no maps of any box are served",
  async (services) => {
    const taken = await mapProxyConfiguration(
      fileWith(`
${services}
layers: [{ name: a, title: A, sources: [c] }]
caches: { c: { grids: , sources: [up], cache: } }
sources: { up: { ${UP}, image: , coverage: , http: } }
`),
    );
    expect(layerIn(taken, "a")?.["fullWms"]).toBeUndefined();
    expect(layerIn(taken, "a")).toMatchObject({ gridSubsets: [{ gridSet: "EPSG:900913" }] });
  },
);

test("a key without a value has what its base has", async () => {
  const taken = await mapProxyConfiguration(
    fileWith(`base: common.yaml\nservices: { wms: }\n`, {
      "common.yaml": `
services: { wms: { md: { title: Base } } }
layers: [{ name: a, title: A, sources: [c] }, { name: direct, title: B, sources: [up] }]
caches: { c: { grids: [GLOBAL_MERCATOR], sources: [up] } }
sources: { up: { ${UP} } }
`,
    }),
  );
  expect(taken.serviceInformation).toMatchObject({ title: "Base" });
  expect(taken.leftOut).toEqual(["the layer direct: its sources have no cache (common.yaml:3)"]);
});

test.each([
  ["is a point", '{ bbox: [-0.00000898, -0.00000898, -0.00000898, -0.00000898], srs: "EPSG:4326" }'],
  ["lies beyond the edge of the map", '{ bbox: [179, 89, 180, 89.9], srs: "EPSG:4326" }'],
  ["is inside out", '{ bbox: [10, 50, 5, 40], srs: "EPSG:4326" }'],
  ["lies outside of the grid", '{ bbox: [30000000, 0, 31000000, 1000000], srs: "EPSG:3857" }'],
])("a layer whose coverage %s is left out alone", async (_, coverage) => {
  const taken = await mapProxyConfiguration(
    fileOf(`
layers:
  - { name: a, title: A, sources: [c] }
  - { name: empty, title: B, sources: [d] }
caches: { c: { grids: [GLOBAL_MERCATOR], sources: [up] }, d: { grids: [GLOBAL_MERCATOR], sources: [nowhere] } }
sources:
  up: { ${UP} }
  nowhere: { ${UP}, coverage: ${coverage} }
`),
  );
  expect(await problemsOfText(foreignYaml("MapProxy", taken), {})).toEqual([]);
  expect(taken.layers.map(({ content }) => content["name"])).toEqual(["a"]);
  expect(taken.leftOut[0]).toMatch(
    /^the layer empty: .*the coverage of the source has no area in it \(mapproxy.yaml:5\)$/,
  );
});

test("layers and styles that the address names are those of the source", async () => {
  const source = async (req: string) => {
    const taken = await mapProxyConfiguration(
      fileOf(`
layers: [{ name: ortho, title: A, sources: [c] }]
caches: { c: { grids: [GLOBAL_MERCATOR], sources: [up] } }
sources: { up: { type: wms, req: { ${req} } } }
`),
    );
    return layerIn(taken, "ortho")?.["source"];
  };
  expect(
    await source('url: "http://127.0.0.1:9/wms?map=a%2Fb.map&Layers=half%20a,b&styles=x,y&TRANSPARENT=true"'),
  ).toMatchObject({
    url: "http://127.0.0.1:9/wms?map=a%2Fb.map",
    layers: ["half a", "b"],
    styles: ["x", "y"],
    transparent: true,
  });
  expect(await source('url: "http://127.0.0.1:9/wms?layers=half", layers: whole')).toMatchObject({ layers: ["whole"] });
});

test("a layer or a grid that a server refuses is left out alone, with its line", async () => {
  const taken = await withoutRefused(
    "MapProxy",
    await mapProxyConfiguration(
      fileOf(`
layers:
  - { name: a, title: A, sources: [c] }
  - { name: address, title: A, sources: [d] }
  - { name: format, title: A, sources: [e] }
  - { name: grids, title: A, sources: [f] }
  - { name: "x/../y", title: A, sources: [c] }
caches:
  c: { grids: [GLOBAL_MERCATOR, wide], sources: [up] }
  d: { grids: [GLOBAL_MERCATOR], sources: [down] }
  e: { grids: [GLOBAL_MERCATOR], sources: [up], format: image/tiff }
  f: { grids: [wide], sources: [up] }
grids: { wide: { srs: "EPSG:25832", bbox: [0, 0, 1000, 1000], res: [10], tile_size: [9000, 9000] } }
sources: { up: { ${UP} }, down: { type: wms, req: { url: "xxx", layers: a } } }
`),
    ),
  );
  expect(await problemsOfText(foreignYaml("MapProxy", taken), {})).toEqual([]);
  expect(taken.layers.map(({ content }) => [content["name"], content["gridSubsets"]])).toEqual([
    ["a", [{ gridSet: "EPSG:900913", zoomStop: 19 }]],
  ]);
  expect(taken.leftOut.map((line) => line.replace(/: .*(?= \()/, ""))).toEqual([
    expect.stringMatching(/^the grid wide: tileSize/),
    "the layer grids (mapproxy.yaml:7)",
    "the layer address (mapproxy.yaml:5)",
    "the layer format (mapproxy.yaml:6)",
    "the layer x/../y (mapproxy.yaml:8)",
  ]);
});

test.each([
  ["%(tms_path)s.png", "GLOBAL_MERCATOR", "{z}/{x}/{-y}.png"],
  ["%(tc_path)s.png", "GLOBAL_WEBMERCATOR", "{tc}.png"],
  ["%(tc_path)s.png", "GLOBAL_MERCATOR", "{-tc}.png"],
  ["%(arcgiscache_path)s.%(format)s", "GLOBAL_WEBMERCATOR", "{arcgis}.png"],
  ["?BBOX=%(bbox)s&SRS=EPSG:3857", "GLOBAL_WEBMERCATOR", "?BBOX={bbox}&SRS=EPSG:3857"],
])("the tile address %s of %s becomes %s", async (address, grid, expected) => {
  const taken = await mapProxyConfiguration(
    fileOf(`
layers: [{ name: a, title: A, sources: [c] }]
caches: { c: { grids: [${grid}], sources: [up] } }
sources: { up: { type: tile, grid: ${grid}, url: "http://127.0.0.1:9/${address}" } }
`),
  );
  expect(layerIn(taken, "a")?.["source"]).toMatchObject({ type: "xyz", url: `http://127.0.0.1:9/${expected}` });
  expect(await problemsOfText(foreignYaml("MapProxy", taken), {})).toEqual([]);
});
