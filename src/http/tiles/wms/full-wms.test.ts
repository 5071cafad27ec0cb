import { expect, test } from "vitest";
import { catalogue, startProtocols } from "../../../../test/support/tile-protocols.ts";
import { parseQuery } from "../../request/query.ts";
import { parseWms } from "./wms-address.ts";

const MAP = "/service/wms?SERVICE=WMS&REQUEST=GetMap&LAYERS=full&SRS=EPSG:4326&FORMAT=image/png&STYLES=";

test("a map of any box is made of the tiles of the level that is fine enough", async () => {
  await using protocols = await startProtocols();
  // Level 1 has 0.3515625 degrees a pixel, which is too coarse for 0.2, so level 2 is used.
  const reply = await protocols.request(`${MAP}&BBOX=-10,-10,70,50&WIDTH=400&HEIGHT=300`);
  expect(reply.status).toBe(200);
  expect(reply.headers["geowebcache-cache-result"]).toBe("WMS");
  expect(reply.body).toBe("9 tiles in 455 x 341");
  expect(new Set(protocols.reader.requests.map(({ index }) => index.z))).toEqual(new Set([2]));
  const again = await protocols.request(`${MAP}&BBOX=-10,-10,70,50&WIDTH=400&HEIGHT=300`, {
    headers: { "if-none-match": reply.headers.etag ?? "" },
  });
  expect(again.status).toBe(304);
});

test("exactly one tile stays one tile", async () => {
  await using protocols = await startProtocols();
  const reply = await protocols.request(`${MAP}&BBOX=-180,-90,0,90&WIDTH=256&HEIGHT=256`);
  expect(reply.headers["geowebcache-cache-result"]).toBe("HIT");
});

test("a box beside the layer is an empty map; one too large, or too many pixels, is refused", async () => {
  await using protocols = await startProtocols();
  const beside = await protocols.request(`${MAP}&BBOX=200,0,210,10&WIDTH=256&HEIGHT=256`);
  expect([beside.status, beside.body]).toEqual([200, "0 tiles in 455 x 455"]);
  const wide = await protocols.request(`${MAP}&BBOX=0,0,10,10&WIDTH=5000&HEIGHT=10`);
  expect([wide.status, wide.body]).toEqual([400, expect.stringContaining("at most 4096 x 4096")]);
  const far = await protocols.request(`${MAP}&BBOX=-1e9,-1e9,1e9,1e9&WIDTH=256&HEIGHT=256`);
  expect([far.status, far.body]).toEqual([400, expect.stringContaining("a map of at most 256 tiles")]);
  // A strip without a height has few pixels by its area, but many by its length.
  for (const [box, width, height] of [
    ["-1e12,0,1e12,1e-6", 256, 256],
    ["-1e11,0,1e11,1e-3", 4096, 1],
    ["0,-1e12,1e-6,1e12", 1, 4096],
  ]) {
    const strip = await protocols.request(`${MAP}&BBOX=${box}&WIDTH=${width}&HEIGHT=${height}`);
    expect([strip.status, strip.body]).toEqual([400, expect.stringMatching(/BBOX.*a map of at most 256 tiles/s)]);
  }
});

test("without fullWms a box that is no tile is refused, as in GWC", async () => {
  await using protocols = await startProtocols();
  const reply = await protocols.request(
    `${MAP.replace("full", "topp:states")}&BBOX=-10,-10,70,50&WIDTH=256&HEIGHT=256`,
  );
  expect([reply.status, reply.body]).toEqual([400, expect.stringContaining("the extent of one tile")]);
});

test("a box beside a tile's by more than half a pixel is no tile, nor is a tile's outside of the layer", async () => {
  await using protocols = await startProtocols();
  const requested = async (box: string) => {
    const { status, headers } = await protocols.request(`${MAP}&BBOX=${box}&WIDTH=256&HEIGHT=256`);
    return [status, headers["geowebcache-cache-result"]];
  };
  // Level 0 has 0.703125 degrees a pixel.
  expect(await requested("-179.7,-90,0.3,90")).toEqual([200, "HIT"]);
  expect(await requested("-179.6,-90,0.4,90")).toEqual([200, "WMS"]);
  expect(await requested("-180,-90,-0.4,90")).toEqual([200, "WMS"]);
  expect(await requested("180,-90,360,90")).toEqual([200, "WMS"]);
});

test("a map finer than the finest level is cut out of the pixels that it meets", async () => {
  await using protocols = await startProtocols();
  const reply = await protocols.request(`${MAP}&BBOX=10.00001,10.00001,10.00002,10.00002&WIDTH=256&HEIGHT=256`);
  expect([reply.status, reply.body]).toEqual([200, expect.stringMatching(/^[12] tiles? in [12] x [12]$/)]);
});

test.each([
  ["a wrong colour", "&BGCOLOR=red", 'BGCOLOR: expected 0xRRGGBB, got "red"'],
  ["a wrong transparency", "&TRANSPARENT=maybe", 'TRANSPARENT: expected TRUE or FALSE, got "maybe"'],
])("a map with %s is refused", async (_, asked, sentence) => {
  await using protocols = await startProtocols();
  const reply = await protocols.request(`${MAP}&BBOX=-10,-10,70,50&WIDTH=400&HEIGHT=300${asked}`);
  expect(reply.status).toBe(400);
  expect(reply.body.replaceAll("&quot;", '"')).toContain(sentence);
});

test.each([
  ["", [255, 255, 255]],
  ["&TRANSPARENT=TRUE", undefined],
  ["&TRANSPARENT=true&BGCOLOR=0x102030", undefined],
  ["&TRANSPARENT=FALSE", [255, 255, 255]],
  ["&transparent=false&bgcolor=%23102030", [16, 32, 48]],
  ["&BGCOLOR=0x102030", [16, 32, 48]],
])("a map that is asked for with %j has the background %j", (asked, background) => {
  const query = parseQuery(`${MAP.slice(MAP.indexOf("?") + 1)}&BBOX=-10,-10,70,50&WIDTH=400&HEIGHT=300${asked}`);
  if (!query.ok) throw new Error("the query is valid");
  const parsed = parseWms(catalogue, query.value);
  expect(parsed.ok && parsed.value.kind === "map" ? parsed.value.request.background : "no map").toEqual(background);
});
