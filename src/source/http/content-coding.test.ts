import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { SourceError } from "../source.ts";
import { decodedBody } from "./content-coding.ts";

const LIMIT = 100_000;
const TEXT = Buffer.from('{"type":"FeatureCollection","name":"Straße"}');
const PNG = Buffer.from("\x89PNG\r\n\x1a\n and more", "latin1");
const VECTOR = Buffer.from([0x1a, 0x05, 0x78, 0x02, 0x0a, 0x01, 0x61]);
const RANDOM = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919) % 251));

async function failureOf(body: Uint8Array, codings: string): Promise<string> {
  try {
    await decodedBody(body, codings, LIMIT);
  } catch (error) {
    if (error instanceof SourceError) return `${error.failure}: ${error.message}`;
    throw error;
  }
  return "decoded";
}

describe.each([
  ["a text", TEXT],
  ["a picture", PNG],
  ["a vector tile", VECTOR],
  ["any bytes", RANDOM],
])("%s", (_, body) => {
  test.each([
    ["gzip", gzipSync(body)],
    ["X-GZIP", gzipSync(body)],
    ["deflate", deflateSync(body)],
    ["deflate", deflateRawSync(body)],
    ["br", brotliCompressSync(body)],
    ["gzip, gzip", gzipSync(gzipSync(body))],
    ["deflate, br , gzip", gzipSync(brotliCompressSync(deflateSync(body)))],
    ["identity", body],
    ["none", body],
    ["UTF-8", body],
    ["", body],
  ])("behind %j is unpacked", async (codings, coded) => {
    expect(Buffer.from(await decodedBody(coded, codings, LIMIT))).toEqual(body);
  });
});

test.each(["gzip", "deflate", "br"])("a body that is plain in spite of %s is unchanged", async (coding) => {
  for (const body of [TEXT, PNG, VECTOR, Buffer.alloc(0)]) expect(await decodedBody(body, coding, LIMIT)).toBe(body);
});

test("a body that cannot be unpacked is a failure, and is never passed on", async () => {
  const bomb = Buffer.alloc(LIMIT + 1);
  for (const [coding, coded] of [
    ["gzip", gzipSync(bomb)],
    ["deflate", deflateSync(bomb)],
    ["br", brotliCompressSync(bomb)],
    ["br, gzip", gzipSync(brotliCompressSync(bomb))],
  ] as const)
    expect(await failureOf(coded, coding)).toBe("too_large: the answer is larger than 100000 bytes");
  expect(await failureOf(gzipSync(RANDOM).subarray(0, 60), "gzip")).toBe(
    "truncated: the gzip data of the answer is cut off",
  );
  expect(await failureOf(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 7, 7, 7]), "gzip")).toBe(
    "wrong_type: the gzip data of the answer is damaged",
  );
  expect(await failureOf(Buffer.from([0xff, 0xfe, 0xff, 0xff]), "br")).toMatch(/^wrong_type: the br data/);
  expect(await failureOf(TEXT, "zstd")).toBe("wrong_type: the answer is compressed with zstd");
  expect(await failureOf(TEXT, "gzip, gzip, gzip, gzip, gzip, gzip")).toMatch(/more than 5 content codings/);
});
