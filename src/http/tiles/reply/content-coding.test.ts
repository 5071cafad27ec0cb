import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tileEtag } from "../../../cache/etag.ts";
import { accepts, codingFor, PackedBodies, packedTag } from "./content-coding.ts";

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["identity", "identity"],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["GZIP;Q=1", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["br;q=0.5, gzip;q=0.5", "br"],
  ["br;q=0, gzip", "gzip"],
  ["*", "br"],
  ["*;q=0.5, gzip", "gzip"],
  ["gzip;q=0, *", "br"],
  ["br;q=0, gzip;q=0", "identity"],
  ["gzip;q=0.5, identity", "identity"],
  ["identity;q=0.1, gzip;q=0.2", "gzip"],
  ["gzip;q=2, br;q=x", "identity"],
  ["deflate", "identity"],
])("a client that sends %j gets %s", (header, expected) => {
  expect(codingFor(header, 1000)).toBe(expected);
});

test("a client accepts the codings that it names with a weight", () => {
  for (const header of ["gzip", "br, GZIP;q=0.1", "x-gzip"]) expect(accepts(header, "gzip"), header).toBe(true);
  for (const header of [undefined, "", "br", "gzip;q=0", "gzip; q=0.000", "*"])
    expect(accepts(header, "gzip"), header).toBe(false);
});

test("what fits into a packet is never packed, and no header is too strange", () => {
  expect(codingFor("gzip", 255)).toBe("identity");
  fc.assert(
    fc.property(fc.string(), (header) => {
      expect(["br", "gzip", "identity"]).toContain(codingFor(header, 1000));
    }),
  );
});

test("each coding of the same bytes has a tag of its own", () => {
  expect((["identity", "gzip", "br"] as const).map((coding) => packedTag('"abc"', coding))).toEqual([
    '"abc"',
    '"abc-gzip"',
    '"abc-br"',
  ]);
});

test("a body is compressed once for concurrent requests, and later served from memory", async () => {
  const bodies = new PackedBodies(100_000);
  const bytes = Buffer.alloc(1000, "tile ");
  const first = bodies.get(bytes, '"a"', "gzip");
  expect(bodies.get(bytes, '"a"', "gzip")).toBe(first);
  const packed = await first;
  expect(gunzipSync(packed).equals(bytes)).toBe(true);
  expect(bodies.get(bytes, '"a"', "gzip")).toBe(packed);
  expect(bodies.get(bytes, '"a"', "br")).toBeInstanceOf(Promise);
});

/**
 * Returns different bytes with the same entity tag: adding a multiple of CRC-32's generator does not change the
 * checksum.
 */
function forged(bytes: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const generator = (1n << 32n) | 0x04c11db7n;
  for (let bit = 0; bit <= 32; bit++)
    if ((generator >> BigInt(32 - bit)) & 1n) changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

test("bytes that were made to have the tag of others are never sent for them", async () => {
  const bodies = new PackedBodies(100_000);
  const secret = Buffer.alloc(1000, "secret ");
  const chosen = forged(secret);
  const tag = tileEtag(secret);
  expect(tileEtag(chosen)).toBe(tag);
  const [first, second] = [bodies.get(secret, tag, "gzip"), bodies.get(chosen, tag, "gzip")];
  expect(gunzipSync(await first).equals(secret)).toBe(true);
  expect(gunzipSync(await second).equals(chosen)).toBe(true);
  for (const bytes of [secret, chosen, secret])
    expect(gunzipSync(await bodies.get(bytes, tag, "gzip")).equals(bytes)).toBe(true);
});

test("no more bytes are cached than allowed", async () => {
  const bodies = new PackedBodies(3000);
  const bytes = Buffer.alloc(1000, "tile ");
  for (const tag of ['"a"', '"b"', '"c"']) await bodies.get(bytes, tag, "gzip");
  expect(bodies.get(bytes, '"c"', "gzip")).not.toBeInstanceOf(Promise);
  expect(bodies.get(bytes, '"a"', "gzip")).toBeInstanceOf(Promise);
});
