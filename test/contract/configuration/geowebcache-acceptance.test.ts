import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skippedOnNodes } from "../../support/cluster/balanced.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";

/*
 * The requirements of GeoWebCache's acceptance tests for a server with GeoWebCache's default files: resources, rights and answers. A GET of `/rest/seed` and `/rest/seed/LAYER`, for which they require a page, is 405 in Nuthatch
 * (`docs/reference/wire-format.md`).
 */

const onNodes = skippedOnNodes("a directory of GeoWebCache is the configuration of one server");
let server: TestServer;
let directory = "";

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
  server = await startServer({ env: { NUTHATCH_GEOWEBCACHE: join(directory, "made") } });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const ADMIN = "geowebcache:secured";
const XML = "text/xml";
const FORM = "application/x-www-form-urlencoded";

interface Sent {
  readonly body?: string;
  readonly type?: string;
  readonly account?: string | undefined;
}

async function ask(method: string, path: string, { body, type = XML, account = ADMIN }: Sent = {}) {
  const response = await fetch(`${server.url}/geowebcache${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { "Content-Type": type }),
      ...(account === "" ? {} : { Authorization: `Basic ${Buffer.from(account).toString("base64")}` }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const { headers, status } = response;
  return { status, type: headers.get("content-type"), text: await response.text() };
}

/** Sends requests in turn, and returns their statuses. */
async function statuses(...requests: readonly (readonly [string, string, string?])[]): Promise<number[]> {
  const found: number[] = [];
  for (const [method, path, body] of requests)
    found.push((await ask(method, path, body === undefined ? {} : { body })).status);
  return found;
}

describe.skipIf(onNodes)("rights", () => {
  test.each([
    ["GET", "/rest/layers.xml", 200],
    ["POST", "/rest/layers.xml", 405],
    ["PUT", "/rest/layers.xml", 405],
    ["DELETE", "/rest/layers.xml", 405],
    ["GET", "/rest/layers/img%20states.xml", 200],
    ["GET", "/rest/seed", 405],
    ["GET", "/rest/seed/img%20states", 405],
    ["GET", "/rest/seed.json", 200],
    ["GET", "/rest/seed/img%20states.json", 200],
    ["GET", "/rest/seed/img%20states.xml", 200],
    ["POST", "/rest/seed/img%20states.xml", 400],
    ["PUT", "/rest/seed/img%20states.xml", 405],
    ["DELETE", "/rest/seed/img%20states.xml", 405],
    ["POST", "/rest/seed/ui_form", 400],
    ["PUT", "/rest/seed/ui_form", 405],
    ["DELETE", "/rest/seed/ui_form", 405],
    ["DELETE", "/rest/diskquota.xml", 405],
    ["DELETE", "/rest/diskquota.json", 405],
    ["DELETE", "/rest/diskquota", 405],
    ["GET", "/rest/masstruncate", 200],
    ["POST", "/rest/masstruncate", 400],
    ["PUT", "/rest/masstruncate", 405],
    ["DELETE", "/rest/masstruncate", 405],
    ["POST", "/rest/reload", 200],
    ["GET", "/rest/reload", 405],
    ["PUT", "/rest/reload", 405],
    ["DELETE", "/rest/reload", 405],
    ["GET", "/rest/nothing", 404],
  ])("%s %s is 401 without an account, and then %i", async (method, path, status) => {
    const nobody = await ask(method, path, { account: "" });
    expect(nobody.status).toBe(401);
    expect(nobody.text).not.toContain("nurc");
    expect((await ask(method, path)).status).toBe(status);
  });

  test.each(["geowebcache:wrong", "nobody:secured"])("%s is no account", async (account) => {
    for (const path of ["/rest/layers.xml", "/rest/layers/img%20states.xml", "/rest/seed/ui_form"])
      expect(await ask("GET", path, { account })).toMatchObject({
        status: 401,
        text: expect.not.stringContaining("states"),
      });
  });

  test.each([
    ["geowebcache_logo.png", 200],
    ["gwc.css", 200],
    ["thisIsNotThere", 404],
    ["openlayers3/ol.js", 404],
  ])("/rest/web/%s is for everybody: %i", async (file, status) => {
    expect((await ask("GET", `/rest/web/${file}`, { account: "" })).status).toBe(status);
  });
});

describe.skipIf(onNodes)("settings", () => {
  const shown = async (): Promise<string> => (await ask("GET", "/rest/global.xml")).text;
  const put = async (body: string): Promise<number> => (await ask("PUT", "/rest/global", { body })).status;

  test("what is put replaces what it names, and the settings that GET shows can be put back", async () => {
    const before = await shown();
    for (const part of [
      "<title>GeoWebCache</title>",
      "<providerName>John Smith inc.</providerName>",
      "<individualName>John Smith</individualName>",
      "<runtimeStatsEnabled>true</runtimeStatsEnabled>",
      "<wmtsCiteCompliant>false</wmtsCiteCompliant>",
      "<backendTimeout>120</backendTimeout>",
    ])
      expect(before).toContain(part);
    expect(before).not.toContain("lockProvider");
    expect(before.match(/<string>/g)).toHaveLength(3);

    expect(await put("<global><backendTimeout>150</backendTimeout></global>")).toBe(200);
    expect(await shown()).toBe(before.replace(">120<", ">150<"));
    const service = /<serviceInformation>.*<\/serviceInformation>/s.exec(before)?.[0] ?? "";
    const other = service.replaceAll("John Smith", "Jane Doe").replace("<string>WMS</string>", "");
    const flags = "<runtimeStatsEnabled>false</runtimeStatsEnabled><wmtsCiteCompliant>false</wmtsCiteCompliant>";
    expect(await put(`<global>${other}${flags}<backendTimeout>120</backendTimeout></global>`)).toBe(200);
    const changed = await shown();
    expect(changed).toContain("<providerName>Jane Doe inc.</providerName>");
    expect(changed).toContain("<runtimeStatsEnabled>false</runtimeStatsEnabled>");
    expect(changed.match(/<string>/g)).toHaveLength(2);
    expect(await put(changed)).toBe(200);
    expect(await shown()).toBe(changed);
    expect(await put(before)).toBe(200);
    expect(await shown()).toBe(before);
  });

  test("the place of the file is read-only", async () => {
    expect(await put("<global><location>elsewhere</location></global>")).toBe(400);
  });
});

describe.skipIf(onNodes)("layers", () => {
  test("the list has the three layers and their addresses", async () => {
    const { text } = await ask("GET", "/rest/layers.xml");
    expect(text.match(/<layer>/g)).toHaveLength(3);
    for (const name of ["states", "img%20states", "raster%20test%20layer"])
      expect(text).toContain(`href="${server.url}/geowebcache/rest/layers/${name}.xml"`);
  });

  test("a layer shows its server", async () => {
    const { text } = await ask("GET", "/rest/layers/img%20states.xml");
    expect(text).toContain("<string>http://localhost:8080/geoserver/wms?</string>");
    expect(text).toContain("<wmsLayers>nurc:Img_Sample,topp:states</wmsLayers>");
  });

  test("a layer is put, changed by POST, in the capabilities, and removed", async () => {
    const layer = (url: string): string =>
      `<wmsLayer><name>made</name><wmsUrl><string>${url}</string></wmsUrl><wmsLayers>remote</wmsLayers></wmsLayer>`;
    const capabilities = async (): Promise<string> =>
      (await ask("GET", "/service/wmts?REQUEST=getcapabilities", { account: "" })).text;
    const path = "/rest/layers/made.xml";
    for (const [method, url] of [
      ["PUT", "http://maps.example/one?"],
      ["POST", "http://maps.example/two?"],
    ] as const) {
      expect((await ask(method, path, { body: layer(url), type: "application/xml" })).status).toBe(200);
      const { text } = await ask("GET", path);
      expect(text).toContain(`<string>${url}</string>`);
      expect(text).toContain("<wmsLayers>remote</wmsLayers>");
    }
    expect((await ask("GET", "/rest/layers.xml")).text).toContain("<name>made</name>");
    expect(await capabilities()).toContain("<ows:Title>made</ows:Title>");
    expect((await ask("DELETE", path)).status).toBe(200);
    expect((await ask("GET", "/rest/layers.xml")).text).not.toContain("<name>made</name>");
    expect((await ask("GET", path)).status).toBe(404);
    expect(await capabilities()).not.toContain("<ows:Title>made</ows:Title>");
  });
});

describe.skipIf(onNodes)("stores", () => {
  test("GeoWebCache's sample store is listed", async () => {
    const { text } = await ask("GET", "/rest/blobstores.xml");
    expect(text.match(/<blobStore>/g)).toHaveLength(1);
    expect(text).toContain(`href="${server.url}/geowebcache/rest/blobstores/defaultCache.xml" type="text/xml"`);
    expect((await ask("GET", "/rest/blobstores.json")).text).toBe('["defaultCache"]');
    expect(JSON.parse((await ask("GET", "/rest/blobstores/defaultCache.json")).text)).toEqual({
      FileBlobStore: {
        "@default": "false",
        id: "defaultCache",
        enabled: false,
        baseDirectory: "/tmp/defaultCache",
        fileSystemBlockSize: 4096,
      },
    });
  });

  test("a store that is not enabled is put, changed and removed", async () => {
    const path = "/rest/blobstores/other";
    const store = (size: number): string =>
      `<FileBlobStore><id>other</id><enabled>false</enabled><baseDirectory>/tmp/other</baseDirectory><fileSystemBlockSize>${size}</fileSystemBlockSize></FileBlobStore>`;
    expect(await statuses(["GET", path], ["PUT", path, store(4096)], ["PUT", path, store(2048)])).toEqual([
      404, 201, 200,
    ]);
    expect((await ask("GET", `${path}.xml`)).text).toContain("<fileSystemBlockSize>2048</fileSystemBlockSize>");
    expect(await statuses(["DELETE", `${path}.xml`], ["GET", path])).toEqual([200, 404]);
    expect(existsSync("/tmp/other")).toBe(false);
  });

  test("files that were in the directory of a store survive layers of their names", async () => {
    const base = join(directory, "store");
    mkdirSync(join(base, "folder", "inner"), { recursive: true });
    const files = ["file", "folder/notes.txt", "folder/inner/picture.png"];
    for (const name of files) writeFileSync(join(base, name), "");
    const layer = (name: string): string =>
      `<wmsLayer><blobStoreId>taken</blobStoreId><name>${name}</name><wmsUrl><string>http://maps.example/wms</string></wmsUrl></wmsLayer>`;
    const store = `<FileBlobStore><id>taken</id><enabled>true</enabled><baseDirectory>${base}</baseDirectory><fileSystemBlockSize>4096</fileSystemBlockSize></FileBlobStore>`;
    expect((await ask("PUT", "/rest/blobstores/taken", { body: store })).status).toBe(201);
    for (const name of ["file", "folder"]) {
      const truncation = `<truncateLayer><layerName>${name}</layerName></truncateLayer>`;
      const made = await statuses(["PUT", `/rest/layers/${name}`, layer(name)], ["POST", "/masstruncate", truncation]);
      expect([name, made]).toEqual([name, [200, 200]]);
      expect((await ask("DELETE", `/rest/layers/${name}`)).status).toBe(200);
    }
    expect((await ask("DELETE", "/rest/blobstores/taken")).status).toBe(200);
    for (const name of files) expect([name, existsSync(join(base, name))]).toEqual([name, true]);
  });
});

describe.skipIf(onNodes)("grid sets", () => {
  test("143 are listed", async () => {
    const { text } = await ask("GET", "/rest/gridsets.xml");
    expect(text.match(/<gridSet>/g)).toHaveLength(143);
    expect(text).toContain(`href="${server.url}/geowebcache/rest/gridsets/WebMercatorQuad.xml" type="text/xml"`);
    const names: unknown = JSON.parse((await ask("GET", "/rest/gridsets.json")).text);
    expect(names).toHaveLength(143);
    expect(names).toContain("WebMercatorQuad");
  });

  test("numbers are as Java writes them in XML, and numbers in JSON", async () => {
    const { text } = await ask("GET", "/rest/gridsets/EPSG:2163.xml");
    for (const part of [
      "<number>2163</number>",
      "<double>-2495667.977678598</double>",
      "<double>3291070.6104286816</double>",
      "<double>2.5E7</double>",
      "<metersPerUnit>1.0</metersPerUnit>",
      "<pixelSize>2.8E-4</pixelSize>",
      "<tileWidth>200</tileWidth>",
    ])
      expect(text).toContain(part);
    const { gridSet } = JSON.parse((await ask("GET", "/rest/gridsets/EPSG:2163.json")).text);
    expect(gridSet).toMatchObject({
      name: "EPSG:2163",
      srs: { number: 2163 },
      extent: { coords: [-2495667.977678598, -2223677.196231552, 3291070.6104286816, 959189.3312465074] },
      yCoordinateFirst: false,
    });
  });

  test("one is put, changed in its CRS and its tiles, and removed", async () => {
    const path = "/rest/gridsets/mine";
    const gridSet = (srs: number, tile: number): string =>
      `<?xml version="1.0" encoding="UTF-8"?>\n<gridSet><name>mine</name><srs><number>${srs}</number></srs><extent><coords><double>-2495667.9</double><double>-2223677.1</double><double>3291070.6</double><double>959189.3</double></coords></extent><alignTopLeft>false</alignTopLeft><scaleDenominators><double>2.5E7</double><double>1000000.0</double></scaleDenominators><metersPerUnit>1.0</metersPerUnit><pixelSize>2.8E-4</pixelSize><scaleNames><string>${srs}:0</string><string>${srs}:1</string></scaleNames><tileHeight>${tile}</tileHeight><tileWidth>${tile}</tileWidth><yCoordinateFirst>false</yCoordinateFirst></gridSet>`;
    expect(
      await statuses(["GET", path], ["PUT", `${path}.xml`, gridSet(4326, 211)], ["PUT", path, gridSet(2163, 200)]),
    ).toEqual([404, 201, 200]);
    const { text } = await ask("GET", `${path}.xml`);
    for (const part of ["<number>2163</number>", "<tileHeight>200</tileHeight>", "<string>2163:1</string>"])
      expect(text).toContain(part);
    expect(await statuses(["DELETE", `${path}.xml`], ["GET", path])).toEqual([200, 404]);
  });
});

describe.skipIf(onNodes)("quota", () => {
  const quota = {
    enabled: false,
    cacheCleanUpFrequency: 10,
    cacheCleanUpUnits: "SECONDS",
    maxConcurrentCleanUps: 2,
    globalExpirationPolicyName: "LFU",
    globalQuota: { id: 0, bytes: 524288000 },
  };

  test("has the form of GeoWebCache", async () => {
    const { text } = await ask("GET", "/rest/diskquota.xml");
    expect(text).toMatch(/<org\.geowebcache\.diskquota\.DiskQuotaConfig>/);
    expect(text).toContain("<globalQuota><id>0</id><bytes>524288000</bytes></globalQuota>");
    expect(JSON.parse((await ask("GET", "/rest/diskquota.json")).text)).toEqual({
      "org.geowebcache.diskquota.DiskQuotaConfig": { ...quota, layerQuotas: [] },
    });
  });
});

describe.skipIf(onNodes)("jobs", () => {
  test.each([
    ["/rest/seed", XML],
    ["/rest/seed/states", FORM],
  ])("a kill at %s under %s is a page", async (path, type) => {
    expect(await ask("POST", path, { body: "kill_all=all", type })).toMatchObject({
      status: 200,
      type: "text/html; charset=utf-8",
    });
  });

  test("a truncation with the name of another layer in the body is taken", async () => {
    const body =
      "<seedRequest><name>topp:states</name><srs><number>4326</number></srs><zoomStart>1</zoomStart><zoomStop>12</zoomStop><format>image/png</format><type>truncate</type><threadCount>4</threadCount></seedRequest>";
    expect((await ask("POST", "/rest/seed/states.xml", { body })).status).toBe(200);
  });
});
