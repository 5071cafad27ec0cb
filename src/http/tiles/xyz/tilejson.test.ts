import { expect, test } from "vitest";
import { startProtocols } from "../../../../test/support/tile-protocols.ts";

test("TileJSON says where the tiles of a layer are, also at GWC's address", async () => {
  await using protocols = await startProtocols();
  const reply = await protocols.request("/tilejson/topp:states");
  expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"]);
  expect(JSON.parse(reply.body)).toEqual({
    tilejson: "3.0.0",
    name: "topp:states",
    description: "Größe “x”",
    scheme: "xyz",
    tiles: [`${protocols.baseUrl}/xyz/topp%3Astates/EPSG%3A900913/{z}/{x}/{y}.png`],
    minzoom: 0,
    maxzoom: 23,
    bounds: [-180, -85.05, 180, 85.05].map((degrees) => expect.closeTo(degrees, 2)),
  });
  const other = JSON.parse((await protocols.request("/tilejson/topp:states/EPSG:4326?format=image/jpeg")).body);
  expect(other).toMatchObject({ minzoom: 1, maxzoom: 15, tiles: [expect.stringMatching(/EPSG%3A4326.*\.jpeg$/)] });
  for (const [address, style] of [
    ["tilejson/jpeg", ""],
    ["default/tilejson/jpeg", ""],
    ["pop/tilejson/jpeg", "\\?STYLES=pop&TIME=2020"],
  ] as const) {
    const gwc = JSON.parse((await protocols.request(`/service/wmts/rest/topp:states/${address}`)).body);
    expect(gwc.tiles).toEqual([expect.stringMatching(new RegExp(`EPSG%3A900913.*\\.jpeg${style}$`))]);
  }
  // The address in the document works.
  const tile = await protocols.request("/xyz/topp%3Astates/EPSG%3A900913/0/0/0.png");
  expect(tile.status).toBe(200);
});

test("WMTS by key and value has GWC's GetTileJSON", async () => {
  await using protocols = await startProtocols();
  const request = (query: string) => protocols.request(`/service/wmts?SERVICE=WMTS&REQUEST=GetTileJSON${query}`);
  const reply = await request("&LAYER=topp:states&STYLE=pop&TileMatrixSet=EPSG:4326&FORMAT=image/jpeg");
  expect(JSON.parse(reply.body)).toMatchObject({
    tiles: [`${protocols.baseUrl}/xyz/topp%3Astates/EPSG%3A4326/{z}/{x}/{y}.jpeg?STYLES=pop&TIME=2020`],
  });
  for (const [query, code, locator] of [
    ["", "MissingParameterValue", "LAYER"],
    ["&LAYER=nope", "InvalidParameterValue", "LAYER"],
    ["&LAYER=topp:states&TILEMATRIXSET=nope", "InvalidParameterValue", "TILEMATRIXSET"],
  ] as const) {
    const refused = await request(query);
    expect(refused.status).toBe(400);
    expect(refused.body).toContain(`exceptionCode="${code}" locator="${locator}"`);
  }
});

test("the parameters of a TileJSON are those of its tiles, and must be legal", async () => {
  await using protocols = await startProtocols();
  const { tiles } = JSON.parse(
    (await protocols.request("/tilejson/topp:states?STYLES=pop&TIME=2021&CQL_FILTER=A=%26")).body,
  );
  expect(tiles).toEqual([expect.stringMatching(/\.png\?CQL_FILTER=A%3D%26&STYLES=pop&TIME=2021$|STYLES=pop/)]);
  expect((await protocols.request(new URL(tiles[0].replace(/\{[zxy]\}/g, "0")).pathname)).status).toBe(200);
  expect((await protocols.request("/tilejson/topp:states?STYLES=zz")).status).toBe(400);
  expect((await protocols.request("/service/wmts/rest/topp:states/zz/tilejson/png")).status).toBe(400);
});

test("the bounds are those of the grid subset, whatever its CRS", async () => {
  await using protocols = await startProtocols();
  const boundsOf = async (path: string): Promise<readonly number[]> =>
    JSON.parse((await protocols.request(path)).body).bounds;
  expect(await boundsOf("/tilejson/topp:states/EPSG:4326")).toEqual([-124, 24, -66, 49]);
  const own = [-135.17, 30.83, -51.12, 62.15].map((degrees) => expect.closeTo(degrees, 1));
  expect(await boundsOf("/tilejson/topp:states/my:grid")).toEqual(own);
  expect(await boundsOf("/tilejson/limited")).toEqual([0, 0, expect.closeTo(0.898, 2), expect.closeTo(0.898, 2)]);
});

test("unknown layers, grid sets and formats are reported", async () => {
  await using protocols = await startProtocols();
  expect((await protocols.request("/tilejson/nope")).status).toBe(404);
  expect((await protocols.request("/tilejson/img%20states")).body).toContain("grid set: expected one of EPSG:4326");
  expect((await protocols.request("/tilejson/topp:states?format=gif")).status).toBe(400);
  expect((await protocols.request("/tilejson")).status).toBe(404);
});
