import { expect, test } from "vitest";
import { formatOf } from "../../layer/format.ts";
import { SourceError } from "../source.ts";
import { dataOf } from "./tile-data.ts";

function read(type: string, body: Uint8Array | string, contentType = "application/json"): string | undefined {
  const format = formatOf(`application/json;type=${type}`);
  if (format?.kind !== "data") throw new Error(`${type} is no format of data`);
  const bytes = dataOf({ status: 200, contentType, retryAfter: undefined, body: Buffer.from(body) }, format);
  return bytes && Buffer.from(bytes).toString();
}

test.each([
  ["geojson", '{"type":"FeatureCollection","features":[]}'],
  ["topojson", '{"type":"Topology","objects":{}}'],
  ["utfgrid", '{"grid":[" "],"keys":[""]}'],
])("a tile of %s is kept as it is, and an exception in JSON is none", (type, tile) => {
  expect(read(type, tile)).toBe(tile);
  for (const other of ['{"version":"1.1.1","exceptions":[{"text":"no"}]}', '{"error":"no"}', "[]", '{"type":"x"}'])
    expect(() => read(type, other)).toThrow(SourceError);
});

test("another charset becomes UTF-8, and bytes of none are refused", () => {
  const tile = '{"type":"Feature","properties":{"name":"Straße"}}';
  const latin = Buffer.from(tile, "latin1");
  expect(read("geojson", latin, "application/json; charset=ISO-8859-1")).toBe(tile);
  expect(() => read("geojson", latin)).toThrow("the JSON is no text in utf-8");
});
