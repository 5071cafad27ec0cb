import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type DataFormat, formatOf } from "../../layer/format.ts";
import { SourceError } from "../source.ts";
import { DATA_LIMIT, dataOf, tileData } from "./tile-data.ts";

function data(mimeType: string): DataFormat {
  const found = formatOf(mimeType);
  if (found?.kind !== "data") throw new Error(mimeType);
  return found;
}
const vector = data("application/vnd.mapbox-vector-tile");
const geojson = data("application/json;type=geojson");

/** A tile of one layer without features: name "a", version 2. */
const TILE = Buffer.from([0x1a, 0x05, 0x0a, 0x01, 0x61, 0x78, 0x02]);

function failure(bytes: Uint8Array, format: DataFormat = vector): string {
  try {
    tileData(bytes, format);
  } catch (error) {
    if (error instanceof SourceError) return `${error.failure}: ${error.message}`;
    throw error;
  }
  return "kept";
}

test("a tile is stored byte by byte", () => {
  expect(tileData(TILE, vector)).toBe(TILE);
  const json = Buffer.from('\n {"type":"FeatureCollection","features":[]}\n');
  expect(tileData(json, geojson)).toBe(json);
});

test("a tile that arrives compressed with gzip is stored uncompressed", () => {
  expect(tileData(gzipSync(TILE), vector)).toEqual(TILE);
});

test("a vector tile without bytes is no tile, and JSON without bytes is a failure", () => {
  for (const bytes of [Buffer.alloc(0), gzipSync("")]) {
    expect(tileData(bytes, vector)).toBeUndefined();
    expect(failure(bytes, geojson)).toBe("empty: the tile is empty");
  }
});

describe("an answer that is not a tile is never stored", () => {
  test.each([
    [
      "an exception document",
      Buffer.from("<?xml version='1.0'?><ServiceExceptionReport><ServiceException>no layer</ServiceException>"),
      "exception: no layer",
    ],
    ["one in gzip", gzipSync("<ServiceException>no layer</ServiceException>"), "exception: no layer"],
    ["a page", Buffer.from("\n<!DOCTYPE html><p>Sign in</p>"), "exception: Sign in"],
    ["a JSON error", Buffer.from('{"error":"no"}'), 'exception: {"error":"no"}'],
    ["a text", Buffer.from("Not Found"), "wrong_type: the answer is no vector tile"],
    [
      "a picture",
      Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
      "wrong_type: a picture, not application/vnd.mapbox-vector-tile",
    ],
    ["gzip that is cut off", gzipSync(TILE).subarray(0, 15), "truncated: the gzip data is cut off"],
    [
      "gzip that is damaged",
      Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 7, 7, 7]),
      "wrong_type: the gzip data is damaged",
    ],
    ["a bomb", gzipSync(Buffer.alloc(DATA_LIMIT + 1, 0x1a)), `too_large: the tile is larger than ${DATA_LIMIT} bytes`],
    ["too much", Buffer.alloc(DATA_LIMIT + 1, 0x1a), `too_large: the tile is larger than ${DATA_LIMIT} bytes`],
  ])("%s", (_, bytes, expected) => {
    expect(failure(bytes)).toBe(expected);
  });

  test("JSON that ends in its middle, or is something else", () => {
    expect(failure(Buffer.from('{"type":"Feat'), geojson)).toBe("truncated: the JSON has no end");
    expect(failure(Buffer.from("grid({})"), geojson)).toBe("wrong_type: the answer is no JSON");
    expect(failure(Buffer.from("<html>no</html>"), geojson)).toBe("exception: no");
  });
});

test("an answer counts by its status first, and a page is a page whatever its bytes", () => {
  const answer = (status: number, contentType: string, body: Buffer) => () =>
    dataOf({ status, contentType, retryAfter: undefined, body }, vector);
  expect(answer(200, "application/x-protobuf", TILE)()).toBe(TILE);
  expect(answer(404, "text/plain", Buffer.from("no such tile"))).toThrow("status 404: no such tile");
  expect(answer(503, "text/plain", Buffer.alloc(0))).toThrow("status 503");
  expect(answer(200, "text/html; charset=utf-8", TILE)).toThrow(SourceError);
  expect(answer(204, "", Buffer.alloc(0))()).toBeUndefined();
});
