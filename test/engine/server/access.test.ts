import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { picture, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const basic = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString("base64")}` });

test("with an administrator everything managed needs credentials, tiles and health do not", async () => {
  const at = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "geheim" } });
  running.server = at;
  for (const [method, path] of [
    ["GET", "/rest/seed.json"],
    ["DELETE", "/rest/seed/topp:states.xml"],
    ["GET", "/rest/nothing"],
    ["GET", "/rest/seed/%zz"],
    ["GET", "/masstruncate"],
    ["GET", "/geowebcache/diskquota.xml"],
    ["GET", "/api/v1/jobs"],
    ["GET", "/api/nothing"],
    ["POST", "/rest/reload"],
  ] as const) {
    const response = await fetch(at.url + path, { method });
    // `fetch` says Sec-Fetch-Mode: cors, as a page's script does, and gets no challenge.
    expect([path, response.status, response.headers.get("www-authenticate")]).toEqual([path, 401, null]);
  }
  for (const path of [
    "/livez",
    "/readyz",
    "/assets/icon.svg",
    "/service/wmts?request=GetCapabilities",
    "/xyz/topp:states/1/0/0.png",
  ]) {
    expect((await fetch(at.url + path)).status).toBe(200);
  }
  expect((await fetch(`${at.url}/rest/seed.json`, { headers: basic("admin:wrong") })).status).toBe(401);
  const right = await Promise.all(
    Array.from({ length: 30 }, () => fetch(`${at.url}/rest/seed.json`, { headers: basic("admin:geheim") })),
  );
  expect(right.every((r) => r.status === 200)).toBe(true);
  expect((await fetch(`${at.url}/rest/nothing`, { headers: basic("admin:geheim") })).status).toBe(404);
  expect(at.log()).not.toContain("geheim");
});

test("roles: a viewer reads, an operator runs tasks, an administrator changes the quota", async () => {
  running.upstream = await startUpstream();
  const users = ["admin", "operator", "viewer"]
    .map((role) => `  - { name: ${role}, password: pw, roles: [${role}] }`)
    .join("\n");
  const at = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: "a" }], `users:\n${users}`),
  });
  running.server = at;
  const status = async (user: string, method: string, path: string, body?: string) =>
    (await fetch(at.url + path, { method, headers: basic(`${user}:pw`), ...(body === undefined ? {} : { body }) }))
      .status;
  expect(await status("viewer", "GET", "/rest/seed.json")).toBe(200);
  expect(await status("viewer", "POST", "/rest/seed", "kill_all=all")).toBe(403);
  expect(await status("viewer", "DELETE", "/rest/seed")).toBe(405);
  expect(await status("operator", "POST", "/rest/seed", "kill_all=all")).toBe(200);
  expect(await status("operator", "PUT", "/rest/diskquota.json", "{}")).toBe(403);
  expect(await status("operator", "POST", "/rest/reload")).toBe(403);
  expect(await status("admin", "PUT", "/rest/diskquota.json", '{"cacheQuotaConfiguration":{}}')).toBe(200);
  expect(await status("admin", "POST", "/rest/reload")).toBe(200);
});

test("a reload takes a good file, and a bad one changes nothing and says why", async () => {
  running.upstream = await startUpstream();
  const at = await startServer({ configuration: smallTiles(running.upstream.url, [{ name: "a" }]) });
  running.server = at;
  const file = join(at.dataDir, "nuthatch.yaml");
  writeFileSync(file, smallTiles(running.upstream.url, [{ name: "b" }]));
  expect((await fetch(`${at.url}/rest/reload`, { method: "POST" })).status).toBe(200);
  expect((await fetch(`${at.url}/rest/seed/b.json`)).status).toBe(200);
  expect((await fetch(`${at.url}/rest/seed/a.json`)).status).toBe(400);
  writeFileSync(file, "layers: [{ nam: c }]");
  const bad = await fetch(`${at.url}/rest/reload`, { method: "POST" });
  expect(bad.status).toBe(400);
  expect(await bad.text()).toMatch(/nam/);
  expect((await fetch(`${at.url}/rest/seed/b.json`)).status).toBe(200);
});

test("a GWC cache that is copied in by hand is served, and a seed fetches only missing tiles", async () => {
  running.upstream = await startUpstream();
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  const directory = join(dataDir, "tiles", "ws_roads", "EPSG_900913_02", "0_0");
  mkdirSync(directory, { recursive: true });
  for (const name of ["00_00", "01_00", "00_01", "01_01"])
    writeFileSync(join(directory, `${name}.png`), picture(256, 256));
  const at = await startServer({ dataDir, configuration: smallTiles(running.upstream.url) });
  running.server = at;
  const hit = await fetch(`${at.url}/xyz/ws:roads/2/0/3.png`);
  expect([hit.status, hit.headers.get("geowebcache-cache-result")]).toEqual([200, "HIT"]);
  const job = await ended(at, await seed(at, "ws:roads", { gridSetId: "EPSG:900913", zoomStart: 2, zoomStop: 2 }));
  expect(job.tiles).toMatchObject({ total: 16, stored: 12, skipped: 4 });
  expect((await usage(at)).total.tiles).toBe(16);
  // The existing file is unchanged.
  expect(readFileSync(join(directory, "00_00.png")).equals(picture(256, 256))).toBe(true);
});

test("hits carry GWC's headers and a strong ETag, and conditional requests are answered with 304", async () => {
  running.upstream = await startUpstream();
  const at = await startServer({ configuration: smallTiles(running.upstream.url) });
  running.server = at;
  const url = `${at.url}/xyz/ws:roads/3/1/2.png`;
  const miss = await fetch(url);
  expect(miss.headers.get("geowebcache-cache-result")).toBe("MISS");
  const hit = await fetch(url);
  expect(Object.fromEntries(hit.headers)).toMatchObject({
    "geowebcache-cache-result": "HIT",
    "geowebcache-tile-index": "[1, 5, 3]",
    "geowebcache-gridset": "EPSG:900913",
    "geowebcache-crs": "EPSG:900913",
    "access-control-allow-origin": "*",
    "content-type": "image/png",
  });
  const etag = hit.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[^"]+"$/);
  expect((await fetch(url, { headers: { "If-None-Match": etag } })).status).toBe(304);
  expect((await fetch(url, { headers: { "If-Modified-Since": hit.headers.get("last-modified") ?? "" } })).status).toBe(
    304,
  );
  expect((await fetch(`${at.url}/xyz/ws:roads/3/9/2.png`)).status).toBe(404);
  expect((await fetch(`${at.url}/xyz/ws:roads/3/x/2.png`)).status).toBe(400);
  expect(
    (await fetch(`${at.url}/service/wmts/rest/ws:roads/EPSG:900913/EPSG:900913:3/2/1?format=image/png`)).headers.get(
      "geowebcache-cache-result",
    ),
  ).toBe("HIT");
  expect(
    (await fetch(`${at.url}/service/tms/1.0.0/ws:roads@EPSG%3A900913@png/3/1/5.png`)).headers.get(
      "geowebcache-cache-result",
    ),
  ).toBe("HIT");
});

test("two thousand fuzzed requests cause no 5xx, no hang, and change no configuration", async () => {
  const at = await startServer();
  running.server = at;
  const before = await (await fetch(`${at.url}/rest/diskquota.xml`)).text();
  let state = 7;
  const random = (n: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % n;
  };
  const paths = [
    "/rest/seed/topp:states.xml",
    "/rest/seed/topp:states.json",
    "/rest/seed",
    "/rest/seed.json",
    "/rest/masstruncate",
    "/rest/diskquota.xml",
    "/rest/diskquota.json",
    "/api/v1/jobs",
    "/service/wmts",
    "/xyz/topp:states/1/0/0.png",
    "/service/wms",
    "/service/tms/1.0.0/a",
  ];
  const bodies = [
    "<seedRequest><zoomStart>",
    '{"seedRequest":{"type":"trun',
    "<cacheQuotaConfiguration><maxConcurrentCleanUps>-",
    "kill_all=",
    "<truncateLayer>",
    "\u0000\u00ff",
    "[[[[[[",
    '{"cacheQuotaConfiguration":{"enabled":',
  ];
  const noise = (): string => Array.from({ length: random(24) }, () => String.fromCharCode(32 + random(95))).join("");
  const statuses: number[] = [];
  for (let batch = 0; batch < 50; batch++) {
    const answers = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const method = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"][random(6)] ?? "GET";
        const path = `${paths[random(paths.length)]}${random(3) === 0 ? encodeURIComponent(noise()) : ""}${random(3) === 0 ? `?${encodeURIComponent(noise())}=${encodeURIComponent(noise())}` : ""}`;
        const body =
          method === "GET" || method === "OPTIONS" ? undefined : `${bodies[random(bodies.length)]}${noise()}`;
        const response = await fetch(at.url + path, {
          method,
          ...(body === undefined ? {} : { body }),
          signal: AbortSignal.timeout(10_000),
        });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    statuses.push(...answers);
  }
  expect(statuses.filter((s) => s >= 500)).toEqual([]);
  expect(await (await fetch(`${at.url}/rest/diskquota.xml`)).text()).toBe(before);
});
