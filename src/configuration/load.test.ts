import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { cpuMsUntil } from "../../test/support/cpu-time.ts";
import { inFull } from "../../test/support/full.ts";
import { hashPassword, verifyPassword } from "../account/password.ts";
import { atEveryZoom } from "../layer/by-zoom.ts";
import type { Configuration } from "./configuration.ts";
import { configurationDocument } from "./configuration-document.ts";
import type { RunningConfiguration } from "./configuration-input.ts";
import { LayerSchema } from "./fields/layer-schema.ts";
import { loadConfiguration } from "./load.ts";
import { problemText } from "./problem.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-config-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
interface Given {
  readonly yaml?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string>>;
  readonly running?: RunningConfiguration;
}
function loading({ yaml, env = {}, flags = {}, ...more }: Given) {
  if (yaml === undefined) return loadConfiguration({ env, flags, cwd: directory, ...more });
  const config = `${++files}.yaml`;
  writeFileSync(join(directory, config), yaml);
  return loadConfiguration({ env, flags: { ...flags, config }, cwd: directory, ...more });
}
async function loaded(given: Given): Promise<Configuration> {
  const result = await loading(given);
  if (!result.ok) throw new Error(result.error.map(problemText).join("\n"));
  return result.value;
}
/** Returns the printed problems without the name of the file. */
async function problems(given: Given): Promise<string[]> {
  const result = await loading(given);
  return result.ok ? [] : result.error.map((p) => problemText(p).replace(/^\d+\.yaml:/, ""));
}
const layer = (more: string) => `layers:\n  - { name: a, source: { type: wms, url: "http://u/" }, ${more} }\n`;

/** The example of the documentation, word for word. */
const EXAMPLE = `server: { host: 127.0.0.1, port: 8080, mounts: ["/", "/geowebcache"] }
dataDir: ./data
users:
  - { name: admin, passwordHash: "scrypt:…", roles: [admin] }   # or password: plain, hashed at start, with a warning
gridSets:                       # own ones, beside the built-in
  - { id: "my:grid", srs: EPSG:2163, extent: [-2495667.98, -2223677.20, 3291070.61, 959189.33], scaleDenominators: [25000000, 1000000, 100000, 25000], tileSize: [200, 200], alignTopLeft: false }
layers:
  - name: ws:roads
    title: Roads
    source: { type: wms, url: "http://127.0.0.1:9000/wms", version: 1.1.1, layers: [roads], styles: [], transparent: true, timeoutSeconds: 30, connections: 4 }
    gridSubsets:
      - { gridSet: EPSG:900913, extent: [-8237642, 4970241, -8235000, 4973000], zoomStart: 0, zoomStop: 18 }
      - { gridSet: EPSG:4326 }
    formats: [image/png, image/jpeg]
    metatile: [4, 4]
    gutter: 16                  # pixels
    parameterFilters:
      - { type: string, key: STYLES, default: "", values: [a, b] }
      - { type: regex, key: CQL_FILTER, default: "", regex: ".*" }
    expireCacheSeconds: 0       # 0: never
    expireClientSeconds: 3600
diskQuota: { enabled: true, globalQuota: { value: 20, units: MiB } }   # the initial value, while none is persisted
`;

test("the example of the decisions is read word for word", async () => {
  // The example's hash is not valid: the variable gives its administrator a password.
  const configuration = await loaded({ yaml: EXAMPLE, env: { NUTHATCH_ADMIN_PASSWORD: "s3cret" } });
  expect(configuration).toMatchObject({
    server: { host: "127.0.0.1", port: 8080, mounts: ["/geowebcache", "/"], memoryTierMiB: 64, workers: 1 },
    dataDir: join(directory, "data"),
    users: [{ name: "admin", roles: ["admin"] }],
    diskQuota: {
      enabled: true,
      cacheCleanUpFrequency: 10,
      globalQuota: { value: "20", units: "MiB" },
      layerQuotas: [],
    },
    jobs: {
      maxRunningTasks: 32,
      maxThreadCount: 128,
      outageLimitSeconds: 3600,
      historyDays: 30,
      historyJobs: 1_000_000,
      historyMiB: 1024,
    },
  });
  expect(configuration.warnings).toEqual([expect.stringMatching(/admin cannot log in/)]);
  const [roads] = configuration.layers;
  expect(roads).toMatchObject({
    name: "ws:roads",
    source: {
      type: "wms",
      version: "1.1.1",
      layers: ["roads"],
      timeoutMs: 30_000,
      connections: 4,
      vendorParameters: {},
    },
    metatile: [4, 4],
    gutter: 16,
    expireClientSeconds: atEveryZoom(3600),
    secured: false,
  });
  expect(roads?.formats.map((f) => f.mimeType)).toEqual(["image/png", "image/jpeg"]);
  expect(roads?.gridSubsets.map((s) => [s.gridSet.id, s.zoomStart, s.zoomStop])).toEqual([
    ["EPSG:900913", 0, 18],
    ["EPSG:4326", 0, 21],
  ]);
  expect(structuredClone(configuration), "it travels to the threads").toEqual(configuration);
});

test("a layer needs no more than a name and a source", async () => {
  const { layers } = await loaded({ yaml: 'layers: [{ name: "a:b", source: { type: wms, url: "http://u/" } }]' });
  expect(layers[0]).toMatchObject({
    title: "a:b",
    source: { version: "1.1.1", layers: ["a:b"], transparent: true, timeoutMs: 30_000, connections: 8 },
    metatile: [4, 4],
    gutter: 0,
    jpegQuality: 85,
    pngCompression: "fast",
    expireCacheSeconds: atEveryZoom(0),
    expireClientSeconds: atEveryZoom(7200),
  });
  expect(layers[0]?.gridSubsets.map((s) => s.gridSet.id)).toEqual(["EPSG:4326", "EPSG:900913"]);
  expect(layers[0]?.formats.map((f) => f.mimeType)).toEqual(["image/png", "image/jpeg"]);
});

test("without a file there are the demo layers, on loopback, in ./data", async () => {
  const { file, layers, server, dataDir, warnings } = await loaded({});
  expect(file).toBeUndefined();
  expect(layers.map((l) => l.name)).toEqual(["topp:states", "nurc:Arc_Sample", "img states"]);
  for (const { name, source, formats } of layers) {
    expect(source, name).toMatchObject({ type: "demo", connections: 4 });
    expect(
      formats.map((f) => f.mimeType),
      name,
    ).toEqual(["image/png", "image/png8", "image/jpeg"]);
  }
  expect(server).toMatchObject({ host: "127.0.0.1", port: 8080 });
  expect(dataDir).toBe(join(directory, "data"));
  expect(warnings).toEqual([]);
  const atlas = layers[0]?.gridSubsets.find((s) => s.gridSet.id === "EPSG:2163");
  expect(atlas?.gridSet.matrices.map(({ matrixWidth, matrixHeight }) => [matrixWidth, matrixHeight])).toEqual([
    [5, 3],
    [104, 57],
    [1034, 569],
    [4134, 2274],
  ]);
});

test("all errors of a configuration are reported at once, each with its position and the expected value", async () => {
  const yaml = `server: { prot: 8080, port: 99999, host: 5 }
layers:
  - name: a.JSON
    source: { type: wms, url: ftp://x/ }
    gridSubset: []
    gutter: 1.5
  - name: b
    source: { type: wmsx, url: x }
  - name: c
    source: { type: demo, dataset: states }
    formats: [image/pgn]
    metatile: [4]
    gridSubsets:
      - { gridSet: EPSG:9009113 }
      - { gridSet: EPSG:4326, zoomStart: 5, zoomStop: 4 }
jobs: 7
`;
  expect(await problems({ yaml })).toEqual([
    "1:11: server.prot: unknown key; did you mean port? (known here: host, port, mounts, trustProxy, allowedOrigins, memoryTierMiB, cacheTags, workers)",
    "1:29: server.port: expected a whole number from 0 to 65535, got 99999",
    "1:42: server.host: expected a text that is not empty (in quotes), got 5",
    '3:11: layers[0].name: expected a name that does not end in .json or .xml, as addresses end in these, got "a.JSON"',
    `5:5: layers[0].gridSubset: unknown key; did you mean gridSubsets? (known here: ${Object.keys(LayerSchema.shape).join(", ")})`,
    "6:13: layers[0].gutter: expected a whole number from 0 to 256, got 1.5",
    '8:21: layers[1].source.type: expected one of wms, xyz, wmts, arcgis, arcgisCache, mbtiles, pmtiles, demo, group, none, got "wmsx"',
    expect.stringMatching(/^11:15: layers\[2\]\.formats\[0\]: expected one of image\/png, .*got "image\/pgn"$/),
    "12:15: layers[2].metatile: expected a list of 2 numbers, got a list",
    expect.stringMatching(
      /^14:20: layers\[2\]\.gridSubsets\[0\]\.gridSet: unknown grid set "EPSG:9009113"; did you mean/,
    ),
    "15:42: layers[2].gridSubsets[1].zoomStart: expected at most zoomStop (4), got 5",
    "16:7: jobs: expected a map, got 7",
  ]);
});

const expiring = (...keys: string[]): string =>
  `layers:
  - name: a
    source: { type: demo, dataset: states }
${keys.map((key) => `    ${key}`).join("\n")}
`;

test("tiles expire by zoom, and GWC's codes set the expiry for clients", async () => {
  const { layers } = await loaded({
    yaml: expiring(
      "expireCacheSeconds: [{ minZoom: 0, seconds: 0 }, { minZoom: 10, seconds: 60 }]",
      "expireClientSeconds: [{ minZoom: 0, seconds: -2 }, { minZoom: 8, seconds: 600 }, { minZoom: 14, seconds: -1 }]",
    ),
  });
  expect(layers[0]?.expireCacheSeconds).toEqual([
    { minZoom: 0, value: 0 },
    { minZoom: 10, value: 60 },
  ]);
  expect(layers[0]?.expireClientSeconds).toEqual([
    { minZoom: 0, value: 31_536_000 },
    { minZoom: 8, value: 600 },
    { minZoom: 14, value: "no-cache" },
  ]);
});

test("rules by zoom that leave a level open or contradict each other are refused by their place", async () => {
  const cache =
    "expireCacheSeconds: [{ minZoom: 1, seconds: -2 }, { minZoom: 4, seconds: 5 }, { minZoom: 4, seconds: 6 }]";
  expect(await problems({ yaml: expiring(cache) })).toEqual([
    expect.stringMatching(/expireCacheSeconds\[0\]\.seconds: expected a whole number from -1 to \d+, got -2/),
  ]);
  expect(await problems({ yaml: expiring(cache.replace("-2", "1")) })).toEqual([
    expect.stringMatching(/expireCacheSeconds\[0\]\.minZoom: expected 0, as the first rule holds from there on, got 1/),
    expect.stringMatching(/expireCacheSeconds\[2\]\.minZoom: expected more than 4, as of the rule before, got 4/),
  ]);
  expect(await problems({ yaml: expiring("expireClientSeconds: soon") })).toEqual([
    expect.stringMatching(
      /expireClientSeconds: expected a whole number from -2 to \d+ or a list \(each a map of minZoom, seconds\), got "soon"/,
    ),
  ]);
});

const filtered = (...filters: string[]): string =>
  `layers:
  - name: a
    source: { type: demo, dataset: states }
    parameterFilters:
${filters.map((f) => `      - { ${f} }`).join("\n")}
`;

test("parameter filters are filled with GWC's thresholds, defaults written as tile sets are named", async () => {
  const { layers } = await loaded({
    yaml: filtered(
      "type: float, key: elevation, default: 10, values: [10, 0.5]",
      'type: float, key: any, default: "10"',
      "type: integer, key: year, values: [2020], threshold: 5",
      "type: string, key: STYLES, values: [Pop], normalize: UPPER",
      'type: regex, key: Q, regex: ".*", normalize: LOWER',
    ),
  });
  expect(layers[0]?.parameterFilters).toEqual([
    { type: "float", key: "ELEVATION", default: "10.0", values: [10, 0.5], threshold: 1e-6 },
    { type: "float", key: "ANY", default: "10", values: [], threshold: 1e-6 },
    { type: "integer", key: "YEAR", default: "", values: [2020], threshold: 5 },
    { type: "string", key: "STYLES", default: "", values: ["Pop"], normalize: "UPPER" },
    { type: "regex", key: "Q", default: "", regex: ".*", normalize: "LOWER" },
  ]);
});

test.each([
  [
    "type: float, key: E, default: 3, values: [1, 2]",
    ".default: expected a number nearer than 0.000001 to one of 1.0, 2.0, got 3",
  ],
  ["type: float, key: E, default: high", '.default: expected a number, got "high"'],
  ["type: float, key: E, default: 1e39", ".default: expected a number, got 1e+39"],
  ["type: float, key: E, values: [1e39]", ".values[0]: expected a number from -"],
  ["type: float, key: E, threshold: -1", ".threshold: expected a number above 0, got -1"],
  ["type: float, key: E, threshold: 0", ".threshold: expected a number above 0, got 0"],
  ["type: integer, key: E, default: 1.5", ".default: expected a whole number, got 1.5"],
  [
    "type: integer, key: E, default: 9, values: [7]",
    ".default: expected a whole number nearer than 1 to one of 7, got 9",
  ],
  [
    "type: integer, key: E, values: [1.5]",
    ".values[0]: expected a whole number from -2147483648 to 2147483647, got 1.5",
  ],
  ["type: integer, key: E, threshold: 0", ".threshold: expected a whole number from 1 to 2147483647, got 0"],
  ["type: string, key: E, values: [], normalize: upper", '.normalize: expected one of NONE, UPPER, LOWER, got "upper"'],
  ["type: flaot, key: E", '.type: expected one of string, regex, float, integer, got "flaot"'],
])("an unusable filter is reported with its position and its value: %s", async (filter, problem) => {
  const found = await problems({ yaml: filtered(filter) });
  expect(found).toEqual([expect.stringContaining(`layers[0].parameterFilters[0]${problem}`)]);
});

test("a layer that is right in shape is looked at in its sense, beside others that are not", async () => {
  const yaml = `layers:
  - { name: x.JSON, source: { type: wms, url: "ftp://x/" } }
  - { name: "a:b", source: { type: wms, url: "http://me:hunter2@u/" }, gutter: no }
  - { name: "a_b", source: { type: wms, url: "http://me:hunter2@u/" } }
  - { name: "a b", source: { type: wms, url: "http://u/", vendorParameters: { bbox: 1 } }, formats: [image/pgn] }
  - name: c
    source: { type: demo, dataset: states }
    gridSubsets:
      - { gridSet: EPSG:9009113 }
      - { gridSet: EPSG:4326, zoomStart: 5, zoomStop: 4 }
      - { gridSet: EPSG:900913, extent: [-8e9, 0, -7e9, 1] }
      - { gridSet: EPSG:4326, zoomStart: 30 }
    parameterFilters:
      - { type: string, key: styles, values: [] }
      - { type: regex, key: STYLES, regex: "(" }
`;
  const found = await problems({ yaml });
  expect(found.join("\n")).not.toContain("hunter2");
  const expected = [
    '2:13: layers[0].name: expected a name that does not end in .json or .xml, as addresses end in these, got "x.JSON"',
    '2:47: layers[0].source.url: expected an address with http:// or https://, got "ftp://x/"',
    "3:80: layers[1].gutter: expected a whole number from 0 to 256, got",
    '4:13: layers[2].name: "a_b" and "a:b" would share the directory a_b of the store',
    "4:46: layers[2].source.url: expected no credentials in the address",
    '5:13: layers[3].name: "a b" and "a_b" would share the directory a_b of the store',
    "5:79: layers[3].source.vendorParameters.bbox: is set by the source itself",
    '5:102: layers[3].formats[0]: expected one of image/png, image/png8, image/png24, image/png; mode=24bit, image/jpeg, image/gif, image/webp, image/avif, image/vnd.jpeg-png, image/vnd.jpeg-png8, application/vnd.mapbox-vector-tile, application/json;type=geojson, application/json;type=topojson, application/json;type=utfgrid, got "image/pgn"',
    '9:20: layers[4].gridSubsets[0].gridSet: unknown grid set "EPSG:9009113"; did you mean EPSG:900913? (known: EPSG:4326,',
    "10:42: layers[4].gridSubsets[1].zoomStart: expected at most zoomStop (4), got 5",
    "11:41: layers[4].gridSubsets[2].extent: -8000000000, 0, -7000000000, 1 does not overlap EPSG:900913",
    '12:20: layers[4].gridSubsets[3].gridSet: "EPSG:4326" is already offered',
    "12:42: layers[4].gridSubsets[3].zoomStart: expected a level of EPSG:4326, 0 to 21, got 30",
    "15:29: layers[4].parameterFilters[1].key: two filters have the key STYLES",
    '15:44: layers[4].parameterFilters[1].regex: expected a regular expression of RE2 for STYLES of layer "c" (missing closing ); write the alternatives out, or list the values with type: string), got "("',
  ];
  for (const [i, start] of expected.entries()) expect(found[i]).toContain(start);
  expect(found).toHaveLength(expected.length);
});

test.each([
  ["", "not blank"],
  [" ", "not blank"],
  ["a\u0007", "no control character"],
  ["x".repeat(256), "at most 255 bytes"],
  ["é".repeat(128), "at most 255 bytes"],
  [`${"x".repeat(253)}/`, "at most 255 bytes"],
  ["..", "no part . or .."],
  ["a/../b", "no part . or .."],
  ["_gwc_in_progress_deletes_", "none of"],
  ["tmp", "none of"],
])("the name %j is refused for a layer", async (name, why) => {
  const yaml = `layers: [{ name: ${JSON.stringify(name)}, source: { type: wms, url: "http://u/" } }]`;
  expect((await problems({ yaml })).join("\n")).toMatch(name === "" ? "not empty" : why);
});

test("names with a slash, a dot, a blank and any letter are allowed", async () => {
  const names = [
    "a/b",
    "ws:a.b",
    "img states",
    "Straßen",
    ".hidden",
    "a.jsonx",
    "x".repeat(255),
    `${"y".repeat(252)}/`,
  ];
  const yaml = `layers: ${JSON.stringify(names.map((name) => ({ name, source: { type: "demo", dataset: "world" } })))}`;
  expect((await loaded({ yaml })).layers.map((l) => l.name)).toEqual(names);
});

test("a file that is not UTF-8 is a problem at its first such line", async () => {
  const config = join(directory, "latin1.yaml");
  writeFileSync(config, "# ä in UTF-8\ndataDir: ./Straße\n".replace("ä", "Ã¤"), "latin1");
  expect(await problems({ flags: { config } })).toEqual([
    `${config}:2:1: the file is not UTF-8 from this line on: save it in the encoding UTF-8`,
  ]);
});

test("a file that is not there, not YAML, or several at once is a problem and not a fault", async () => {
  expect(await problems({ flags: { config: "none.yaml" } })).toEqual([
    "none.yaml: the configuration cannot be read: there is no such file or directory; --config or NUTHATCH_CONFIG names another file",
  ]);
  expect(await problems({ yaml: "dataDir: a\ndataDir: b\n" })).toEqual([
    expect.stringMatching(/^2:1: this is not valid YAML: duplicated mapping key$/),
  ]);
  expect(await problems({ yaml: "a: [1" })).toEqual([expect.stringMatching(/not valid YAML/)]);
  expect((await problems({ yaml: "a: 1\n---\nb: 2\n" })).join()).toMatch(/not valid YAML/);
  expect(await problems({ yaml: "- 1" })).toEqual(["1:1: expected a map, got a list"]);
  expect(await problems({ yaml: "a: !!js/function x" })).not.toEqual([]);
});

test("aliases are read, a bomb of them is refused", async () => {
  const yaml = `layers:
  - { name: a, source: &up { type: wms, url: "http://u/" } }
  - { name: b, source: *up }
`;
  expect((await loaded({ yaml })).layers).toHaveLength(2);
  const bomb = [
    "a0: &a0 [x, x]",
    ...Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]`),
  ];
  expect((await problems({ yaml: bomb.join("\n") })).join()).toMatch(
    /cannot be read: its aliases make more than 1000000 values/,
  );
  expect((await problems({ yaml: "layers: &l [*l]" })).join()).not.toBe("");
});

test("variables are put into texts, with defaults, and a missing one is named", async () => {
  const yaml = `server: { port: "\${PORT}", host: "\${HOST:-localhost}" }
layers:
  - name: \${NAME}-roads
    source: { type: wms, url: "http://u/?a=$\${b}", username: me, password: "\${EMPTY:-fallback}" }
`;
  const { server, layers } = await loaded({ yaml, env: { PORT: "0", NAME: "x", EMPTY: "" } });
  expect(server).toMatchObject({ port: 0, host: "localhost" });
  expect(layers[0]).toMatchObject({ name: "x-roads", source: { url: `http://u/?a=\${b}`, password: "fallback" } });
  expect(await problems({ yaml: `dataDir: "\${A}/\${B:-b}/\${C}"` })).toEqual([
    "1:10: dataDir: the variable A is not set, and there is no default",
    "1:10: dataDir: the variable C is not set, and there is no default",
  ]);
  expect(await problems({ yaml: `dataDir: "\${A}"` }), "and not as empty, too").toHaveLength(1);
  expect(await problems({ yaml: `dataDir: "\${A"`, env: { A: "x" } })).toEqual([
    expect.stringContaining(`expected \${NAME} or \${NAME:-default}`),
  ]);
});

test("no problem shows a secret, wherever it went wrong", async () => {
  const secret = "hunter2";
  const env = { SECRET: secret };
  const found = [
    ...(await problems({ yaml: `users: ["admin:${secret}"]` })),
    ...(await problems({ yaml: `users: "admin:${secret}"` })),
    ...(await problems({ yaml: `users: [{ name: a, password: [${secret}], roles: [admin] }]` })),
    ...(await problems({ yaml: `users: [{ name: a, pasword: ${secret}, roles: [admin] }]` })),
    ...(await problems({ yaml: `layers: [{ name: a, source: { type: wms, url: "\${SECRET}", password: 5 } }]`, env })),
    ...(await problems({ yaml: `server: { port: "\${SECRET}" }`, env })),
    ...(await problems({ yaml: `users: [{ password: "${secret}` })),
    ...(await problems({ yaml: `a: { b: c }}\nusers: "${secret}"\n${secret}: [` })),
    ...(await problems({ yaml: `password: } ${secret} "${secret}"` })),
    ...(await problems({ env: { NUTHATCH_USERS: `[{"password": "${secret}"` } })),
    ...(await problems({
      env: {
        NUTHATCH_USERS: `[{"name": "a", "password": "${secret}", "passwordHash": "${secret}", "roles": ["admin"]}]`,
      },
    })),
  ];
  expect(found.length).toBeGreaterThanOrEqual(11);
  expect(found.join("\n")).not.toContain(secret);
  expect(found.join("\n")).toContain(`\${SECRET}`);
});

test("flags win over variables, variables over the file; an empty variable is none", async () => {
  const yaml = "server: { port: 1, host: localhost }\njobs: { historyDays: 1 }\nlayers: []\n";
  const env = {
    NUTHATCH_PORT: "2",
    NUTHATCH_HOST: "",
    NUTHATCH_SERVER_MOUNTS: "/geoserver/gwc/, /",
    NUTHATCH_SERVER_MEMORY_TIER_MIB: "3",
    NUTHATCH_JOBS_MAX_RUNNING_TASKS: "4",
    NUTHATCH_COMPAT_QUOTA_ROOT: "gwcQuotaConfiguration",
    NUTHATCH_STORE_FSYNC: "TRUE",
    NUTHATCH_DATA_DIR: "elsewhere",
    NUTHATCH_DISK_QUOTA: '{"enabled": true, "globalQuota": {"value": "1.50"}}',
    NUTHATCH_LAYERS: '[{"name": "a", "source": {"type": "demo", "dataset": "world"}}]',
  };
  const flags = { port: "5", "jobs.maxThreadCount": "6" };
  expect(await loaded({ yaml, env, flags })).toMatchObject({
    server: { port: 5, host: "localhost", mounts: ["/geoserver/gwc", "/"], memoryTierMiB: 3, workers: 1 },
    jobs: { maxRunningTasks: 4, maxThreadCount: 6, historyDays: 1 },
    compat: { quotaRoot: "gwcQuotaConfiguration", quotaForm: "value-units" },
    store: { fsync: true, shared: false, undoSeconds: 600 },
    dataDir: join(directory, "elsewhere"),
    diskQuota: { enabled: true, globalQuota: { value: "1.50", units: "MiB" } },
    layers: [{ name: "a" }],
  });
});

test("an error in a variable or a flag is reported under its name", async () => {
  expect(await problems({ env: { NUTHATCH_PORT: "tcp://10.0.0.1:8080", NUTHATCH_LAYERS: "x" } })).toEqual([
    "NUTHATCH_LAYERS: layers: expected a list as JSON text",
    'NUTHATCH_PORT: server.port: expected a whole number from 0 to 65535, got "tcp://10.0.0.1:8080"',
  ]);
  expect(await problems({ flags: { "jobs.maxRuningTasks": "1", "data-dir": "" } })).toEqual([
    "--set jobs.maxRuningTasks: unknown key; did you mean jobs.maxRunningTasks?",
    '--data-dir: dataDir: expected a text that is not empty, got ""',
  ]);
  const { warnings } = await loaded({ env: { NUTHATCH_PROT: "1", NUTHATCH_PORT_8080_TCP_ADDR: "10.0.0.1" } });
  expect(warnings).toEqual(["the variable NUTHATCH_PROT is not known; did you mean NUTHATCH_PORT?"]);
});

test("beyond loopback a user is needed, and the message says how to make one", async () => {
  for (const host of ["0.0.0.0", "::", "192.168.0.1", "tiles.example.org", "[::]"]) {
    const [message] = await problems({ env: { NUTHATCH_HOST: host } });
    expect(message, host).toMatch(/NUTHATCH_ADMIN_PASSWORD.*users:/);
  }
  for (const host of ["127.1.2.3", "::1", "[::1]", "localhost"])
    expect(await problems({ env: { NUTHATCH_HOST: host } }), host).toEqual([]);
  const env = { NUTHATCH_HOST: "0.0.0.0", NUTHATCH_ADMIN_PASSWORD: "s3cret" };
  const { users, warnings } = await loaded({ env });
  expect(users).toMatchObject([{ name: "admin", roles: ["admin"] }]);
  expect(await verifyPassword("s3cret", users[0]?.passwordHash ?? "")).toBe(true);
  expect(warnings).toEqual([]);
  expect((await loaded({ env: { ...env, NUTHATCH_ADMIN_USER: "root" } })).users[0]?.name).toBe("root");
});

test("plain passwords are hashed with a warning, hashes are used unchanged, htpasswd files are read", async () => {
  const hash = await hashPassword("b");
  const bcrypt = `$2y$05$${"a".repeat(53)}`;
  writeFileSync(join(directory, "htpasswd"), `# people\ncarol:${bcrypt}\nold:{SHA}xyz\n`);
  const yaml = `users:
  - { name: a, password: plain, roles: [viewer] }
  - { name: b, passwordHash: "${hash}", roles: [operator, viewer] }
htpasswd: { file: htpasswd, roles: [operator] }
`;
  const { users, warnings } = await loaded({ yaml });
  expect(users.map((u) => [u.name, u.roles])).toEqual([
    ["carol", ["operator"]],
    ["old", ["operator"]],
    ["a", ["viewer"]],
    ["b", ["operator", "viewer"]],
  ]);
  expect(await verifyPassword("plain", users[2]?.passwordHash ?? "")).toBe(true);
  expect(users[3]?.passwordHash).toBe(hash);
  expect(warnings.join("\n")).toMatch(/htpasswd:3: this user cannot log in[\s\S]*password of a is not hashed/);
  expect(warnings.join("\n")).not.toContain("plain,");
  expect(await problems({ yaml: EXAMPLE })).toEqual([
    "4:34: users[0].passwordHash: admin cannot log in, the passwordHash is none that `nuthatch user hash` makes",
  ]);
  const viewer = await loaded({ yaml: "users: [{ name: eve, passwordHash: none, roles: [viewer] }]" });
  expect(viewer.warnings.join("\n")).toMatch(/users\[0\]: eve cannot log in/);
  expect(await problems({ yaml: "users: [{ name: a, roles: [] }]" })).toEqual([
    "1:9: users[0]: expected either passwordHash (`nuthatch user hash` makes one) or password",
    "1:27: users[0].roles: expected at least one item, got none",
  ]);
  expect(await problems({ yaml: 'users: [{ name: "a:b", password: x, roles: [admin] }]' })).toHaveLength(1);
  expect((await problems({ yaml: "htpasswd: { file: none }" })).join()).toMatch(
    /htpasswd.file: "none" cannot be read: there is no such file or directory/,
  );
});

test("configured grid sets may replace built-in ones, and an invalid one is reported once", async () => {
  const own = (more: string) => `gridSets: [{ id: EPSG:900913, srs: 3857, extent: [0, 0, 1000, 1000], ${more} }]\n`;
  const subset = layer("gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 40 }]");
  const { layers, warnings } = await loaded({ yaml: own("levels: 3") + subset });
  expect(layers[0]?.gridSubsets[0]).toMatchObject({ zoomStop: 2, gridSet: { srs: 3857 } });
  expect(warnings).toEqual(["layer a: zoomStop 40 is reduced to 2, the last level of EPSG:900913"]);
  expect((await loaded({ yaml: own("title: x") + subset })).layers[0]?.gridSubsets[0]?.gridSet.matrices).toHaveLength(
    18,
  );
  expect(await problems({ yaml: own("levels: 3, resolutions: [1]") + subset })).toEqual([
    "1:12: gridSets[0]: only one of resolutions, scaleDenominators and levels can be given",
  ]);
  expect(await problems({ yaml: own("resolutions: [1, 2]") + subset })).toEqual([
    "1:12: gridSets[0]: resolutions must become smaller from level to level, but 2 follows 1",
  ]);
});

test("the initial quota is checked as a PUT of it would be", async () => {
  const quota = (text: string) => ({ yaml: `${layer("title: x")}diskQuota: ${text}` });
  const full = await loaded(
    quota("{ layerQuotas: [{ layer: a, expirationPolicyName: LRU, quota: { value: 1.5, units: GiB } }] }"),
  );
  expect(full.diskQuota.layerQuotas).toEqual([
    { layer: "a", expirationPolicyName: "LRU", quota: { value: "1.5", units: "GiB" } },
  ]);
  const wrong = await problems(
    quota(
      "{ globalQuota: { value: 9e9, units: TiB }, layerQuotas: [{ layer: b, expirationPolicyName: LRU, quota: { value: x, units: GiB } }] }",
    ),
  );
  expect(wrong.join("\n")).toMatch(/at most 9223372036854775807 bytes/);
  expect(wrong.join("\n")).toMatch(/unknown layer "b"/);
  expect(wrong.join("\n")).toMatch(/expected a decimal number from 0 on, got "x"/);
  expect((await problems(quota("{ globalQuota: { units: ZZiB } }"))).join()).toMatch(/one of B, KiB, MiB, GiB, TiB/);
});

test("pins and floors are checked against the layers, and become tiles and bytes", async () => {
  const eviction = (text: string) => ({ yaml: `${layer("title: x")}eviction: ${text}` });
  const full = await loaded(
    eviction(
      "{ highWaterPercent: 95, lowWaterPercent: 90, minFreeMiB: 10, pins: [{ layer: a, gridSet: EPSG:900913, extent: [0, 0, 20037508, 20037508], zoomStart: 1, zoomStop: 2 }, { layer: a, gridSet: EPSG:4326, zoomStop: 0 }], floors: [{ layer: a, value: 1.5, units: MiB }] }",
    ),
  );
  expect(full.eviction).toMatchObject({
    highWaterPercent: 95,
    lowWaterPercent: 90,
    minFreeMiB: 10,
    pins: [
      {
        gridSet: "EPSG:900913",
        rects: [
          { z: 1, minX: 1, minY: 1, maxX: 1, maxY: 1 },
          { z: 2, minX: 2, minY: 2, maxX: 3, maxY: 3 },
        ],
      },
      { gridSet: "EPSG:4326", rects: [{ z: 0, minX: 0, minY: 0, maxX: 1, maxY: 0 }] },
    ],
    floors: [{ layer: "a", bytes: 1_572_864n }],
  });
  const wrong = await problems(
    eviction(
      "{ highWaterPercent: 80, lowWaterPercent: 90, pins: [{ layer: b }, { layer: a, gridSet: nope }, { layer: a, extent: [0, 0, 1, 1] }], floors: [{ layer: a, value: x, units: MiB }] }",
    ),
  );
  expect(wrong.join("\n")).toMatch(/lowWaterPercent: expected at most highWaterPercent \(80\)/);
  expect(wrong.join("\n")).toMatch(/pins\[0\]\.layer: unknown layer "b"/);
  expect(wrong.join("\n")).toMatch(/pins\[1\]\.gridSet: expected a grid set of the layer/);
  expect(wrong.join("\n")).toMatch(/pins\[2\]\.extent: needs a gridSet/);
  expect(wrong.join("\n")).toMatch(/floors\[0\]\.value: expected a decimal number from 0 on/);
});

test("mounts and origins are brought to one form", async () => {
  const yaml = `server: { mounts: ["/", "/a/", "/a", "/geoserver/gwc"], allowedOrigins: ["https://x.org/", "http://y:81"] }`;
  const { server } = await loaded({ yaml });
  expect(server.mounts).toEqual(["/geoserver/gwc", "/a", "/"]);
  expect(server.allowedOrigins).toEqual(["https://x.org", "http://y:81"]);
  expect(await problems({ yaml: 'server: { mounts: ["a", "/%41", "/a//b"], allowedOrigins: ["*"] }' })).toHaveLength(4);
});

test("server.trustProxy is a switch or a list of addresses and networks, in a variable too", async () => {
  const of = async (yaml: string, variable?: string) =>
    (await loaded({ yaml, env: variable === undefined ? {} : { NUTHATCH_SERVER_TRUST_PROXY: variable } })).server
      .trustProxy;
  expect(await of("{}")).toBe(false);
  expect(await of("server: { trustProxy: true }")).toBe(true);
  expect(await of("server: { trustProxy: 10.0.0.0/8 }")).toEqual(["10.0.0.0/8"]);
  expect(await of('server: { trustProxy: [127.0.0.1, "2001:db8::/32"] }')).toEqual(["127.0.0.1", "2001:db8::/32"]);
  expect(await of("{}", "true")).toBe(true);
  expect(await of("server: { trustProxy: true }", "false")).toBe(false);
  expect(await of("{}", "127.0.0.1, ::1")).toEqual(["127.0.0.1", "::1"]);
  for (const wrong of ["yes", "10.0.0.0/33", "10.0.0/8", "nginx", "[]", "2", '""', '"10.0.0.1/"'])
    expect((await problems({ yaml: `server: { trustProxy: ${wrong} }` })).join(), wrong).toMatch(
      /server\.trustProxy.*: expected true, false, or addresses and networks such as 127\.0\.0\.1 and 10\.0\.0\.0\/8/,
    );
});

test("the example configuration is valid and names no user", async () => {
  const config = fileURLToPath(new URL("../../examples/wms.yaml", import.meta.url));
  const example = await loaded({ flags: { config } });
  expect(example.layers.map((l) => l.name)).toEqual(["ws:roads"]);
  expect(example.layers[0]?.source).toMatchObject({ url: "http://127.0.0.1:9000/wms" });
  expect(example.users).toEqual([]);
  expect(example.warnings).toEqual([]);
});

test("a source may have several addresses, each of them checked, and shows them as they were given", async () => {
  const at = (url: string) => `layers: [{ name: a, source: { type: wms, url: ${url} } }]`;
  const { layers } = await loaded({ yaml: at('["http://u/", "http://v/"]') });
  expect(layers[0]?.source).toMatchObject({ url: ["http://u/", "http://v/"] });
  expect(
    (await problems({ yaml: at('["http://u/", "ftp://x/", "http://u/", "http://me:hunter2@u/"]') })).map((line) =>
      line.replace(/^[\d:]+ /, ""),
    ),
  ).toEqual([
    'layers[0].source.url[1]: expected an address with http:// or https://, got "ftp://x/"',
    "layers[0].source.url[2]: the same address is given twice",
    expect.stringMatching(/^layers\[0\]\.source\.url\[3\]: expected no credentials in the address/),
  ]);
  for (const [wrong, problem] of [
    ["[]", "url: expected at least one item, got none"],
    ["{}", "url: expected a text that is not empty or a list (each a text that is not empty), got"],
    ['["", "http://u/"]', 'url[0]: expected a text that is not empty, got ""'],
  ] as const)
    expect((await problems({ yaml: at(wrong) })).join()).toContain(`layers[0].source.${problem}`);
});

const tiles = (source: string, more = "") => `layers: [{ name: a, source: { ${source} }${more} }]`;
/** Returns the messages of problems without positions, which other tests check. */
const sentences = async (yaml: string): Promise<string[]> =>
  (await problems({ yaml })).map((line) => line.replace(/^[\d:]+ /, ""));

describe("a source of type xyz", () => {
  const URL = '"http://u/{z}/{x}/{y}.png"';

  test("makes a layer of single tiles in the web's grid", async () => {
    const { layers } = await loaded({ yaml: tiles(`type: xyz, url: ${URL}`) });
    expect(layers[0]).toMatchObject({
      source: { type: "xyz", subdomains: [], timeoutMs: 30_000, connections: 8, vendorParameters: {} },
      metatile: [1, 1],
      gutter: 0,
    });
    expect(layers[0]?.gridSubsets.map((s) => s.gridSet.id)).toEqual(["EPSG:900913"]);
  });

  test("takes headers from variables, and hides their values when it is shown", async () => {
    const source = (headers: string) => tiles(`type: xyz, url: "http://u/{z}/{x}/{y}", headers: ${headers}`);
    const configuration = await loaded({
      yaml: source(`{ Authorization: "Bearer \${TOKEN}", X-Version: 2 }`),
      env: { TOKEN: "hunter2" },
    });
    expect(configuration.layers[0]?.source).toMatchObject({
      headers: { Authorization: "Bearer hunter2", "X-Version": "2" },
    });
    const shown = JSON.stringify(configurationDocument(configuration));
    expect(shown).toContain('"headers":{"Authorization":"***","X-Version":"***"}');
    expect(shown).not.toContain("hunter");
    const found = await problems({
      yaml: source(`{ Host: a, "a b": c, X-Line: "hunter\\nb", x-a: "1", X-A: "2" }`),
    });
    expect(found.map((problem) => problem.replace(/^.*?headers\.?/, ""))).toEqual([
      "Host: is a header that Nuthatch sets itself",
      '["a b"]: expected the name of a header: letters, digits and !#$%&\'*+-.^_`|~',
      "X-Line: expected at most 8192 characters of ASCII without line breaks",
      "X-A: the same header is given twice",
    ]);
  });

  test("takes its credentials from variables, and hides them when it is shown", async () => {
    const configuration = await loaded({
      yaml: tiles(
        `type: xyz, url: "http://{s}.u/{z}/{x}/{-y}", subdomains: [a, b], username: "\${NAME}", password: "\${SECRET}", vendorParameters: { key: "\${KEY}" }`,
      ),
      env: { NAME: "me", SECRET: "hunter2", KEY: "hunter3" },
    });
    expect(configuration.layers[0]?.source).toMatchObject({ username: "me", password: "hunter2" });
    const shown = JSON.stringify(configurationDocument(configuration));
    expect(shown).toContain('"subdomains":["a","b"]');
    expect(shown).not.toMatch(/hunter|"me"/);
  });

  test.each([
    [
      'url: "http://u/{z}/{x}"',
      'expected {z}, {x} and {y} or {-y}, or else one of {q}, {bbox}, {tc}, {-tc}, {arcgis}, {-arcgis}, got "http://u/{z}/{x}"',
    ],
    [
      'url: "http://u/{z}/{x}/{y}/{r}"',
      "expected no other placeholders than {z}, {x}, {y}, {-y}, {s}, {q}, {bbox}, {tc}, {-tc}, {arcgis}, {-arcgis}, got",
    ],
    ['url: "http://{s}.u/{q}"', 'expected subdomains beside it, as it has {s}, got "http://{s}.u/{q}"'],
    ['url: "ftp://u/{q}"', "expected an address with http:// or https://, got"],
    ['url: "http://{x}.u/{z}/{y}"', "expected no placeholder in the host but {s} of a source of type xyz, got"],
    ['url: "http://{s}.u/{q}", subdomains: ["me:hunter2@a"]', "expected no credentials in the address"],
  ])("%s is wrong", async (source, expected) => {
    const found = await sentences(tiles(`type: xyz, ${source}`));
    expect(found).toEqual([expect.stringContaining(`layers[0].source.url: ${expected}`)]);
  });

  test("{s} in the host is wrong for a source of type wms", async () => {
    expect(await sentences(tiles('type: wms, url: "http://{s}.u/"'))).toEqual([
      expect.stringContaining("source.url: expected no placeholder in the host but {s} of a source of type xyz"),
    ]);
  });

  test("wants subdomains only where they are used", async () => {
    expect(await sentences(tiles(`type: xyz, url: ${URL}, subdomains: [a]`))).toEqual([
      "layers[0].source.subdomains: is given, but no address has {s}",
    ]);
  });

  test.each([
    ["metatile: [4, 4]", "layers[0].metatile: expected [1, 1], as a source of type xyz has single tiles, got [4, 4]"],
    ["gutter: 10", "layers[0].gutter: expected 0, as a source of type xyz has single tiles, got 10"],
    [
      "gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326 }]",
      'layers[0].gridSubsets[1].gridSet: expected a grid set with the CRS and tile size of EPSG:900913, as a source of type xyz has single tiles of one grid, got "EPSG:4326"',
    ],
  ])("has no layer with %s", async (more, expected) => {
    expect(await sentences(tiles(`type: xyz, url: ${URL}`, `, ${more}`))).toEqual([expected]);
  });

  test("may be requested in both grid sets of one CRS, and names the default", async () => {
    const more = ", metatile: [1, 1], gutter: 0, gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: WebMercatorQuad }]";
    const { layers } = await loaded({ yaml: tiles(`type: xyz, url: ${URL}`, more) });
    expect(layers[0]?.gridSubsets).toHaveLength(2);
  });

  test("has quadkeys only in a grid that has them", async () => {
    const both = ", gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: WebMercatorQuad }]";
    expect(await sentences(tiles('type: xyz, url: "http://u/{q}"', both))).toEqual([]);
    const more = ", gridSubsets: [{ gridSet: EPSG:4326 }]";
    expect(await sentences(tiles('type: xyz, url: "http://u/{q}"', more))).toEqual([
      'layers[0].gridSubsets[0].gridSet: expected a grid set of 2^z x 2^z tiles, as the address has {q}, got "EPSG:4326"',
    ]);
  });
});

describe("a source of type wmts", () => {
  const URL = '"http://u/wmts"';

  test("is requested with key-value pairs, or by a template, by the layer's own name", async () => {
    const { layers } = await loaded({ yaml: tiles(`type: wmts, url: ${URL}, tileMatrixSet: g`) });
    expect(layers[0]).toMatchObject({
      source: { type: "wmts", layer: "a", style: "", tileMatrixSet: "g", connections: 8 },
      metatile: [1, 1],
    });
    const template = '"http://u/{Style}/{tilematrix}/{TileRow}/{TileCol}"';
    expect(await sentences(tiles(`type: wmts, url: ${template}, style: default`))).toEqual([]);
  });

  test.each([
    [`url: ${URL}`, "url: expected tileMatrixSet beside it, as it has no placeholders, got"],
    ['url: "http://u/{TileMatrix}/{TileRow}"', "url: expected {TileCol} too, as it has placeholders, got"],
    [
      'url: "http://u/{Style}/{TileMatrix}/{TileRow}/{TileCol}"',
      "url: expected style beside it, as it has {Style}, got",
    ],
    [
      'url: "http://u/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}"',
      "url: expected tileMatrixSet beside it, as it has {TileMatrixSet}, got",
    ],
    ['url: "http://u/{z}/{TileMatrix}/{TileRow}/{TileCol}"', "url: expected no other placeholders than {TileMatrix},"],
    [
      `url: ${URL}, tileMatrixSet: g, vendorParameters: { tilerow: 1 }`,
      "vendorParameters.tilerow: is set by the source itself",
    ],
    [
      `url: ${URL}, tileMatrixSet: g, tileMatrixPrefix: "g:", tileMatrices: [${Array.from({ length: 31 }, (_, z) => z).map((z) => `"${z}"`)}]`,
      "tileMatrixPrefix: is given beside tileMatrices; expected one of them",
    ],
    [
      `url: ${URL}, tileMatrixSet: g, tileMatrices: [a, b]`,
      "tileMatrices: expected 31 names, for level 0 to 30, the last one offered of EPSG:900913, got 2",
    ],
  ])("%s is wrong", async (source, expected) => {
    expect(await sentences(tiles(`type: wmts, ${source}`))).toEqual([
      expect.stringContaining(`layers[0].source.${expected}`),
    ]);
  });

  test("may have names for the levels that are offered only", async () => {
    const more = ", gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 1 }]";
    expect(await sentences(tiles(`type: wmts, url: ${URL}, tileMatrixSet: g, tileMatrices: [a, b]`, more))).toEqual([]);
  });
});

describe("a source of type arcgis", () => {
  const URL = '"http://u/arcgis/rest/services/Roads/MapServer"';

  test("exports pictures of any size, in metatiles", async () => {
    const { layers } = await loaded({ yaml: tiles(`type: arcgis, url: ${URL}, layers: [0, 2]`, ", gutter: 20") });
    expect(layers[0]).toMatchObject({
      source: { type: "arcgis", mode: "export", layers: [0, 2], transparent: true, connections: 8 },
      metatile: [4, 4],
      gutter: 20,
    });
    expect(layers[0]?.gridSubsets).toHaveLength(2);
  });

  test("has single tiles in mode tile", async () => {
    const { layers } = await loaded({ yaml: tiles(`type: arcgis, mode: tile, url: ${URL}`) });
    expect(layers[0]).toMatchObject({ source: { type: "arcgis", mode: "tile" }, metatile: [1, 1], gutter: 0 });
    expect(await sentences(tiles(`type: arcgis, mode: tile, url: ${URL}`, ", metatile: [2, 1]"))).toEqual([
      "layers[0].metatile: expected [1, 1], as a source of type arcgis and mode tile has single tiles, got [2, 1]",
    ]);
  });

  test.each([
    ['url: "http://u/arcgis/rest/services"', "url: expected the address of a map service, ending in /MapServer, got"],
    ['url: "http://u/{z}/MapServer"', "url: expected no placeholders"],
    [`url: ${URL}, mode: tiles`, 'mode: expected one of export, tile, got "tiles"'],
    [`url: ${URL}, mode: tile, transparent: true`, "transparent: is only for mode export"],
    [`url: ${URL}, layers: [roads]`, 'layers[0]: expected a whole number from 0 to 1000000, got "roads"'],
    [`url: ${URL}, vendorParameters: { size: "1,1" }`, "vendorParameters.size: is set by the source itself"],
  ])("%s is wrong", async (source, expected) => {
    expect(await sentences(tiles(`type: arcgis, ${source}`))).toEqual([
      expect.stringContaining(`layers[0].source.${expected}`),
    ]);
  });
});

test("the printed configuration of each kind of source is read again as the same", async () => {
  const sources = [
    'type: xyz, url: ["http://{s}.u/{z}/{x}/{-y}", "http://v/{z}/{x}/{y}"], subdomains: [a, b]',
    'type: wmts, url: "http://u/wmts", tileMatrixSet: g, tileMatrixPrefix: "g:", style: s, format: image/png',
    'type: arcgis, url: "http://u/MapServer", layers: [1]',
    'type: arcgis, url: "http://u/MapServer", mode: tile, timeoutSeconds: 5',
  ];
  for (const source of sources) {
    const first = await loaded({ yaml: tiles(source) });
    const again = await loaded({ yaml: JSON.stringify({ layers: configurationDocument(first)["layers"] }) });
    expect(again.layers).toEqual(first.layers);
  }
});

test("legends have defaults, one for each style of the layer, and an address if the source is not a WMS", async () => {
  const filter = "parameterFilters: [{ type: string, key: STYLES, default: thin, values: [wide] }]";
  const good = await loaded({
    yaml: layer(
      `${filter}, legends: [{ style: thin }, { style: wide, width: 99, format: image/gif, url: "https://c/w.gif", minScaleDenominator: 5 }]`,
    ),
  });
  expect(good.layers[0]?.legends).toEqual([
    { style: "", width: 20, height: 20, format: "image/png" },
    { style: "wide", width: 99, height: 20, format: "image/gif", url: "https://c/w.gif", minScaleDenominator: 5 },
  ]);
  const bad = `layers:
  - name: a
    source: { type: xyz, url: "http://u/{z}/{x}/{y}" }
    legends:
      - { style: x, url: "ftp://u" }
      - { minScaleDenominator: 9, maxScaleDenominator: 9, url: "http://me:secret@u/" }
      - {}
`;
  expect(await problems({ yaml: bad })).toEqual([
    '5:18: layers[0].legends[0].style: expected "", as the layer has no parameter filter STYLES, got "x"',
    '5:26: layers[0].legends[0].url: expected an address with http:// or https://, got "ftp://u"',
    "6:9: layers[0].legends[1]: minScaleDenominator is not below maxScaleDenominator",
    "6:64: layers[0].legends[1].url: expected no credentials in the address: capabilities show it to everybody",
    '7:9: layers[0].legends[2]: two legends are for the style ""',
    "7:9: layers[0].legends[2]: url is missing: only a source of type wms renders legends",
  ]);
});

test("a layer weighs and bounds its jobs, a source the connections that they use", async () => {
  const yaml = layer("jobs: { weight: 2.5, maxTasks: 4 }");
  expect((await loaded({ yaml })).layers[0]?.jobs).toEqual({ weight: 2.5, maxTasks: 4 });
  expect((await loaded({ yaml: layer("jobs: {}") })).layers[0]?.jobs).toEqual({ weight: 1 });
  expect((await loaded({ yaml: layer("gutter: 1") })).layers[0]?.jobs).toEqual({ weight: 1 });
  expect(await problems({ yaml: layer("jobs: { weight: 0 }") })).toEqual([
    expect.stringMatching(/layers\[0\].jobs.weight: expected a number from 0.01 to 100, got 0$/),
  ]);
  const source = (jobConnections: number) =>
    `layers: [{ name: a, source: { type: wms, url: "http://u/", connections: 4, jobConnections: ${jobConnections} } }]`;
  expect((await loaded({ yaml: source(2) })).layers[0]?.source).toMatchObject({ connections: 4, jobConnections: 2 });
  expect(await problems({ yaml: source(5) })).toEqual([
    expect.stringMatching(/layers\[0\].source.jobConnections: expected at most connections \(4\), got 5$/),
  ]);
});

test("a seed guard has a window, and guards against something", async () => {
  const guarded = await loaded({ yaml: layer("seedGuard: { identicalPercent: 90 }") });
  expect(guarded.layers[0]?.seedGuard).toEqual({ tiles: 1000, identicalPercent: 90 });
  expect((await loaded({ yaml: layer("gutter: 1") })).layers[0]?.seedGuard).toBeUndefined();
  expect(await problems({ yaml: layer("seedGuard: { tiles: 20 }") })).toEqual([
    "2:68: layers[0].seedGuard: identicalPercent and unlikePercent are missing: without both the guard checks nothing",
  ]);
});

test("a grid set may be an OGC TileMatrixSet document, and mistakes in it are reported with its file", async () => {
  const matrix = { cornerOfOrigin: "topLeft", pointOfOrigin: [2000000, 5500000], tileWidth: 256, tileHeight: 256 };
  const document = {
    id: "laea",
    title: "Europe",
    crs: "http://www.opengis.net/def/crs/EPSG/0/3035",
    orderedAxes: ["E", "N"],
    tileMatrices: [
      { ...matrix, id: "a", cellSize: 1000, scaleDenominator: 1000 / 0.00028, matrixWidth: 18, matrixHeight: 18 },
      { ...matrix, id: "b", cellSize: 500, scaleDenominator: 500 / 0.00028, matrixWidth: 36, matrixHeight: 36 },
    ],
  };
  writeFileSync(join(directory, "laea.json"), JSON.stringify(document));
  writeFileSync(join(directory, "wrong.json"), JSON.stringify({ ...document, crs: 7 }));
  writeFileSync(join(directory, "none.json"), "{");
  const own = await loaded({
    yaml: `gridSets: [{ tileMatrixSet: ./laea.json }, { id: mine, title: t, tileMatrixSet: laea.json }]\n${layer("gridSubsets: [{ gridSet: laea, zoomStop: 1 }, { gridSet: mine }]")}`,
  });
  const [first, second] = own.layers[0]?.gridSubsets ?? [];
  expect(first?.gridSet).toMatchObject({ id: "laea", title: "Europe", srs: 3035, extent: { maxX: 6608000 } });
  expect(second?.gridSet).toMatchObject({ id: "mine", title: "t" });
  const again = await loaded({ yaml: JSON.stringify({ ...configurationDocument(own), users: [] }) });
  expect(again.layers[0]?.gridSubsets).toEqual(own.layers[0]?.gridSubsets);
  const yaml = `gridSets:
  - { tileMatrixSet: laea.json, srs: 3857 }
  - { tileMatrixSet: wrong.json }
  - { tileMatrixSet: none.json }
  - { tileMatrixSet: missing.json }
  - { tileMatrixSet: laea.json }
  - { title: empty }
`;
  expect((await problems({ yaml })).map((line) => line.replace(/(JSON|read): .*/, "$1"))).toEqual([
    "2:33: gridSets[0].srs: is defined by the document of tileMatrixSet; only id and title can be given",
    "3:22: gridSets[1].tileMatrixSet: wrong.json: crs: expected the URI of a CRS",
    "4:22: gridSets[2].tileMatrixSet: none.json: is no JSON",
    "5:22: gridSets[3].tileMatrixSet: missing.json: cannot be read",
    '6:22: gridSets[4].tileMatrixSet: two grid sets are called "laea"',
    "7:5: gridSets[5]: id is missing",
    "7:5: gridSets[5]: srs is missing",
    "7:5: gridSets[5]: extent is missing",
  ]);
});

test("a configuration file that is not a mapping is reported as such, even if variables override parts of it", async () => {
  for (const yaml of ["- oops", "42", "layers"])
    expect(await problems({ yaml, env: { NUTHATCH_PORT: "1" } })).toEqual([
      expect.stringMatching(/expected a map, got /),
    ]);
});

test("with an htpasswd file the server requires a login; a file without users is refused", async () => {
  writeFileSync(join(directory, "ht"), "ann:{SHA}x=\n");
  const { users, warnings } = await loaded({ yaml: "htpasswd: { file: ./ht }" });
  expect(users.map(({ name }) => name)).toEqual(["ann"]);
  expect(warnings).toEqual(expect.arrayContaining([expect.stringMatching(/ht:1: this user cannot log in/)]));
  writeFileSync(join(directory, "ht"), "# nobody\n");
  expect(await problems({ yaml: "htpasswd: { file: ./ht }" })).toEqual([
    expect.stringMatching(/htpasswd\.file: .*ht has no user: any client could manage this server/),
  ]);
});

describe("a reload", () => {
  const running = { users: 2, layers: 1 };
  const layers = layer("title: A");

  test("that names no user where the running server has some is refused, on loopback too", async () => {
    for (const users of ["", "users:\n", "users: []\n", "users: null\n"])
      expect(await problems({ yaml: `${layers}${users}`, running })).toEqual([
        expect.stringMatching(/users: the running server has 2 users and this configuration names none: .*restart it/),
      ]);
    expect((await loaded({ yaml: layers, running: { users: 0, layers: 1 } })).users).toEqual([]);
    expect(await problems({ yaml: layers, running, env: { NUTHATCH_ADMIN_PASSWORD: "secret" } })).toEqual([]);
  });

  test("without a section of layers where there were some is refused; an empty list is meant", async () => {
    const nobody = { users: 0, layers: 1 };
    for (const yaml of ["{}", "jobs: {}\n", "layers:\n"])
      expect(await problems({ yaml, running: nobody })).toEqual([
        expect.stringMatching(
          /layers: the running server has 1 layer and this configuration has no such section: .*"layers: \[\]"/,
        ),
      ]);
    expect((await loaded({ yaml: "layers: []", running: nobody })).layers).toEqual([]);
  });

  test("of a file that ends anywhere keeps the server closed or is refused", async () => {
    const whole = `server: { host: 127.0.0.1 }\n${layers}users:\n  - name: ann\n    password: secret word\n    roles: [viewer]\n`;
    expect(await problems({ yaml: whole, running })).toEqual([]);
    for (let end = 0; end < whole.length; end += inFull("characters between two ends", 1, 3)) {
      const result = await loading({ yaml: whole.slice(0, end), running });
      expect(result.ok ? result.value.users.length : 1, JSON.stringify(whole.slice(0, end))).toBe(1);
    }
  });
});

test("an empty file is no configuration, one of {} has no layers", async () => {
  for (const yaml of ["", "\n", "# nothing yet\n", "---\n", "null\n", "~"])
    expect(await problems({ yaml }), JSON.stringify(yaml)).toEqual([
      expect.stringMatching(/1:1: the configuration is empty: expected a map with layers/),
    ]);
  expect((await loaded({ yaml: "{}" })).layers).toEqual([]);
});

test("an alias of what it is in is refused at once, wherever it stands", async () => {
  for (const yaml of [
    "a: &a [*a,*a]",
    "layers: &a [*a]",
    "&a a: { b: &b { c: [*b, *b, *b] } }",
    "&root\nlayers: []\njobs: *root\n",
    "jobs: &j { x: &k { y: [*j, *k] } }",
  ]) {
    const beganMs = performance.now();
    expect(await problems({ yaml }), yaml).toEqual([expect.stringMatching(/cannot be read: an alias stands for/)]);
    expect(performance.now() - beganMs, yaml).toBeLessThan(2_000);
  }
});

test("merge keys that lead back, and aliases that multiply, end at a bound", async () => {
  const wide = ["a0: &a0 [1,2,3,4,5,6,7,8,9]"];
  for (let i = 1; i < 30; i++) wide.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`);
  const maps = ["m0: &m0 { x: 1 }"];
  for (let i = 1; i < 40; i++) maps.push(`m${i}: &m${i} { a: *m${i - 1}, b: *m${i - 1} }`);
  const merges = ["n0: &n0 { x0: [1] }"];
  for (let i = 1; i < 60; i++) merges.push(`n${i}: &n${i} { <<: [*n${i - 1}, *n${i - 1}], x${i}: [*n${i - 1}] }`);
  for (const yaml of [wide.join("\n"), maps.join("\n"), merges.join("\n"), "a: &a { <<: *a, b: 1 }"]) {
    const cpu = await cpuMsUntil(async () => {
      expect((await problems({ yaml })).join("\n"), yaml).toMatch(/cannot be read|unknown key/);
    });
    expect(cpu, yaml).toBeLessThan(5_000);
  }
});
