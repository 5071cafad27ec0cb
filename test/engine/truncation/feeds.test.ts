import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* Feeds that list the places where the data of a layer has changed (`updateSources`). */

interface Entry {
  readonly updated: string;
  readonly where: string;
}

let upstream: Upstream;
let server: TestServer;
/** The entries of each feed, by its path. A feed without entries is 404. */
const feeds = new Map<string, readonly Entry[]>();
const asked: { readonly path: string; readonly since: string; readonly authorization: string }[] = [];
const feedServer = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://any");
  asked.push({
    path: pathname,
    since: searchParams.get("since") ?? "",
    authorization: request.headers.authorization ?? "",
  });
  const entries = feeds.get(pathname);
  response.writeHead(entries === undefined ? 404 : 200, { "Content-Type": "application/atom+xml" });
  response.end(
    `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml">${(
      entries ?? []
    )
      .map(({ updated, where }) => `<entry><updated>${updated}</updated><georss:where>${where}</georss:where></entry>`)
      .join("")}</feed>`,
  );
});
const polls = (path: string): number => asked.filter((one) => one.path === path).length;

const point = (x: number, y: number): string => `<gml:Point><gml:pos>${x} ${y}</gml:pos></gml:Point>`;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.behaviour = renderAfter(0);
  await new Promise<void>((resolve) => feedServer.listen(0, "127.0.0.1", resolve));
  const feed = `http://127.0.0.1:${(feedServer.address() as AddressInfo).port}`;
  const layer = (name: string, source: string): string => `
  - name: ${name}
    source: { type: wms, url: "${upstream.url}" }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }]
    formats: [image/png, image/jpeg]
    updateSources: [${source}]`;
  server = await startServer({
    configuration: `layers:${layer(
      "often",
      `{ type: georss, url: "${feed}/often?since={lastUpdate}", pollSeconds: 1, username: u, password: verysecret }`,
    )}${layer("seldom", `{ type: georss, url: "${feed}/seldom", pollSeconds: 86400, operation: reseed, format: image/png }`)}`,
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
  feedServer.closeAllConnections();
  await new Promise((resolve) => feedServer.close(resolve));
});

async function cacheResult(layer: string, z: number, x: number, y: number): Promise<string | null> {
  const answer = await fetch(`${server.url}/xyz/${layer}/${z}/${x}/${y}.png`, {
    headers: { "Cache-Control": "only-if-cached" },
  });
  await answer.arrayBuffer();
  return answer.status === 504 ? "absent" : answer.headers.get("geowebcache-cache-result");
}

test("the tiles in and around a new entry are truncated, the others stay, and a restart repeats nothing", async () => {
  const range = {
    gridSetId: "EPSG:900913",
    zoomStart: 0,
    zoomStop: 5,
    format: "image/png",
    threadCount: 2,
    type: "seed",
  };
  for (const layer of ["often", "seldom"])
    expect((await ended(server, await seed(server, layer, range))).tiles.stored).toBe(1365);
  // Until here both feeds are 404, which is logged and tried again.
  await expect.poll(() => polls("/often")).toBeGreaterThan(0);
  expect(server.log()).toContain("a feed cannot be read");
  expect(server.log()).not.toContain("verysecret");

  feeds.set("/often", [{ updated: "2026-01-01T00:00:00Z", where: point(1_000_000, 1_000_000) }]);
  // The point is in column 16 and row 15 of level 5, from the top.
  await expect.poll(() => cacheResult("often", 5, 16, 15)).toBe("absent");
  expect(await cacheResult("often", 5, 17, 14)).toBe("absent");
  expect(await cacheResult("often", 5, 18, 15)).toBe("HIT");
  expect(await cacheResult("often", 0, 0, 0)).toBe("absent");
  expect(await cacheResult("seldom", 5, 16, 15)).toBe("HIT");
  await expect.poll(() => asked.at(-1)?.since).toBe("2026-01-01T00:00:00Z");
  expect(asked.at(-1)?.authorization).toBe(`Basic ${Buffer.from("u:verysecret").toString("base64")}`);

  const before = polls("/seldom");
  server = await server.restart("SIGKILL");
  const often = polls("/often");
  await expect.poll(() => polls("/often")).toBeGreaterThan(often + 1);
  expect(polls("/seldom"), "its time has not come").toBe(before);
  expect(asked.at(-1)?.since).toBe("2026-01-01T00:00:00Z");
  const { jobs } = JSON.parse(await (await fetch(`${server.url}/api/v1/jobs?type=truncate&layer=often`)).text());
  expect(jobs, "the same entry is taken over once").toHaveLength(1);
  expect(jobs[0]).toMatchObject({ layer: "often", state: "done", gridSet: "EPSG:900913", format: null });
});

test("a layer whose feed is configured again is polled at once, and its tiles are seeded again", async () => {
  const polygon =
    "<gml:Polygon><gml:exterior><gml:LinearRing><gml:posList>-100 -100 100 -100 100 100 -100 100 -100 -100</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon>";
  // The entries are there before the layer: its feed may be polled before the PUT is answered.
  feeds.set("/made", [{ updated: "2026-02-02T00:00:00Z", where: polygon }]);
  const put = await fetch(`${server.url}/rest/layers/made`, {
    method: "PUT",
    headers: { "Content-Type": "text/xml" },
    body: `<wmsLayer><name>made</name><mimeFormats><string>image/png</string></mimeFormats><gridSubsets><gridSubset><gridSetName>EPSG:900913</gridSetName><zoomStop>3</zoomStop></gridSubset></gridSubsets>
      <updateSources><geoRssFeed><feedUrl>http://127.0.0.1:${(feedServer.address() as AddressInfo).port}/made?since=\${lastUpdate}</feedUrl><gridSetId>EPSG:900913</gridSetId><pollInterval>86400</pollInterval><operation>reseed</operation><seedingThreads>2</seedingThreads><maxMaskLevel>10</maxMaskLevel><httpPassword>geheim</httpPassword></geoRssFeed></updateSources>
      <wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`,
  });
  expect(put.status).toBe(200);
  const shown = await (await fetch(`${server.url}/rest/layers/made.xml`)).text();
  expect(shown).toContain("<maxMaskLevel>10</maxMaskLevel>");
  expect(shown).toMatch(/since=\$\{lastUpdate\}/);
  expect(shown).toContain("<httpPassword>***</httpPassword>");
  const jobs = async () => JSON.parse(await (await fetch(`${server.url}/api/v1/jobs?layer=made`)).text()).jobs;
  await expect
    .poll(async () => (await jobs()).map(({ type, state }: { type: string; state: string }) => `${type} ${state}`))
    .toEqual(["seed done", "truncate done"]);
  expect((await jobs())[0].tasks).toHaveLength(2);
  // The four tiles around the origin and those beside them, of each level.
  expect((await jobs())[0].tiles.stored).toBe(1 + 4 + 16 + 16);
});

test.each([
  ["<pollInterval>soon</pollInterval>", "updateSources[0].pollInterval: expected seconds, or -1"],
  [
    "<pollInterval>5</pollInterval><operation>burn</operation>",
    "updateSources[0].operation: expected truncate, seed or reseed",
  ],
  [
    "<pollInterval>5</pollInterval><gridSetId>EPSG:4326</gridSetId>",
    "updateSources[0].gridSetId: expected a grid set of the layer",
  ],
  [
    "<pollInterval>5</pollInterval><format>image/gif</format>",
    "updateSources[0].format: expected a format of the layer",
  ],
])("%s is 400 with the path", async (fields, words) => {
  const answer = await fetch(`${server.url}/rest/layers/bad`, {
    method: "PUT",
    headers: { "Content-Type": "text/xml" },
    body: `<wmsLayer><name>bad</name><gridSubsets><gridSubset><gridSetName>EPSG:900913</gridSetName></gridSubset></gridSubsets><updateSources><geoRssFeed><feedUrl>http://127.0.0.1/feed</feedUrl>${fields}</geoRssFeed></updateSources><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`,
  });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(words);
});
