import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skippedOnNodes } from "../../support/cluster/balanced.ts";
import { runProgram } from "../../support/server/run-program.ts";
import { startServer, type TestServer, usage } from "../../support/server/server.ts";
import { realisticFile } from "../../support/stores/geowebcache-file.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* A directory of GeoWebCache as the configuration (`docs/how-to/geowebcache.md`). One server for each block. */

const file = (directory: string): string => join(directory, "geowebcache.xml");
const textOf = (directory: string): string => readFileSync(file(directory), "utf8");

interface Sent {
  readonly method?: string;
  readonly type?: string;
  readonly body?: string;
  readonly account?: string | null;
}

let directory = "";
let server: TestServer;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.behaviour = renderAfter(0);
});
afterAll(() => upstream.close());

const start = () => startServer({ env: { NUTHATCH_GEOWEBCACHE: directory } });

async function ask(
  path: string,
  { method = "GET", type = "text/xml", body, account = "geowebcache:secured" }: Sent = {},
) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "Content-Type": type }),
      ...(account === null ? {} : { Authorization: `Basic ${Buffer.from(account).toString("base64")}` }),
    },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}
const put = (path: string, body: string, type = "text/xml") => ask(path, { method: "PUT", body, type });
const remove = (path: string) => ask(path, { method: "DELETE" });

const onNodes = skippedOnNodes("a directory of GeoWebCache is the configuration of one server");

describe.skipIf(onNodes)("GeoWebCache's default files", () => {
  beforeAll(async () => {
    directory = join(mkdtempSync(join(tmpdir(), "nuthatch-gwc-")), "made");
    server = await start();
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("are made where there are none, with GeoWebCache's account", async () => {
    expect(existsSync(file(directory))).toBe(true);
    expect((await ask("/rest/layers.json")).text).toBe('["states","raster test layer","img states"]');
    expect((await ask("/rest/layers.json", { account: null })).status).toBe(401);
    expect((await ask("/rest/layers.json", { account: "geowebcache:wrong" })).status).toBe(401);
    expect((await ask("/rest/blobstores.json")).text).toBe('["defaultCache"]');
    expect(JSON.parse((await ask("/rest/gridsets.json")).text)).toHaveLength(143);
    expect(server.log()).not.toContain("not served");
  });

  test.each([
    ["/rest/layers.xml", "<name>img states</name>"],
    ["/rest/layers/states.xml", "<key>STYLES</key>"],
    ["/rest/layers/states.json", '"@style":"pophatch"'],
    ["/rest/layers/img%20states.json", '"@style":"raster"'],
    ["/rest/layers/raster%20test%20layer.json", "nurc:Arc_Sample"],
    ["/rest/gridsets/EPSG:2163.xml", "<double>-2495667.977678598</double>"],
    ["/rest/gridsets/EPSG:2163.json", '"tileWidth":200'],
    ["/rest/gridsets/CanadaAtlasNonotree.xml", "<double>21945.0742188</double>"],
    ["/rest/blobstores/defaultCache.xml", '<FileBlobStore default="false">'],
    ["/rest/blobstores/defaultCache.json", '"baseDirectory":"/tmp/defaultCache"'],
    ["/rest/global.xml", "<providerName>John Smith inc.</providerName>"],
    ["/rest/global.json", '"runtimeStatsEnabled":true'],
    ["/diskquota.xml", "<enabled>false</enabled>"],
    ["/rest/seed.json", '{"long-array-array":[]}'],
    ["/rest/bounds/states/EPSG:4326/java", "{{0, 0, 0, 0, 0}"],
  ])("GET %s", async (path, part) => {
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(part);
  });

  test("the place is told: identifier and location", async () => {
    const { global } = JSON.parse((await ask("/rest/global.json")).text);
    expect(global).toMatchObject({ identifier: directory, location: file(directory), version: "2.0.0" });
    expect(Object.keys(global)).not.toContain("httpPassword");
  });

  test("a layer is made, changed and removed in the file, which GeoWebCache can read", async () => {
    const before = textOf(directory);
    const layer = `<wmsLayer><name>new &amp; ours</name><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`;
    expect(await put("/rest/layers/new%20&%20ours", layer)).toMatchObject({ status: 200, text: "layer saved" });
    const after = textOf(directory);
    expect(after).toContain("    <wmsLayer>\n      <name>new &amp; ours</name>\n");
    expect(after.startsWith(before.slice(0, before.indexOf("  </layers>")))).toBe(true);
    const shown = await ask("/rest/layers/new%20&%20ours.xml");
    expect((await put("/rest/layers/new%20&%20ours.xml", shown.text)).status).toBe(200);
    expect(textOf(directory), "what GET shows changes nothing").toBe(after);
    const tile = await fetch(`${server.url}/xyz/new%20&%20ours/EPSG:4326/1/1/1.png`);
    expect(tile.status).toBe(200);
    await tile.arrayBuffer();
    await expect.poll(() => existsSync(join(directory, "new_&_ours"))).toBe(true);
    server = await server.restart("SIGKILL");
    expect((await ask("/rest/layers.json")).text).toContain("new & ours");
    expect((await remove("/rest/layers/new%20&%20ours")).text).toBe("new & ours deleted");
    expect(textOf(directory)).toBe(before);
    expect(JSON.parse((await ask("/api/v1/usage")).text).total.tiles).toBe(0);
  });

  test("grid sets, stores and settings stand in the file", async () => {
    const before = textOf(directory);
    const gridSet = `<gridSet><name>mine</name><srs><number>3857</number></srs><extent><coords><double>0</double><double>0</double><double>1000</double><double>1000</double></coords></extent><levels>4</levels></gridSet>`;
    expect(await put("/rest/gridsets/mine", gridSet)).toMatchObject({ status: 201, text: "" });
    expect(textOf(directory)).toContain("<name>mine</name>");
    const shown = await ask("/rest/gridsets/mine.xml");
    expect((await put("/rest/gridsets/mine.xml", shown.text)).status).toBe(200);
    expect((await put("/rest/gridsets/EPSG:4326", gridSet.replace("mine", "EPSG:4326"))).status).toBe(409);
    expect((await remove("/rest/gridsets/mine")).status).toBe(200);
    const store = `<FileBlobStore><id>mine</id><enabled>true</enabled><baseDirectory>${join(directory, "mine")}</baseDirectory><fileSystemBlockSize>4096</fileSystemBlockSize></FileBlobStore>`;
    expect(await put("/rest/blobstores/mine", store)).toMatchObject({ status: 201, text: "" });
    expect(existsSync(join(directory, "mine"))).toBe(true);
    expect((await put("/rest/blobstores/mine", store)).status).toBe(200);
    expect((await remove("/rest/blobstores/mine")).status).toBe(200);
    const compact =
      "<CompactBlobStore><id>b</id><enabled>true</enabled><baseDirectory>/tmp/b</baseDirectory></CompactBlobStore>";
    expect((await put("/rest/blobstores/b", compact)).status, "GeoWebCache would not start").toBe(400);
    expect(textOf(directory)).toBe(before);
    expect((await put("/rest/global", "<global><backendTimeout>60</backendTimeout></global>")).status).toBe(200);
    expect(textOf(directory)).toBe(before.replace("<backendTimeout>120<", "<backendTimeout>60<"));
    const others =
      "<global><httpPassword>p</httpPassword><formatModifiers/><layers><wmsLayer/></layers><gridSets/></global>";
    expect((await put("/rest/global", others)).status, "as GeoWebCache, which has them in the file alone").toBe(200);
    expect((await ask("/rest/global.json")).text).not.toContain("layers");
    expect((await put("/rest/global", "<global><backendTimeout>120</backendTimeout></global>")).status).toBe(200);
    expect(textOf(directory)).toBe(before);
  });

  test("somebody's edit in between is not lost: 409 until a reload, which takes it", async () => {
    const before = textOf(directory);
    const edited = before.replace("<backendTimeout>120<", "<!-- edited --><backendTimeout>99<");
    writeFileSync(file(directory), edited);
    const refused = await remove("/rest/layers/img%20states");
    expect(refused).toMatchObject({ status: 409, type: "text/plain" });
    expect(refused.text).toContain("has been edited since it was read");
    expect(textOf(directory)).toBe(edited);
    expect((await ask("/rest/layers/img%20states")).status).toBe(200);
    const form = "application/x-www-form-urlencoded";
    const reload = () => ask("/rest/reload", { method: "POST", type: form, body: "reload_configuration=1" });
    expect((await reload()).status).toBe(200);
    expect((await ask("/rest/global.xml")).text).toContain("<backendTimeout>99</backendTimeout>");
    expect((await put("/rest/global", "<global><backendTimeout>120</backendTimeout></global>")).status).toBe(200);
    expect(textOf(directory)).toContain("<!-- edited --><backendTimeout>120<");
    writeFileSync(file(directory), edited.slice(0, 900));
    const malformed = await reload();
    expect(malformed.status).toBe(400);
    expect((await ask("/rest/layers.json")).text).toContain("img states");
    writeFileSync(file(directory), before);
    expect((await reload()).status).toBe(200);
  });

  test("at most ten copies of earlier files are there", async () => {
    for (let n = 10; n < 30; n++) writeFileSync(join(directory, `geowebcache_2020-01-01T0000${n}.bak`), "old");
    const copies = () => readdirSync(directory).filter((name) => name.endsWith(".bak"));
    let changes = 0;
    // A change in the same second as the change before makes no copy, and removes no copy.
    await expect
      .poll(async () => {
        const settings = `<global><fullWMS>${changes++ % 2 === 0}</fullWMS></global>`;
        expect((await put("/rest/global", settings)).status).toBe(200);
        return copies().length;
      })
      .toBe(10);
    expect(copies()).not.toContain("geowebcache_2020-01-01T000010.bak");
  });
});

describe.skipIf(onNodes)("a realistic file", () => {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
    writeFileSync(file(directory), realisticFile(join(directory, "stores"), upstream.url));
    writeFileSync(
      join(directory, "geowebcache-diskquota.xml"),
      "<gwcQuotaConfiguration><enabled>true</enabled><globalExpirationPolicyName>LRU</globalExpirationPolicyName><globalQuota><value>20</value><units>MiB</units></globalQuota><quotaStore>HSQL</quotaStore></gwcQuotaConfiguration>",
    );
    writeFileSync(join(directory, "users.properties"), "geowebcache=secured,ROLE_ADMINISTRATOR,enabled\n");
    server = await start();
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("starts with all that is in it, and is not changed", async () => {
    expect(textOf(directory)).toBe(realisticFile(join(directory, "stores"), upstream.url));
    expect((await ask("/rest/layers.json")).text).toBe('["city:base","ortho photos","city:old"]');
    expect((await ask("/rest/blobstores.json")).text).toBe('["fast","slippy","s3","az","sw","mb"]');
    expect(JSON.parse((await ask("/rest/gridsets.json")).text)).toHaveLength(144);
    expect(server.log()).not.toContain("not served");
    expect(await ask("/diskquota.json")).toMatchObject({ text: expect.stringContaining('"bytes":20971520') });
    for (const secret of ["secret", ">SK<", ">k<", "<password>p<"])
      for (const path of ["layers/city:base", "blobstores/s3", "blobstores/az", "blobstores/sw", "global"])
        expect((await ask(`/rest/${path}.xml`)).text).not.toContain(secret);
  });

  test("tiles are where GeoWebCache has them, in each store", async () => {
    const base = `${server.url}/service/wmts?SERVICE=WMTS&VERSION=1.0.0&REQUEST=GetTile&LAYER=city:base&STYLE=&FORMAT=image/png&TILEMATRIXSET=EPSG:2056&TILEMATRIX=3&TILEROW=1&TILECOL=1`;
    const tile = await fetch(base);
    expect(tile.status, await tile.text()).toBe(200);
    await expect.poll(() => existsSync(join(directory, "stores/fast/city_base/EPSG_2056_03"))).toBe(true);
    // The rasters of the layer's file filter are missing. A seed has no filters.
    const ortho = await fetch(`${server.url}/xyz/ortho%20photos/EPSG:25833/0/0/0.jpeg`);
    expect([ortho.status, await ortho.text()]).toEqual([
      502,
      expect.stringContaining("The request filter filemask has no raster of EPSG:25833, level 1"),
    ]);
    const body = `<seedRequest><gridSetId>EPSG:25833</gridSetId><zoomStart>0</zoomStart><zoomStop>0</zoomStop><type>seed</type><threadCount>1</threadCount></seedRequest>`;
    expect((await ask("/rest/seed/ortho%20photos.xml", { method: "POST", body })).status).toBe(200);
    await expect.poll(() => existsSync(join(directory, "stores/slippy/ortho_photos"))).toBe(true);
  });

  test("what every GET shows is put back in both forms, and leaves the file as it is", async () => {
    const before = textOf(directory);
    const paths = ["layers/city:base", "layers/ortho%20photos", "layers/city:old", "gridsets/EPSG:2056"].concat(
      ["gridsets/EPSG:25833", "gridsets/levels", "blobstores/fast", "blobstores/slippy", "blobstores/s3"],
      ["blobstores/az", "blobstores/sw", "blobstores/mb", "global"],
    );
    for (const path of paths)
      for (const [suffix, type] of [
        ["xml", "text/xml"],
        ["json", "application/json"],
      ] as const) {
        const shown = await ask(`/rest/${path}.${suffix}`);
        const answer = await put(`/rest/${path}.${suffix}`, shown.text, type);
        expect([path, suffix, answer.status, answer.text]).toEqual([
          path,
          suffix,
          200,
          path.startsWith("layers") ? "layer saved" : "",
        ]);
      }
    expect(textOf(directory)).toBe(before);
  });

  test("a quota that is put is written into its file, which is read again at a start", async () => {
    const quota = join(directory, "geowebcache-diskquota.xml");
    const change = "<gwcQuotaConfiguration><globalQuota><value>31</value></globalQuota></gwcQuotaConfiguration>";
    expect((await put("/diskquota.xml", change)).status).toBe(200);
    const text = readFileSync(quota, "utf8");
    expect(text).toContain("<value>31</value>");
    expect(text).toContain("<quotaStore>HSQL</quotaStore>");
    writeFileSync(quota, text.replace("31", "32"));
    const refused = await put("/diskquota.xml", change.replace("31", "33"));
    expect([refused.status, refused.type]).toEqual([409, "text/plain"]);
    expect(refused.text).toContain("has been edited since it was read");
    expect((await ask("/diskquota.json")).text).toContain('"bytes":32505856');
    expect((await ask("/rest/reload", { method: "POST", body: "reload_configuration=1" })).status).toBe(200);
    expect((await ask("/diskquota.json")).text).toContain('"bytes":33554432');
    expect((await put("/diskquota.json", '{"cacheQuotaConfiguration":{"maxConcurrentCleanUps":5}}')).status).toBe(200);
    server = await server.restart("SIGKILL");
    expect((await ask("/diskquota.json")).text).toContain('"maxConcurrentCleanUps":5');
    writeFileSync(quota, readFileSync(quota, "utf8").replace("32", "20"));
    server = await server.restart("SIGKILL");
    expect((await ask("/diskquota.json")).text).toContain('"bytes":20971520');
  });

  test("the running server is exported, and imported by its address", async () => {
    const env = { NUTHATCH_URL: server.url, NUTHATCH_USER: "geowebcache", NUTHATCH_PASSWORD: "secured" };
    const xml = await runProgram(["config", "export", "--format", "geowebcache"], { env });
    expect([xml.code, xml.stderr]).toEqual([0, expect.stringContaining("HTTP_PASSWORD_CITY_BASE")]);
    const copy = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
    try {
      writeFileSync(file(copy), xml.stdout);
      const yaml = await runProgram(["import", "geowebcache", copy, "-o", "out.yaml"], { cwd: copy });
      expect(yaml).toMatchObject({ code: 0, stdout: "" });
      expect(readFileSync(join(copy, "out.yaml"), "utf8")).toContain("name: city:base");
      const remote = await runProgram(["import", "geowebcache", server.url, "--check"], { env });
      expect(remote).toMatchObject({ code: 0, stdout: expect.stringContaining("layer ortho photos\n  taken over: ") });
      const exported = await runProgram(["config", "export"], { env });
      expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining("name: ortho photos") });
      expect(exported.stdout).toContain("title: City of Example tiles");
      expect(exported.stdout).toContain(`username: \${USERNAME_CITY_OLD}`);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  test("a layer that cannot work is kept and not served, and the log names it with its line", async () => {
    const copy = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
    cpSync(file(directory), file(copy));
    const broken = textOf(copy).replace("<gutter>32</gutter>", "<gutter>-5</gutter>");
    writeFileSync(file(copy), broken.replace("<gridSetName>levels<", "<gridSetName>nowhere<"));
    mkdirSync(join(copy, "data"));
    const other = await startServer({ env: { NUTHATCH_GEOWEBCACHE: copy }, dataDir: join(copy, "data") });
    try {
      expect(other.log()).toMatch(/not served: .*line \d+: the layer \\?"city:base\\?".*gutter/);
      expect(await (await fetch(`${other.url}/rest/layers.json`)).text()).toContain("city:base");
      // It is served: its filter has no raster.
      expect((await fetch(`${other.url}/xyz/ortho%20photos/EPSG:25833/0/0/0.jpeg`)).status).toBe(502);
    } finally {
      await other.close();
      rmSync(copy, { recursive: true, force: true });
    }
  });
});

test.skipIf(onNodes)(
  "tiles that GeoWebCache has stored are hits at once, and are counted in the background",
  async () => {
    directory = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
    const layer = `<wmsLayer><name>a:b</name><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`;
    writeFileSync(
      file(directory),
      `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.20.0"><layers>${layer}</layers></gwcConfiguration>`,
    );
    const tiles = join(directory, "a_b", "EPSG_900913_03", "0_0");
    mkdirSync(tiles, { recursive: true });
    const picture = await (
      await fetch(`${upstream.url}?REQUEST=GetMap&WIDTH=256&HEIGHT=256&FORMAT=image/png&BBOX=0,0,1,1`)
    ).arrayBuffer();
    for (const name of ["01_02", "01_03", "02_02"]) writeFileSync(join(tiles, `${name}.png`), Buffer.from(picture));
    const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
    server = await startServer({ env: { NUTHATCH_GEOWEBCACHE: directory }, dataDir });
    try {
      const tile = await fetch(`${server.url}/service/tms/1.0.0/a:b@EPSG:900913@png/3/1/2.png`);
      expect([tile.status, tile.headers.get("geowebcache-cache-result")]).toEqual([200, "HIT"]);
      await until("they are counted", async () => ((await usage(server)).total.tiles === 3 ? true : undefined));
    } finally {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
