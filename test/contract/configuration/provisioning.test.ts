import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, startServer, type TestServer } from "../../support/server/server.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* The requests of programs that provision GeoWebCache: the order, headers and addresses are theirs. */

let upstream: Upstream;
let server: TestServer;

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startServer({ configuration: 'server: { mounts: ["/", "/geowebcache", "/gwc"] }\nlayers: []\n' });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

async function send(method: string, path: string, body?: string, type = "text/xml") {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { "Content-Type": type } }),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

const layerXml = (name: string): string =>
  `<wmsLayer><name>${name}</name><mimeFormats><string>image/png</string></mimeFormats>` +
  "<gridSubsets><gridSubset><gridSetName>EPSG:900913</gridSetName></gridSubset></gridSubsets>" +
  `<metaWidthHeight><int>1</int><int>1</int></metaWidthHeight><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`;

// geoservercloud 0.8.14 (PyPI): `create_gridset`, then the requests of `publish_gwc_layer` before its PUT, and `delete_gwc_layer`.
test("the requests of geoservercloud make a grid set once, reload, and ask for a layer", async () => {
  const path = "/gwc/rest/gridsets/EPSG:2056.xml";
  const gridSet =
    "<gridSet><name>EPSG:2056</name><srs><number>2056</number></srs><extent><coords><double>2420000</double>" +
    "<double>1030000</double><double>2900000</double><double>1350000</double></coords></extent>" +
    "<resolutions><double>4000</double><double>2000</double></resolutions></gridSet>";
  expect((await send("GET", path)).status).toBe(404);
  expect((await send("PUT", path, gridSet, "application/xml")).status).toBe(201);
  expect((await send("GET", path)).status).toBe(200);
  expect((await send("PUT", path, gridSet, "application/xml")).status).toBe(200);
  expect((await send("POST", "/gwc/rest/reload", "reload_configuration=1", "application/json")).status).toBe(200);
  const missing = await send("GET", "/gwc/rest/layers/ws:roads.json");
  expect([missing.status, missing.text]).toEqual([404, "Unknown layer: ws:roads"]);
  expect((await send("DELETE", "/gwc/rest/layers/ws:roads.json")).status).toBe(404);
});

test("a loop that PUTs the same layer again changes nothing: neither the document, nor its tag, nor its tiles", async () => {
  const path = "/geowebcache/rest/layers/ws:loop.xml";
  const tag = async () => (await send("GET", "/api/v1/layers/ws:loop")).headers.get("etag");
  expect((await send("PUT", path, layerXml("ws:loop"))).text).toBe("layer saved");
  const [first, firstTag] = [(await send("GET", path)).text, await tag()];
  await send("GET", "/xyz/ws:loop/0/0/0.png");
  for (let n = 0; n < 3; n++) expect((await send("PUT", path, layerXml("ws:loop"))).status).toBe(200);
  expect((await send("PUT", path, first)).status).toBe(200);
  expect([(await send("GET", path)).text, await tag()]).toEqual([first, firstTag]);
  const tile = await send("GET", "/xyz/ws:loop/0/0/0.png");
  expect(tile.headers.get("geowebcache-cache-result")).toBe("HIT");
});

test("a layer is seeded right after it was made, as GeoServer's scripts do", async () => {
  expect((await send("PUT", "/geowebcache/rest/layers/ws:new.xml", layerXml("ws:new"))).status).toBe(200);
  const seedRequest =
    "<seedRequest><name>ws:new</name><srs><number>900913</number></srs><zoomStart>0</zoomStart><zoomStop>2</zoomStop>" +
    "<format>image/png</format><type>seed</type><threadCount>2</threadCount></seedRequest>";
  const seeded = await send("POST", "/geowebcache/rest/seed/ws:new.xml", seedRequest);
  expect([seeded.status, seeded.text]).toEqual([200, ""]);
  const job = await ended(server, Number(seeded.headers.get("x-job-id")));
  expect(job).toMatchObject({ outcome: "done", tiles: { total: 21, stored: 21, failed: 0 } });
});
