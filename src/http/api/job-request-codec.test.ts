import { expect, test } from "vitest";
import { decodeJobRequest } from "./job-request-codec.ts";

const decode = (text: string) => decodeJobRequest(new TextEncoder().encode(text));
const refusal = (text: string): string => {
  const decoded = decode(text);
  return decoded.ok ? "accepted" : `${decoded.error.code} ${decoded.error.message}`;
};

test("every field is read; null is the same as absent", () => {
  const decoded = decode(`{"layer":"a","type":"reseed","gridSet":"EPSG:4326","srs":null,"format":"image/png",
    "parameters":{"STYLES":"b"},"bounds":[0,-1.5,1e1,10],"zoomStart":0,"zoomStop":3,"threadCount":2,
    "tileFailureRetryCount":-1,"tileFailureRetryWaitTime":5,"totalFailuresBeforeAborting":7}`);
  expect(decoded).toMatchObject({
    ok: true,
    value: {
      layer: "a",
      request: {
        type: "reseed",
        gridSetId: "EPSG:4326",
        format: "image/png",
        parameters: new Map([["STYLES", "b"]]),
        bounds: { minX: 0, minY: -1.5, maxX: 10, maxY: 10 },
        zoomStart: 0,
        zoomStop: 3,
        threadCount: 2,
        tileFailureRetryWaitMs: 5,
        totalFailuresBeforeAborting: 7,
      },
    },
  });
  expect(decode('{"layer":"a"}')).toMatchObject({ value: { request: { type: "seed", parameters: new Map() } } });
});

test("the digest is of what was asked, whatever the order and spacing of the fields", () => {
  const digest = (text: string): string => {
    const decoded = decode(text);
    return decoded.ok ? decoded.value.digest : "refused";
  };
  const one = digest('{"layer":"a","zoomStop":3,"parameters":{"A":"1","B":"2"}}');
  expect(digest('{ "parameters": {"B":"2", "A":"1"}, "zoomStop": 3, "type": "seed", "layer": "a" }')).toBe(one);
  expect(digest('{"layer":"a","zoomStop":4,"parameters":{"A":"1","B":"2"}}')).not.toBe(one);
});

test.each([
  ["{}", "bad_field layer: expected the name of a layer, got null"],
  ['{"layer":7}', "bad_field layer: expected text, got 7"],
  ['{"layer":"a","zoomstop":3}', "bad_field zoomstop: unknown field, expected zoomStop, got 3"],
  ['{"layer":"a","type":"SEEED"}', 'bad_field type: expected one of seed, reseed, truncate, got "SEEED"'],
  ['{"layer":"a","zoomStop":"3"}', 'bad_field zoomStop: expected a whole number, got "3"'],
  ['{"layer":"a","zoomStop":3.5}', "bad_field zoomStop: expected a whole number, got 3.5"],
  ['{"layer":"a","bounds":[1,2,3]}', "bad_field bounds: expected four numbers, [minx, miny, maxx, maxy], got [1,2,3]"],
  [
    '{"layer":"a","parameters":{"STYLES":1}}',
    'bad_field parameters: expected an object of texts, such as {"STYLES":"night"}, got {"STYLES":1}',
  ],
  [
    '{"layer":"a","parameters":{"STYLES":"a","styles":"b"}}',
    'bad_field parameters: expected an object of texts, such as {"STYLES":"night"}, got {"STYLES":"a","styles":"b"}',
  ],
  [
    '{"layer":"a","tileFailureRetryCount":-2}',
    "bad_field tileFailureRetryCount: expected a whole number, 0 or more (-1: the default), got -2",
  ],
  ["[]", "malformed body: expected a JSON object with the fields of a job, got []"],
])("%s is refused with the field and the value", (text, expected) => {
  expect(refusal(text)).toBe(expected);
});

test("what is not JSON is refused with what the parser says", () => {
  expect(refusal("{'layer':1}")).toMatch(/^malformed body: expected a JSON object with the fields of a job, /);
  expect(refusal("")).toMatch(/^malformed /);
});
