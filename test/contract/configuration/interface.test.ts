import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { severalNodes } from "../../support/cluster/balanced.ts";
import { S3_OF_ALL } from "../../support/s3/env.ts";
import { ended, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* GeoWebCache's configuration interface over HTTP (`docs/reference/configuration-interface.md`). One server for all tests. */

let upstream: Upstream;
let server: TestServer;

/** Replaced by the address of the upstream in the bodies of this file. */
const UPSTREAM = "http://upstream.test/wms";
const BOX = "[2420000, 1030000, 2900000, 1350000]";

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.behaviour = renderAfter(0);
  server = await startServer({ configuration: configuration("") });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const configuration = (more: string): string => `
server: { mounts: ["/", "/geowebcache"] }
gridSets:
  - { id: swiss, srs: EPSG:2056, extent: ${BOX}, scaleDenominators: [25000000, 1000000.5] }
layers:
  - name: ws:roads
    title: Roads & rails
    source: { type: wms, url: "${upstream.url}", layers: [a, b], username: u, password: verysecret }
    gridSubsets: [{ gridSet: EPSG:4326, extent: [0, 0, 10, 10], zoomStart: 1, zoomStop: 3 }, { gridSet: swiss }]
    parameterFilters:
      - { type: string, key: STYLES, default: "", values: [day, night] }
      - { type: float, key: ELEVATION, default: "0.0", values: [0, 1.5], threshold: 0.1 }
    expireCacheSeconds: [{ minZoom: 0, seconds: 0 }, { minZoom: 2, seconds: 60 }]
    legends: [{ style: day, width: 30 }, { style: night }]
${more}`;

interface Sent {
  readonly method?: string;
  readonly type?: string;
  readonly accept?: string;
}

async function ask(path: string, body?: string, { method, type = "text/xml", accept }: Sent = {}) {
  const response = await fetch(server.url + path, {
    method: method ?? (body === undefined ? "GET" : "PUT"),
    headers: {
      ...(body === undefined ? {} : { "Content-Type": type }),
      ...(accept === undefined ? {} : { Accept: accept }),
    },
    ...(body === undefined ? {} : { body: body.replaceAll(UPSTREAM, upstream.url) }),
  });
  const { headers, status } = response;
  return { status, type: headers.get("content-type"), headers, text: await response.text() };
}

const put = (path: string, body: string, type?: string) => ask(path, body, type === undefined ? {} : { type });
const remove = (path: string) => ask(path, undefined, { method: "DELETE" });

const wms = (name: string, more = "", elements = ""): string =>
  `<wmsLayer><name>${name}</name>${more}<wmsUrl><string>${UPSTREAM}</string></wmsUrl>${elements}</wmsLayer>`;

describe("reading", () => {
  test("lists have links in XML, and names in JSON; the suffix, ?format= and Accept choose the form", async () => {
    const xml = await ask("/geowebcache/rest/layers.xml");
    expect([xml.status, xml.type]).toEqual([200, "application/xml"]);
    expect(xml.text).toContain(
      '<?xml version="1.0" encoding="UTF-8"?>\n<layers>\n  <layer>\n    <name>ws:roads</name>\n',
    );
    const href = `${server.url}/geowebcache/rest/layers/ws%3Aroads.xml`;
    expect(xml.text).toContain(`rel="alternate" href="${href}" type="text/xml"/>`);
    expect((await (await fetch(href)).text()).startsWith("<?xml")).toBe(true);
    for (const path of [
      "/rest/layers",
      "/rest/layers.json",
      "/rest/layers?format=json",
      "/rest/layers.json?format=xml",
    ])
      expect(await ask(path)).toMatchObject({ status: 200, type: "application/json", text: '["ws:roads"]' });
    expect(await ask("/rest/layers", undefined, { accept: "text/xml" })).toMatchObject({ type: "text/xml" });
    expect(await ask("/rest/gridsets")).toMatchObject({ type: "application/xml" });
    const gridSets: string[] = JSON.parse((await ask("/rest/gridsets.json")).text);
    expect([gridSets.length, gridSets[0]]).toEqual([142, "swiss"]);
    expect(await ask("/rest/blobstores.json")).toMatchObject({
      status: 200,
      text: S3_OF_ALL === undefined && !severalNodes ? "[]" : '["main"]',
    });
  });

  test("a layer of the file has GeoWebCache's elements in their order, without secrets", async () => {
    const { text } = await ask("/rest/layers/ws:roads.xml");
    const names = [...text.matchAll(/^ {2}<(\w+)/gm)].map(([, name]) => name);
    expect(names).toEqual(
      ["enabled", "name", "metaInformation", "mimeFormats", "gridSubsets", "metaWidthHeight", "expireCacheList"].concat(
        ["expireClientsList", "backendTimeout", "cacheBypassAllowed", "parameterFilters", "wmsUrl", "wmsLayers"],
        ["gutter", "httpUsername", "httpPassword", "transparent", "concurrency", "legends"],
      ),
    );
    expect(text).toContain("<title>Roads &amp; rails</title>");
    expect(text).toContain("<double>10.0</double>");
    expect(text).toContain('<expirationRule minZoom="2" expiration="60"/>');
    expect(text).toContain("<httpPassword>***</httpPassword>");
    expect(text).not.toContain("verysecret");
    const { wmsLayer } = JSON.parse((await ask("/rest/layers/ws:roads.json")).text);
    expect(wmsLayer).toMatchObject({
      mimeFormats: ["image/png", "image/jpeg"],
      gridSubsets: [{ gridSetName: "EPSG:4326", extent: { coords: [0, 0, 10, 10] }, zoomStart: 1, zoomStop: 3 }, {}],
      expireCacheList: [{ "@minZoom": "0", "@expiration": "-2" }, {}],
      legends: { "@defaultWidth": "20", legend: [{ "@style": "day", width: 30 }, {}] },
    });
  });

  test("a grid set has its levels as they were defined", async () => {
    const { text } = await ask("/rest/gridsets/swiss.xml");
    expect(text).toContain("<scaleDenominators>\n    <double>2.5E7</double>\n    <double>1000000.5</double>");
    expect(text).toContain("<pixelSize>2.8E-4</pixelSize>");
    const { gridSet } = JSON.parse((await ask("/rest/gridsets/EPSG:4326.json")).text);
    expect(gridSet).toMatchObject({
      srs: { number: 4326 },
      extent: { coords: [-180, -90, 180, 90] },
      yCoordinateFirst: true,
    });
    expect(gridSet.resolutions).toHaveLength(22);
  });

  test("bounds, the index and the settings", async () => {
    const bounds = await ask("/rest/bounds/ws:roads/EPSG:4326/java");
    expect(bounds).toMatchObject({ status: 200, type: "text/plain" });
    expect(bounds.text.startsWith("{{2, 1, 2, 1, 1}, {")).toBe(true);
    expect(await ask("/rest/bounds/ws:roads/EPSG:4326/json")).toMatchObject({ status: 400 });
    expect((await ask("/rest/bounds/ws:roads/nope/java")).status).toBe(404);
    expect((await ask("/rest")).text).toContain("Resources available from here:");
    expect(await ask("/rest/web/gwc.css")).toMatchObject({ status: 200, type: "text/css; charset=utf-8" });
    const logo = await ask("/rest/web/geowebcache_logo.png");
    expect(logo).toMatchObject({ status: 200, type: "image/png", text: expect.stringContaining("PNG") });
    const settings = await ask("/rest/global.xml");
    expect(settings.text).toContain(`<identifier>${severalNodes ? "cluster" : server.dataDir}</identifier>`);
    expect((await put("/rest/global.xml", settings.text)).status).toBe(200);
    const location = await put("/rest/global", "<global><location>/etc</location></global>");
    expect(location).toMatchObject({ status: 400, type: "text/plain" });
    expect(location.text).toContain('Cannot modify read-only property "location"');
  });
});

test("what GET gives can be PUT back, and changes nothing, for what the file has and what is built in", async () => {
  for (const path of ["/rest/layers/ws:roads", "/rest/gridsets/swiss", "/rest/gridsets/EPSG:900913"]) {
    for (const [suffix, type] of [
      [".xml", "text/xml"],
      [".json", "application/json"],
    ] as const) {
      const { text } = await ask(path + suffix);
      expect((await put(path, text, type)).status, path + suffix).toBe(200);
      expect((await ask(path + suffix)).text).toBe(text);
    }
  }
  const changed = await put("/rest/layers/ws:roads", wms("ws:roads"));
  expect(changed).toMatchObject({ status: 409, type: "text/plain" });
  expect(changed.text).toContain("nuthatch.yaml");
  expect((await remove("/rest/layers/ws:roads")).status).toBe(409);
  expect((await remove("/rest/gridsets/swiss")).status).toBe(409);
  expect((await remove("/rest/gridsets/EPSG:4326")).status).toBe(409);
});

describe("layers made over HTTP", () => {
  test("a layer is there at once and after a kill, with GeoWebCache's defaults, and goes with its tiles", async () => {
    const made = await put(
      "/rest/layers/made.xml",
      wms("made", "<mimeFormats><string>image/png</string></mimeFormats>"),
    );
    expect(made).toMatchObject({ status: 200, text: "layer saved", type: "application/xml" });
    expect(
      (await put("/rest/layers/made", wms("made", "<mimeFormats><string>image/png</string></mimeFormats>"))).status,
    ).toBe(200);
    expect((await ask("/rest/layers.json")).text).toBe('["ws:roads","made"]');
    const shown = await ask("/rest/layers/made.xml");
    expect(shown.text).toContain("<metaWidthHeight>\n    <int>3</int>\n    <int>3</int>\n  </metaWidthHeight>");
    expect(shown.text).toContain('<expirationRule minZoom="0" expiration="7200"/>');
    expect(shown.text).toContain("<gridSubsets/>");
    expect((await put("/rest/layers/made.xml", shown.text)).status).toBe(200);
    expect((await ask("/rest/layers/made.xml")).text).toBe(shown.text);

    const range = {
      gridSetId: "EPSG:4326",
      zoomStart: 0,
      zoomStop: 2,
      format: "image/png",
      threadCount: 1,
      type: "seed",
    };
    expect((await ended(server, await seed(server, "made", range))).tiles.stored).toBe(42);
    server = await server.restart("SIGKILL");
    expect((await ask("/rest/layers/made.xml")).text).toBe(shown.text);
    const tile = await fetch(`${server.url}/xyz/made/EPSG:4326/1/1/1.png`);
    expect([tile.status, tile.headers.get("geowebcache-cache-result")]).toEqual([200, "HIT"]);
    expect((await remove("/rest/layers/made")).text).toBe("made deleted");
    expect((await ask("/rest/layers/made")).status).toBe(404);
    expect((await usage(server)).total.tiles).toBe(0);
    expect((await put("/rest/layers/made", wms("made"))).status).toBe(200);
    const again = await fetch(`${server.url}/xyz/made/EPSG:4326/1/1/1.png`);
    expect(again.headers.get("geowebcache-cache-result"), "the name starts empty").toBe("MISS");
    expect((await remove("/rest/layers/made.xml")).status).toBe(200);
  });

  test("JSON reads bare and wrapped lists, keeps the kind of a filter, and a secret that is shown as ***", async () => {
    const wrapped = {
      wmsLayer: {
        name: "j",
        mimeFormats: { string: ["image/jpeg"] },
        gridSubsets: {
          gridSubset: [{ gridSetName: "swiss", extent: { coords: { double: [2500000, 1100000, 2600000, 1200000] } } }],
        },
        metaWidthHeight: { int: [2, 2] },
        expireCacheList: { expirationRule: [{ "@minZoom": 0, "@expiration": 60 }] },
        parameterFilters: {
          integerParameterFilter: { key: "YEAR", defaultValue: "2000", values: { int: [2000, 2010] }, threshold: 5 },
          stringParameterFilter: [{ key: "STYLES", defaultValue: "", values: { string: ["", "a"] } }],
        },
        wmsUrl: { string: [upstream.url] },
        httpUsername: "u",
        httpPassword: "kept-secret",
      },
    };
    expect((await put("/rest/layers/j.json", JSON.stringify(wrapped), "application/json")).text).toBe("layer saved");
    const xml = (await ask("/rest/layers/j.xml")).text;
    expect(xml).toContain("<integerParameterFilter>");
    expect(xml).not.toContain("kept-secret");
    const shown = JSON.parse((await ask("/rest/layers/j.json")).text);
    expect(shown.wmsLayer).toMatchObject({ metaWidthHeight: [2, 2], mimeFormats: ["image/jpeg"], httpPassword: "***" });
    expect((await put("/rest/layers/j", JSON.stringify(shown), "application/json")).status).toBe(200);
    expect((await ask("/rest/layers/j.xml")).text).toBe(xml);
    await fetch(`${server.url}/xyz/j/swiss/0/0/0.jpeg`);
    const asked = upstream.asked.at(-1);
    expect(JSON.stringify(asked)).not.toBe(undefined);
    expect((await remove("/rest/layers/j")).status).toBe(200);
  });

  test("a layer that is not enabled is listed and not served; unknown elements come back", async () => {
    const body = wms("off", "<enabled>false</enabled>", "<fooBar><x>1</x></fooBar>");
    expect((await put("/rest/layers/off", body)).status).toBe(200);
    expect((await ask("/rest/layers.json")).text).toContain('"off"');
    expect((await ask("/rest/layers/off.xml")).text).toContain("<fooBar>\n    <x>1</x>\n  </fooBar>");
    const tile = await fetch(`${server.url}/xyz/off/0/0/0.png`);
    expect([tile.status, tile.headers.get("content-type")]).toEqual([400, "text/xml"]);
    expect(await tile.text()).toContain("<ExceptionText>Layer 'off' is disabled</ExceptionText>");
    expect((await remove("/rest/layers/off")).status).toBe(200);
  });

  test("the deprecated POST changes a layer that there is", async () => {
    expect((await put("/rest/layers/p", wms("p"))).status).toBe(200);
    const posted = await ask("/rest/layers/p.xml", wms("p", "", "<gutter>5</gutter>"), { method: "POST" });
    expect([posted.status, posted.text, posted.headers.get("warning")]).toEqual([
      200,
      "",
      "299: Deprecated API. Use PUT instead.",
    ]);
    expect((await ask("/rest/layers/p.xml")).text).toContain("<gutter>5</gutter>");
    expect(await ask("/rest/layers/q", wms("q"), { method: "POST" })).toMatchObject({ status: 400 });
    expect((await remove("/rest/layers/p")).status).toBe(200);
  });

  test.each([
    ["another name", wms("other"), "mismatch between the name of the  layer"],
    ["no address", "<wmsLayer><name>bad</name></wmsLayer>", "wmsUrl: expected"],
    ["an address that is none", wms("bad").replace(/http:[^<]*/, "notaurl"), "wmsUrl: expected an address"],
    ["an unknown store", wms("bad", "<blobStoreId>x</blobStoreId>"), "blobStoreId"],
    ["an unknown grid set", wms("bad", gridSubset("nope")), 'gridSubsets[0].gridSetName: unknown grid set "nope"'],
    [
      "an unknown format",
      wms("bad", "<mimeFormats><string>image/x</string></mimeFormats>"),
      "mimeFormats[0]: expected",
    ],
    [
      "a gutter below zero",
      wms("bad", "", "<gutter>-5</gutter>"),
      "gutter: expected a whole number from 0 to 256, got -5",
    ],
    ["a gutter that is none", wms("bad", "", "<gutter>abc</gutter>"), 'gutter: expected a whole number, got "abc"'],
    [
      "a metatile of zero",
      wms("bad", "<metaWidthHeight><int>0</int><int>1</int></metaWidthHeight>"),
      "metaWidthHeight",
    ],
    ["enabled maybe", wms("bad", "<enabled>maybe</enabled>"), "enabled: expected true or false"],
    ["no connections", wms("bad", "", "<concurrency>0</concurrency>"), "concurrency: expected"],
    [
      "a start beyond the stop",
      wms("bad", gridSubset("EPSG:4326", "<zoomStart>5</zoomStart><zoomStop>2</zoomStop>")),
      "zoomStart",
    ],
    [
      "rules that do not rise",
      wms(
        "bad",
        '<expireCacheList><expirationRule minZoom="0" expiration="1"/><expirationRule minZoom="0" expiration="2"/></expireCacheList>',
      ),
      "expireCacheList",
    ],
    [
      "a default outside its values",
      wms(
        "bad",
        "<parameterFilters><stringParameterFilter><key>K</key><defaultValue>x</defaultValue><values><string>a</string></values></stringParameterFilter></parameterFilters>",
      ),
      "parameterFilters[0].defaultValue",
    ],
    ["an unknown kind of filter", wms("bad", "<parameterFilters><fooFilter/></parameterFilters>"), "got fooFilter"],
    ["a field given twice", wms("bad", "", "<gutter>1</gutter><gutter>2</gutter>"), "gutter: is given twice"],
    ["another root", "<gridSet><name>bad</name></gridSet>", "wmsLayer or mbtilesLayer"],
    ["an XML that ends early", "<wmsLayer><name>bad", "XML"],
    ["nothing", "", "empty body"],
  ])("%s is 400 with the path, and changes nothing", async (_, body, words) => {
    const answer = await put("/rest/layers/bad", body);
    expect([answer.status, answer.type]).toEqual([400, "text/plain"]);
    expect(answer.text).toContain(words);
    expect((await ask("/rest/layers/bad")).status).toBe(404);
  });

  test("the Content-Type alone chooses the parser", async () => {
    expect((await ask("/rest/layers/t.xml", wms("t"), { type: "text/plain" })).status).toBe(415);
    expect((await ask("/rest/layers/t.json", wms("t"), { type: "application/xml; charset=UTF-8" })).status).toBe(200);
    expect((await ask("/rest/layers/t", wms("t"), { type: "application/json" })).status).toBe(400);
    expect(
      (
        await put(
          "/rest/layers/t",
          wms("t").replace("<wmsLayer", '<g:wmsLayer xmlns:g="x"').replace("</wmsLayer", "</g:wmsLayer"),
        )
      ).status,
    ).toBe(200);
    expect((await remove("/rest/layers/t")).status).toBe(200);
    expect((await ask("/rest/layers", undefined, { method: "POST" })).status).toBe(405);
    expect((await ask("/rest/layers/t", undefined, { method: "PATCH" })).status).toBe(405);
  });
});

const gridSubset = (name: string, more = ""): string =>
  `<gridSubsets><gridSubset><gridSetName>${name}</gridSetName>${more}</gridSubset></gridSubsets>`;

const gridSet = (name: string, resolutions: readonly number[], description = ""): string =>
  `<gridSet><name>${name}</name><description>${description}</description><srs><number>2056</number></srs><extent><coords><double>2420000</double><double>1030000</double><double>2900000</double><double>1350000</double></coords></extent><resolutions>${resolutions.map((one) => `<double>${one}</double>`).join("")}</resolutions></gridSet>`;

describe("grid sets made over HTTP", () => {
  test("a change of the geometry truncates the tiles of the grid set, any other change does not", async () => {
    expect((await put("/rest/gridsets/g", gridSet("g", [4000, 2000]))).status).toBe(201);
    const layer = wms("on-g", `${gridSubset("g")}<mimeFormats><string>image/png</string></mimeFormats>`);
    expect((await put("/rest/layers/on-g", layer)).status).toBe(200);
    const range = { gridSetId: "g", zoomStart: 0, zoomStop: 1, format: "image/png", threadCount: 1, type: "seed" };
    const { tiles } = await ended(server, await seed(server, "on-g", range));
    expect(tiles.stored).toBeGreaterThan(0);
    expect((await put("/rest/gridsets/g", gridSet("g", [4000, 2000], "other words"))).status).toBe(200);
    const read = async () =>
      (await fetch(`${server.url}/xyz/on-g/g/0/0/0.png`)).headers.get("geowebcache-cache-result");
    expect(await read()).toBe("HIT");
    expect((await put("/rest/gridsets/g", gridSet("g", [3000, 2000]))).status).toBe(200);
    expect(await read()).toBe("MISS");
    expect(await remove("/rest/gridsets/g")).toMatchObject({ status: 409, text: "The grid set g is in use by on-g." });
    expect((await remove("/rest/layers/on-g")).status).toBe(200);
    expect((await remove("/rest/gridsets/g")).status).toBe(200);
    expect(await remove("/rest/gridsets/g")).toMatchObject({
      status: 404,
      text: 'Failed to remove GridSet. A GridSet with name "g" does not exist.',
    });
  });

  test.each([
    ["rising resolutions", gridSet("bad", [1, 2])],
    ["no resolution", gridSet("bad", [])],
    ["no CRS", gridSet("bad", [2, 1]).replace(/<srs>.*<\/srs>/, "")],
    ["another name", gridSet("other", [2, 1])],
  ])("%s is 400", async (_, body) => {
    expect(await put("/rest/gridsets/bad", body)).toMatchObject({ status: 400, type: "text/plain" });
    expect((await ask("/rest/gridsets/bad")).status).toBe(404);
  });
});

test("a reload whose file brings a layer with the name of one made over HTTP is refused and names both", async () => {
  const { writeFileSync } = await import("node:fs");
  expect((await put("/rest/layers/twice", wms("twice"))).status).toBe(200);
  const file = `${server.dataDir}/nuthatch.yaml`;
  writeFileSync(file, configuration(`  - { name: twice, source: { type: wms, url: "${upstream.url}" } }\n`));
  const reloaded = await ask("/rest/reload", "reload_configuration=1", {
    method: "POST",
    type: "application/x-www-form-urlencoded",
  });
  expect(reloaded.status).toBe(400);
  expect(reloaded.text).toContain('two layers are called "twice"');
  expect(reloaded.text).toContain("made over HTTP");
  writeFileSync(file, configuration(""));
  expect((await ask("/rest/reload", "", { method: "POST" })).status).toBe(200);
  expect((await ask("/rest/layers.json")).text).toBe('["ws:roads","twice"]');
  expect((await remove("/rest/layers/twice")).status).toBe(200);
});

describe("settings", () => {
  test("some fields are merged into the others, kept over a kill, and the defaults of layers", async () => {
    const body = "<global><backendTimeout>33</backendTimeout><lockProvider>nioLock</lockProvider></global>";
    expect(await put("/rest/global.xml", body)).toMatchObject({ status: 200, text: "" });
    const json = JSON.stringify({ global: { serviceInformation: { title: "Tiles" }, fullWMS: true } });
    expect((await put("/rest/global", json, "application/json")).status).toBe(200);
    server = await server.restart("SIGKILL");
    const shown = JSON.parse((await ask("/rest/global.json")).text);
    expect(shown.global).toMatchObject({
      serviceInformation: { title: "Tiles" },
      lockProvider: "nioLock",
      fullWMS: true,
      backendTimeout: 33,
    });
    expect((await put("/rest/layers/timed", wms("timed"))).status).toBe(200);
    expect((await ask("/rest/layers/timed.xml")).text).toContain("<backendTimeout>33</backendTimeout>");
    for (const [type, suffix] of [
      ["application/json", "json"],
      ["text/xml", "xml"],
    ] as const)
      expect((await put("/rest/global", (await ask(`/rest/global.${suffix}`)).text, type)).status).toBe(200);
    expect((await remove("/rest/layers/timed")).status).toBe(200);
  });

  test.each([
    ["a time limit below zero", "<backendTimeout>-5</backendTimeout>", "backendTimeout"],
    ["a time limit that is none", "<backendTimeout>abc</backendTimeout>", "backendTimeout"],
    ["a flag that is none", "<fullWMS>maybe</fullWMS>", "fullWMS"],
    ["an unknown lock", "<lockProvider>padlock</lockProvider>", "lockProvider"],
    ["another version", "<version>3</version>", 'read-only property "version"'],
  ])("%s is 400 with the path, and changes nothing", async (_, fields, path) => {
    const before = (await ask("/rest/global.xml")).text;
    const refused = await put("/rest/global", `<global>${fields}</global>`);
    expect(refused).toMatchObject({ status: 400, type: "text/plain" });
    expect(refused.text).toContain(path);
    expect((await ask("/rest/global.xml")).text).toBe(before);
  });
});

describe("stores", () => {
  const file = (id: string, directory: string, more = "", attributes = ""): string =>
    `<FileBlobStore${attributes}><id>${id}</id><enabled>true</enabled><baseDirectory>${directory}</baseDirectory>${more}</FileBlobStore>`;
  const storePath = (id: string): string => `/rest/blobstores/${id}`;

  test.each([
    ["DEFAULT", ""],
    ["TMS", "<pathGeneratorType>TMS</pathGeneratorType>"],
    ["SLIPPY", "<pathGeneratorType>SLIPPY</pathGeneratorType>"],
  ])(
    "a file store of the layout %s is used at once, over a kill, and goes when no layer uses it",
    async (layout, more) => {
      const id = `files-${layout}`;
      const directory = join(server.dataDir, id);
      const made = await put(storePath(id), file(id, directory, more));
      expect(made).toMatchObject({ status: 201, text: "" });
      expect((await put(storePath(id), file(id, directory, more))).status).toBe(200);
      expect((await ask("/rest/blobstores.json")).text).toContain(id);
      const shown = await ask(`${storePath(id)}.xml`);
      expect(shown.text).toContain('<FileBlobStore default="false">');
      expect(shown.text).toContain("<fileSystemBlockSize>0</fileSystemBlockSize>");
      const json = await ask(`${storePath(id)}.json`);
      expect((await put(storePath(id), json.text, "application/json")).status).toBe(200);

      const layer = `in-${layout}`;
      const blobStore = `<blobStoreId>${id}</blobStoreId>`;
      expect((await put(`/rest/layers/${layer}`, wms(layer, blobStore))).status).toBe(200);
      const tile = async () => (await fetch(`${server.url}/xyz/${layer}/EPSG:4326/1/1/1.png`)).headers;
      expect((await tile()).get("geowebcache-cache-result")).toBe("MISS");
      await expect.poll(() => existsSync(join(directory, layer))).toBe(true);
      server = await server.restart("SIGKILL");
      expect((await tile()).get("geowebcache-cache-result")).toBe("HIT");
      const inUse = await remove(storePath(id));
      expect(inUse).toMatchObject({ status: 409, type: "text/plain" });
      expect(inUse.text).toContain(layer);
      const ended = await put(storePath(id), file(id, directory, more).replace(">true<", ">false<"));
      expect(ended.status).toBe(409);
      expect((await remove(`/rest/layers/${layer}`)).status).toBe(200);
      expect(await remove(storePath(id))).toMatchObject({ status: 200, text: "" });
      const gone = await ask(storePath(id));
      expect(gone.text).toContain(`A BlobStoreInfo with name "${id}" does not exist.`);
      expect((await remove(storePath(id))).text).toContain("Failed to remove BlobStoreInfo.");
    },
  );

  test("the default store has the tiles of layers that name none, and ends that another is it", async () => {
    const [one, two] = ["d-one", "d-two"];
    const standard = ' default="true"';
    const directory = (id: string) => join(server.dataDir, id);
    expect((await put(storePath(one), file(one, directory(one), "", standard))).status).toBe(201);
    expect((await put("/rest/layers/free", wms("free"))).status).toBe(200);
    await fetch(`${server.url}/xyz/free/EPSG:4326/1/1/1.png`);
    await expect.poll(() => existsSync(join(directory(one), "free"))).toBe(true);
    expect((await put(storePath(two), file(two, directory(two), "", standard))).status).toBe(201);
    expect((await ask(`${storePath(one)}.xml`)).text).toContain('default="false"');
    expect((await ask(`${storePath(two)}.xml`)).text).toContain('default="true"');
    expect((await remove(storePath(two))).status, "layers use it").toBe(409);
    expect((await put(storePath(two), file(two, directory(two)))).status).toBe(200);
    expect((await remove("/rest/layers/free")).status).toBe(200);
    expect((await remove(storePath(two))).status).toBe(200);
    expect((await remove(storePath(one))).status).toBe(200);
  });

  test("a store that Nuthatch has not is kept and shown without its secrets, and refused when it is enabled", async () => {
    const swift = (enabled: string, key: string) =>
      `<SwiftBlobStore><id>sw</id><enabled>${enabled}</enabled><container>c</container><identity>a</identity><password>${key}</password></SwiftBlobStore>`;
    const refused = await put(storePath("sw"), swift("true", "geheim"));
    expect(refused).toMatchObject({ status: 400, type: "text/plain" });
    expect(refused.text).toContain("enabled: expected false");
    expect((await put(storePath("sw"), swift("false", "geheim"))).status).toBe(201);
    const shown = await ask(`${storePath("sw")}.xml`);
    expect(shown.text).toContain("<password>***</password>");
    expect((await put(storePath("sw"), shown.text)).status).toBe(200);
    const layer = await put("/rest/layers/in-sw", wms("in-sw", "<blobStoreId>sw</blobStoreId>"));
    expect(layer.status).toBe(400);
    expect(layer.text).toContain("blobStoreId: expected a store that is enabled");
    expect((await remove(storePath("sw"))).status).toBe(200);
  });

  test("a directory with foreign files is taken, and they stay", async () => {
    const directory = join(server.dataDir, "foreign");
    mkdirSync(join(directory, "photos"), { recursive: true });
    writeFileSync(join(directory, "photos", "cat.png"), "cat");
    expect((await put(storePath("foreign"), file("foreign", directory))).status).toBe(201);
    expect((await put("/rest/layers/photos-of", wms("photos-of", "<blobStoreId>foreign</blobStoreId>"))).status).toBe(
      200,
    );
    await fetch(`${server.url}/xyz/photos-of/EPSG:4326/1/1/1.png`);
    expect((await remove("/rest/layers/photos-of")).status).toBe(200);
    expect((await remove(storePath("foreign"))).status).toBe(200);
    expect(readFileSync(join(directory, "photos", "cat.png"), "utf8")).toBe("cat");
  });

  test.each([
    ["no directory", "<FileBlobStore><id>bad</id><enabled>true</enabled></FileBlobStore>", "baseDirectory"],
    ["an unknown layout", file("bad", "/tmp/bad", "<pathGeneratorType>ZXY</pathGeneratorType>"), "pathGeneratorType"],
    ["an unknown kind", "<TapeBlobStore><id>bad</id></TapeBlobStore>", "TapeBlobStore"],
    ["another id", file("other", "/tmp/bad"), "mismatch"],
    ["a reserved id", file("_DEFAULT_STORE_", "/tmp/bad"), "mismatch"],
    ["a directory that cannot be made", file("bad", "/proc/bad"), "baseDirectory"],
    [
      "a default that is not enabled",
      file("bad", "/tmp/bad", "", ' default="true"').replace(">true<", ">false<"),
      "enabled",
    ],
    ["an S3 store without a bucket", "<S3BlobStore><id>bad</id><enabled>true</enabled></S3BlobStore>", "bucket"],
    ["an XML that ends early", "<FileBlobStore><id>bad", "XML"],
  ])("%s is 400 with the path, and changes nothing", async (_, body, path) => {
    const refused = await put(storePath("bad"), body);
    expect(refused).toMatchObject({ status: 400, type: "text/plain" });
    expect(refused.text).toContain(path);
    expect((await ask(storePath("bad"))).status).toBe(404);
  });

  test("the store of the data directory is reserved", async () => {
    expect((await put(storePath("default"), file("default", "/tmp/bad"))).status).toBe(409);
    expect((await remove(storePath("default"))).status).toBe(409);
  });
});
