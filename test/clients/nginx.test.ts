import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";
import { whyNoReadOnlyRoot, withReadOnlyRoot } from "../support/stores/read-only-root.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { exchange, hasNginx, type Nginx, startNginx } from "./nginx.ts";

const reason = hasNginx ? "" : " (skipped: needs Debian's nginx)";
if (!hasNginx) console.warn("SKIPPED: test/clients/nginx.test.ts needs Debian's nginx");

describe.skipIf(!hasNginx)(`the server behind nginx with TLS and a path${reason}`, () => {
  const volume = mkdtempSync(join(tmpdir(), "nuthatch-volume-"));
  const noReadOnlyRoot = whyNoReadOnlyRoot(volume);
  if (noReadOnlyRoot !== undefined)
    console.warn(`SKIPPED: the read-only root file system of test/clients/nginx.test.ts: ${noReadOnlyRoot}`);
  const user = `Basic ${Buffer.from("admin:correct horse").toString("base64")}`;
  let upstream: Upstream;
  let server: TestServer;
  let nginx: Nginx;
  /** The base of all addresses, as a browser sees it. */
  let base: string;
  beforeAll(async () => {
    upstream = await startUpstream();
    server = await startServer({
      configuration: `server: { trustProxy: [127.0.0.1] }\nlayers: [{ name: "ws:roads", source: { type: wms, url: "${upstream.url}", layers: [roads] } }]\n`,
      dataDir: volume,
      env: { NUTHATCH_ADMIN_PASSWORD: "correct horse" },
      ...(noReadOnlyRoot === undefined ? { under: withReadOnlyRoot(volume) } : {}),
    });
    nginx = await startNginx(server.port);
    base = `${nginx.origin}/tiles`;
  });
  afterAll(async () => {
    await nginx.close();
    await server.close();
    await upstream.close();
    rmSync(volume, { recursive: true, force: true });
  });

  test.skipIf(noReadOnlyRoot !== undefined)(
    `runs with a read-only root file system${noReadOnlyRoot === undefined ? "" : ` (skipped: ${noReadOnlyRoot})`}`,
    async () => {
      const mounts = readFileSync(`/proc/${server.pid}/mounts`, "utf8").split("\n");
      const options = (point: string) => mounts.filter((line) => line.split(" ")[1] === point).at(-1);
      expect(options("/")).toMatch(/^\S+ \S+ \S+ ro,/);
      expect((await exchange(`${base}/xyz/ws:roads/4/5/5.png`)).status, server.log()).toBe(200);
      expect(existsSync(join(volume, "tiles", "ws_roads"))).toBe(true);
      expect(server.log()).not.toMatch(/EROFS|"level":"error"/);
    },
  );

  test("serves tiles, and documents whose addresses lead back to them", async () => {
    const read = async (path: string) => (await exchange(base + path)).body.toString("utf8");
    const tileJson: { readonly tiles: readonly [string] } = JSON.parse(await read("/tilejson/ws:roads"));
    expect(tileJson.tiles[0]).toMatch(new RegExp(`^${base}/xyz/`));
    const tile = await exchange(tileJson.tiles[0].replace("{z}/{x}/{y}", "3/2/2"));
    expect([tile.status, tile.headers["content-type"]]).toEqual([200, "image/png"]);
    for (const path of [
      "/service/wmts?REQUEST=GetCapabilities",
      "/service/wms?SERVICE=WMS&REQUEST=GetCapabilities",
      "/service/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities",
      "/service/tms/1.0.0/ws:roads@EPSG:900913@png",
    ]) {
      const addresses = [...(await read(path)).matchAll(/(?:href|template|tilemapservice)="(https?:[^"]*)"/g)]
        .map(([, address = ""]) => address)
        .filter((address) => !/^https?:\/\/(?:www\.)?(?:opengis|w3|osgeo)/.test(address));
      expect(addresses.length, path).toBeGreaterThan(0);
      for (const address of addresses) expect(`${address}/`.startsWith(`${base}/`), `${path}: ${address}`).toBe(true);
    }
    const template = /template="([^"]*image\/png[^"]*)"/.exec(await read("/service/wmts?REQUEST=GetCapabilities"))?.[1];
    const values: Readonly<Record<string, string>> = {
      style: "",
      TileMatrixSet: "EPSG:900913",
      TileMatrix: "EPSG:900913:3",
      TileRow: "2",
      TileCol: "2",
    };
    const address = template?.replaceAll("&amp;", "&").replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
    expect((await exchange(address ?? "")).status).toBe(200);
  });

  test("a browser submits a seed form and a classic request, and another site's page does not", async () => {
    const submit = (origin: string, site: string) =>
      exchange(`${base}/rest/seed/ws:roads`, {
        method: "POST",
        headers: {
          Authorization: user,
          "Content-Type": "application/x-www-form-urlencoded",
          Origin: origin,
          "Sec-Fetch-Site": site,
        },
        body: "type=seed&gridSetId=EPSG:900913&zoomStart=0&zoomStop=1&threadCount=1",
      });
    expect((await submit(nginx.origin, "same-origin")).status).toBe(200);
    const foreign = await submit("https://evil.example", "cross-site");
    expect(foreign.status).toBe(403);
    expect(foreign.body.toString("utf8")).toContain(`expected "${nginx.origin}", got "https://evil.example"`);
    const classic = await exchange(`${base}/geowebcache/rest/seed/ws:roads.json`, {
      method: "POST",
      headers: { Authorization: user, Origin: nginx.origin },
      body: '{"seedRequest":{"gridSetId":"EPSG:900913","zoomStart":0,"zoomStop":1}}',
    });
    expect(classic.status).toBe(200);
    const id = classic.headers["x-job-id"];
    expect(classic.headers["link"]).toBe(`<${base}/geowebcache/api/v1/jobs/${id}>; rel="monitor"`);
    const monitored = await exchange(`${base}/geowebcache/api/v1/jobs/${id}?wait=60`, {
      headers: { Authorization: user },
    });
    expect(JSON.parse(monitored.body.toString("utf8"))).toMatchObject({ id: Number(id), outcome: "done" });
  });

  test("sends events when they happen, not when a buffer is full", async () => {
    const text = await exchange(`${base}/api/v1/events`, {
      headers: { Authorization: user },
      until: (sofar) => sofar.includes("event: snapshot"),
    });
    expect(text.headers["content-type"]).toMatch(/^text\/event-stream/);
    expect(text.body.toString("utf8")).toContain("event: snapshot");
  });

  test("counts a client by the address that nginx saw, whatever the client says of itself", async () => {
    // Each wrong password from one address is answered more slowly than the wrong password before.
    const wrong = `Basic ${Buffer.from("admin:guess").toString("base64")}`;
    const beganMs = performance.now();
    for (let n = 0; n < 5; n++) {
      const headers = { Authorization: wrong, "X-Forwarded-For": `192.0.2.${n}`, Forwarded: `for=192.0.2.${n}` };
      expect((await exchange(`${base}/rest/seed.json`, { headers })).status).toBe(401);
    }
    expect(performance.now() - beganMs).toBeGreaterThan(50 + 100 + 200 + 400);
  });

  test("the proxy closes the management interface to addresses that its file does not list", () => {
    const example = readFileSync(new URL("../../examples/nginx.conf", import.meta.url), "utf8");
    const closed = /location ~ (\S*rest\S*) \{\s*allow 127\.0\.0\.1;\s*allow 10\.0\.0\.0\/8;\s*deny all;/.exec(
      example,
    )?.[1];
    const isClosed = new RegExp(closed ?? "$.");
    for (const path of [
      "rest/seed",
      "api/v1/jobs",
      "metrics",
      "masstruncate.xml",
      "diskquota.json",
      "geowebcache/rest",
    ])
      expect(isClosed.test(`/tiles/${path}`), path).toBe(true);
    for (const path of ["xyz/rest/0/0/0.png", "service/wmts", "", "apis"])
      expect(isClosed.test(`/tiles/${path}`), path).toBe(false);
  });

  test("what is management by its query is closed as well", async () => {
    const outside = await startNginx(server.port, "outside");
    try {
      const status = async (path: string) => (await exchange(`${outside.origin}/tiles${path}`)).status;
      const tile = "/xyz/ws:roads/3/2/2.png";
      for (const query of ["explain", "EXPLAIN=1", "x=1&Explain", "%65xplain"])
        expect(await status(`${tile}?${query}`), query).toBe(403);
      for (const path of ["/", tile, `${tile}?explained=1`, "/service/wmts?REQUEST=GetCapabilities"])
        expect(await status(path), path).toBe(200);
    } finally {
      await outside.close();
    }
  });
});
