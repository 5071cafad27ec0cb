import fc from "fast-check";
import { expect, test } from "vitest";
import { startProtocols } from "../../../../test/support/tile-protocols.ts";

test("quadkeys, GWC's ve, gmaps and mgmaps lead to the tiles of the web's grid set", async () => {
  await using protocols = await startProtocols();
  // Bing's own example: quadkey 213 is x 3, y 5 of level 3. Internal rows count from the bottom.
  for (const address of [
    "/quadkey/topp:states/213.png",
    "/service/ve?layers=topp:states&quadkey=213&format=image/png",
    "/service/ve?LAYERS=topp:states&QuadKey=213",
    "/service/gmaps?layers=topp:states&zoom=3&x=3&y=5&format=image/png",
    "/service/mgmaps?layers=topp:states&zoom=14&x=3&y=5&format=image/png",
  ]) {
    const { status } = await protocols.request(address);
    expect([address, status, protocols.reader.requests.pop()]).toEqual([
      address,
      200,
      expect.objectContaining({ index: { x: 3, y: 2, z: 3 } }),
    ]);
  }
});

test("a quadkey is its tile's, whatever the tile", async () => {
  await using protocols = await startProtocols();
  const tile = fc
    .integer({ min: 1, max: 23 })
    .chain((z) => fc.tuple(fc.constant(z), fc.nat(2 ** z - 1), fc.nat(2 ** z - 1)));
  await fc.assert(
    fc.asyncProperty(tile, async ([z, x, y]) => {
      let key = "";
      for (let level = z - 1; level >= 0; level--)
        key += String((Math.floor(x / 2 ** level) % 2) + 2 * (Math.floor(y / 2 ** level) % 2));
      await protocols.request(`/quadkey/topp:states/${key}.png`);
      expect(protocols.reader.requests.pop()?.index).toEqual({ z, x, y: 2 ** z - 1 - y });
    }),
    { numRuns: 50 },
  );
});

test("a malformed address is 400, an unknown one 404", async () => {
  await using protocols = await startProtocols();
  for (const [address, status, words] of [
    ["/quadkey/topp:states/214.png", 400, 'got "214"'],
    ["/quadkey/topp:states/.png", 400, "quadkey"],
    ["/quadkey/topp:states/21", 400, "extension"],
    ["/quadkey/nope/21.png", 404, "Unknown layer: nope"],
    ["/quadkey/img%20states/21.jpeg", 404, "has no EPSG:900913"],
    ["/quadkey/topp:states/21/3.png", 404, "/quadkey/{layer}"],
    ["/service/gmaps?layers=topp:states&zoom=3&x=8&y=0", 404, "outside"],
    ["/service/gmaps?layers=topp:states&zoom=3&x=-1&y=0", 400, "x: expected"],
    ["/service/mgmaps?layers=topp:states&zoom=18&x=0&y=0", 400, "0 to 17"],
    ["/service/ve?layers=topp:states", 400, "quadkey"],
  ] as const) {
    const reply = await protocols.request(address);
    expect([address, reply.status, reply.body]).toEqual([address, status, expect.stringContaining(words)]);
  }
});
