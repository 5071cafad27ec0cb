import fc from "fast-check";
import { expect, test } from "vitest";
import { decodePack, encodePack, parseTileName } from "./tile-pack.ts";

const tile = fc.record({
  name: fc.tuple(fc.nat(20), fc.nat(99), fc.nat(99)).map((at) => at.join("/")),
  bytes: fc.uint8Array({ maxLength: 40 }),
});

test("what is packed is unpacked as it was", () => {
  fc.assert(
    fc.property(fc.array(tile, { maxLength: 20 }), (tiles) => {
      const pack = decodePack(encodePack(tiles, { next: "1/0/0" }), 20);
      expect(pack.ok && pack.value.head["next"]).toBe("1/0/0");
      const read = pack.ok ? pack.value.tiles.map(({ name, bytes }) => ({ name, bytes: Uint8Array.from(bytes) })) : [];
      expect(read).toEqual(tiles.map(({ name, bytes }) => ({ name, bytes: Uint8Array.from(bytes) })));
    }),
  );
});

test.each([
  ["nothing", "", "expected a line of JSON"],
  ["no line", '{"tiles":[]}', "expected a line of JSON"],
  ["another document", '{"tile":[]}\n', "expected a line of JSON"],
  ["no JSON", "tiles\n", "expected a line of JSON"],
  ["too many tiles", '{"tiles":[["0/0/0",1],["0/0/0",1],["0/0/0",1]]}\nabc', "expected at most 2 tiles, got 3"],
  ["a tile without a size", '{"tiles":[["0/0/0"]]}\n', 'expected ["z/x/y", bytes] for each tile'],
  ["a size below 0", '{"tiles":[["0/0/0",-1]]}\na', 'expected ["z/x/y", bytes] for each tile'],
  ["a body that ends too early", '{"tiles":[["0/0/0",3]]}\nab', 'the body ends within the tile "0/0/0"'],
  ["bytes behind the last tile", '{"tiles":[["0/0/0",1]]}\nab', "1 bytes belong to no tile"],
])("%s is refused", (_, body, message) => {
  const pack = decodePack(Buffer.from(body), 2);
  expect(pack.ok ? "" : pack.error).toContain(message);
});

test("the name of a tile is z/x/y and nothing else", () => {
  expect(parseTileName("3/4/2")).toEqual({ z: 3, x: 4, fromTop: 2 });
  for (const name of ["", "3/4", "3/4/-1", "../4/2", "3/4/2.png", "03333/4/2", "3/4/2/1"])
    expect(parseTileName(name), name).toBeUndefined();
});
