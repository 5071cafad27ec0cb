import { expect, test } from "vitest";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { JOB_OPTIONS } from "../../../../test/support/jobs/job-options.ts";
import { layerNamed } from "../../../../test/support/layer.ts";
import { atOnce } from "../../../lib/process/slices.ts";
import { refusalMessage } from "../../../lib/refusal.ts";
import { API_RULES, planSeedInSteps } from "../../../plan/plan-job.ts";
import { decodeJobBody } from "./job-request-codec.ts";

const decode = (text: string) => atOnce(decodeJobBody(new TextEncoder().encode(text)));
const refusal = (text: string): string => {
  const decoded = decode(text);
  return decoded.ok ? "accepted" : `${decoded.error.code} ${refusalMessage(decoded.error)}`;
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
        gridSet: "EPSG:4326",
        format: "image/png",
        parameters: new Map([["STYLES", "b"]]),
        bounds: { minX: 0, minY: -1.5, maxX: 10, maxY: 10 },
        zoomStart: 0,
        zoomStop: 3,
        threadCount: 2,
        retryWaitMs: 5,
        maxFailures: 7,
      },
    },
  });
  expect(decode('{"layer":"a"}')).toMatchObject({ value: { request: { type: "seed", parameters: new Map() } } });
});

test("which tiles and how much may fail: other names, ages as they were written, and a confirmation that is no part of the request", () => {
  const [first, second] = [
    decode(
      '{"layer":"a","type":"reseed","onlyExisting":true,"olderThan":"p7d","maxFailures":5,"maxFailurePercent":2.5}',
    ),
    decode(
      '{"layer":"a","type":"reseed","onlyExisting":true,"olderThan":"P7D","totalFailuresBeforeAborting":5,"maxFailurePercent":2.5,"confirm":true}',
    ),
  ];
  expect(first).toMatchObject({
    value: {
      confirmed: false,
      request: {
        onlyExisting: true,
        olderThan: { kind: "age", text: "P7D" },
        maxFailures: 5,
        maxFailurePercent: 2.5,
      },
    },
  });
  expect(second).toMatchObject({ ok: true, value: { confirmed: true } });
  expect(first.ok && second.ok && first.value.digest() === second.value.digest()).toBe(true);
  const plain = decode('{"layer":"a","onlyExisting":false,"confirm":false}');
  expect(plain.ok && "request" in plain.value && Object.keys(plain.value.request)).toEqual(["type", "parameters"]);
});

test.each([
  ['"onlyExisting":1', "onlyExisting: expected true or false, got 1"],
  [
    '"onlyExisting":true',
    "type: expected reseed beside onlyExisting (a seed renders missing and expired tiles), got null",
  ],
  [
    '"type":"truncate","olderThan":"P1D"',
    'type: expected reseed beside olderThan (a truncate removes stored tiles of any age), got "truncate"',
  ],
  [
    '"type":"reseed","olderThan":"7 days"',
    'olderThan: expected a time such as 2026-11-01T00:00:00Z or an age such as P7D or PT12H, got "7 days"',
  ],
  [
    '"maxFailures":1,"totalFailuresBeforeAborting":2',
    "totalFailuresBeforeAborting: expected nothing beside maxFailures, got 2",
  ],
  ['"maxFailurePercent":0', "maxFailurePercent: expected a number greater than 0, 100 at most, got 0"],
  ['"maxFailurePercent":"5"', 'maxFailurePercent: expected a number greater than 0, 100 at most, got "5"'],
  ['"order":"hottest"', 'order: expected one of by-zoom, hot, got "hottest"'],
  ['"order":"depth-first"', 'order: expected one of by-zoom, hot, got "depth-first"'],
  ['"order":"hot","type":"truncate"', 'order: expected nothing beside type truncate, got "hot"'],
  ['"confirm":"yes"', 'confirm: expected true or false, got "yes"'],
])("%s is refused", (fields, expected) => expect(refusal(`{"layer":"a",${fields}}`)).toBe(`bad_field ${expected}`));

const SQUARE = "[[[0,0],[10,0],[10,10],[0,10],[0,0]]]";
const SQUARE_WKT = "((0 0, 10 0, 10 10, 0 10, 0 0))";
const ring = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
];
const areaOf = (fields: string): unknown => {
  const decoded = decode(`{"layer":"a",${fields}}`);
  if (!decoded.ok) return refusalMessage(decoded.error);
  return "request" in decoded.value ? decoded.value.request.area : undefined;
};
const polygon = `{"type":"Polygon","coordinates":${SQUARE}}`;

test.each([
  ["a polygon", `"area":${polygon}`, 4326, 1],
  ["its CRS beside it", `"area":${polygon},"areaCrs":"EPSG:3857"`, 3857, 1],
  [
    "the CRS that GDAL writes",
    `"area":{"crs":{"properties":{"name":"urn:ogc:def:crs:EPSG::2163"}},${polygon.slice(1)}`,
    2163,
    1,
  ],
  ["positions with heights", `"area":${polygon.replace("[0,0]", "[0,0,7]")}`, 4326, 1],
  ["several", `"area":{"type":"MultiPolygon","coordinates":[${SQUARE},${SQUARE}]}`, 4326, 2],
  [
    "a collection of features",
    `"area":{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null},{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[${polygon}]}}]}`,
    4326,
    1,
  ],
  ["WKT in the grid set's CRS", `"area":"polygon ${SQUARE_WKT}"`, "grid_set", 1],
  [
    "WKT with heights and an SRID",
    '"area":"SRID=4326;MULTIPOLYGON Z (((0 0 5, 1e1 0 5, 10.0 10 5, 0 +10 5, 0 0 5)))"',
    4326,
    1,
  ],
  [
    "a WKT collection",
    `"area":"GEOMETRYCOLLECTION(POLYGON ${SQUARE_WKT}, POLYGON EMPTY, POLYGON ${SQUARE_WKT})"`,
    "grid_set",
    2,
  ],
] as const)("an area may be %s", (_, fields, srs, polygons) => {
  expect(areaOf(fields)).toMatchObject({ srs, polygons: Array.from({ length: polygons }, () => [{ length: 4 }]) });
});

test("a ring is stored without its closing corner", () => {
  expect(areaOf(`"area":${polygon}`)).toEqual({ srs: 4326, polygons: [[ring]] });
});

test.each([
  [`"area":${polygon},"bounds":[0,0,1,1]`, "bounds: expected nothing beside area, got [0,0,1,1]"],
  [`"area":${polygon},"tiles":["1/0/0"]`, 'tiles: expected nothing beside area, got ["1/0/0"]'],
  [`"tiles":["1/0/0"],"bounds":[0,0,1,1]`, "bounds: expected nothing beside tiles, got [0,0,1,1]"],
  [`"tiles":["1/0/0"],"zoomStart":1`, "zoomStart: expected nothing beside tiles, got 1"],
  [`"tiles":["1/0"]`, 'tiles: expected names of tiles, "z/x/y" with y from the top, got "1/0"'],
  [`"tiles":[]`, 'tiles: expected 1 to 100000 tiles, ["z/x/y",…], got []'],
  [`"areaCrs":4326`, "areaCrs: expected an area beside it, got 4326"],
  [`"area":${polygon},"areaCrs":"WGS84"`, 'areaCrs: expected an EPSG code, such as EPSG:4326, got "WGS84"'],
  [
    `"area":"SRID=4326;POLYGON ${SQUARE_WKT}","areaCrs":3857`,
    "areaCrs: expected 4326, as the area says itself, or nothing, got 3857",
  ],
  [`"area":{"type":"Point","coordinates":[1,2]}`, /^area: expected a GeoJSON Polygon .*got "Point"$/],
  [`"area":"LINESTRING(0 0, 1 1)"`, /^area: expected WKT: POLYGON/],
  [`"area":"POLYGON((0 0, 10 0, 10 10)"`, /^area: expected WKT: .*do not fit together/],
  [`"area":"POLYGON((0, 10))"`, /^area: expected positions of two numbers/],
  [`"area":{"type":"Polygon","coordinates":[[[0,0],[1,1],[2,2],[0,0]]]}`, /^area: expected rings of three corners/],
  [`"area":"POLYGON EMPTY"`, 'area: expected at least one polygon, got "none"'],
])("%s is refused by name", (fields, message) => {
  expect(areaOf(fields)).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
});

test("the digest does not depend on the order and spacing of the fields", () => {
  const digest = (text: string): string => {
    const decoded = decode(text);
    return decoded.ok ? decoded.value.digest() : "refused";
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

test("bounds in a CRS of their own are an area, with corners in between", () => {
  expect(areaOf('"bounds":[-180,-10,180,20],"boundsCrs":"EPSG:4326"')).toEqual({
    polygons: [
      [
        [
          [-180, -10],
          [0, -10],
          [180, -10],
          [180, 20],
          [0, 20],
          [-180, 20],
        ],
      ],
    ],
    srs: 4326,
    bounds: { minX: -180, minY: -10, maxX: 180, maxY: 20 },
  });
  expect(areaOf('"boundsCrs":4326')).toBe("boundsCrs: expected bounds beside it, got 4326");
  expect(areaOf('"bounds":[0,0,1,1],"boundsCrs":"wgs84"')).toBe(
    'boundsCrs: expected an EPSG code, such as EPSG:4326, got "wgs84"',
  );
  expect(areaOf('"bounds":[0,0,0,1],"boundsCrs":4326')).toMatch(/^bounds: expected minx, .* got \[0,0,0,1\]$/);
});

test("a body that is not JSON is refused with the parser's message", () => {
  expect(refusal("{'layer':1}")).toMatch(/^malformed body: expected a JSON object with the fields of a job, /);
  expect(refusal("")).toMatch(/^malformed /);
});

const zigzag = Array.from({ length: 40_000 }, (_, i) => [(i % 300) / 2 - 75, i % 2 === 0 ? -80 : 80] as const);
const outline = [...zigzag, zigzag[0] ?? [0, 0]];
const small = Array.from({ length: 20_000 }, (_, i) => `((${i % 90} 1,${i % 90} 2,9${i % 9} 3,${i % 90} 1))`);

test.each([
  ["an area in WKT", { area: `SRID=4326;POLYGON((${outline.map((corner) => corner.join(" ")).join(",")}))` }],
  ["many polygons", { area: `SRID=4326;MULTIPOLYGON(${small.join(",")})` }],
  ["an area in GeoJSON", { area: { type: "Polygon", coordinates: [outline] } }],
  ["a ring around nothing", { area: `POLYGON((${"1 1,".repeat(200_000)}1 1))` }],
  ["tiles", { tiles: Array.from({ length: 80_000 }, (_, i) => `17/${i % 65_536}/${(i * 7) % 65_536}`) }],
])("a large body with %s is decoded and planned in steps, none of which takes half of the time", (_, fields) => {
  const body = new TextEncoder().encode(JSON.stringify({ layer: "a", ...fields }));
  function* work(): Generator<undefined, void> {
    const decoded = yield* decodeJobBody(body);
    if (!decoded.ok || "many" in decoded.value) return;
    yield* planSeedInSteps(decoded.value.request, layerNamed("a", {}), JOB_OPTIONS, { rules: API_RULES });
  }
  const timesOfSteps = (): number[] => {
    const steps = work();
    const times: number[] = [];
    for (let isDone = false; !isDone; ) times.push(cpuMs(() => (isDone = steps.next().done === true)));
    return times;
  };
  const runs = [timesOfSteps(), timesOfSteps(), timesOfSteps()];
  // The steps are the same in each run. The first parses the JSON. Garbage is collected during a step, by several threads.
  const times = (runs[0] ?? []).map((_, step) => Math.min(...runs.map((run) => run[step] ?? 0)));
  expect(times.length).toBeGreaterThan(20);
  const wholeMs = times.reduce((sum, ms) => sum + ms, 0);
  expect(Math.max(...times)).toBeLessThan(wholeMs / 2);
});
