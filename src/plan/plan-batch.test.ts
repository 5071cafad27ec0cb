import { expect, test } from "vitest";
import { JOB_OPTIONS } from "../../test/support/jobs/job-options.ts";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import type { ParameterFilter } from "../layer/filter/parameter-filter.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import { Slices } from "../lib/process/slices.ts";
import { refusalMessage } from "../lib/refusal.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { countTiles } from "./count-tiles.ts";
import type { JobRequest } from "./job/job-request.ts";
import { combinationsOf } from "./parameters/combination.ts";
import type { RequestedChoice, RequestedSet } from "./parameters/value-choice.ts";
import { type BatchRequest, planBatch } from "./plan-batch.ts";
import type { SeedRequest } from "./seed-request.ts";
import { parseAge } from "./tile-age.ts";

const geodetic = gridSetNamed("EPSG:4326");
const mercator = gridSetNamed("EPSG:900913");
const styles: ParameterFilter = { type: "string", key: "STYLES", default: "", values: ["day", "night"] };
const levels: ParameterFilter = { type: "integer", key: "ELEVATION", default: "0", values: [0, 10, 20], threshold: 1 };
const any: ParameterFilter = { type: "regex", key: "CQL_FILTER", default: "", regex: ".*" };
const formats = [formatNamed("image/png"), formatNamed("image/jpeg")];
const europe = { minX: -10, minY: 35, maxX: 30, maxY: 60 };
const catalogue = catalogueOf([
  layerNamed("ws:roads", {
    gridSubsets: [gridSubset(geodetic, {}), gridSubset(mercator, { zoomStop: 10 })],
    formats,
    parameterFilters: [styles, levels],
  }),
  layerNamed("ws:europe", { gridSubsets: [gridSubset(geodetic, { extent: europe })], formats }),
  layerNamed("free", { parameterFilters: [any] }),
]);

const plan = (many: Partial<Omit<BatchRequest, "request">>, request: Partial<SeedRequest> = {}) =>
  planBatch(
    {
      layers: ["ws:roads"],
      layersAre: "patterns",
      ...many,
      request: { type: "seed", parameters: new Map(), ...request },
    },
    catalogue,
    { options: JOB_OPTIONS, nowMs: 0, slices: new Slices(machineClock) },
  );
const jobs = async (...requested: Parameters<typeof plan>): Promise<readonly string[]> => {
  const planned = await plan(...requested);
  if (!planned.ok) throw new Error(refusalMessage(planned.error));
  return planned.value.requests.map((request) =>
    [request.layer, request.gridSet ?? "all", request.format ?? "all", parametersOf(request)].join(" "),
  );
};
const parametersOf = (request: JobRequest): string =>
  combinationsOf(request)
    ?.map(({ parameters }) => Object.values(parameters).join("/"))
    .join("|") ?? "all";
const refusal = async (...requested: Parameters<typeof plan>): Promise<string> => {
  const planned = await plan(...requested);
  return planned.ok ? "accepted" : [refusalMessage(planned.error), ...(planned.error.details ?? [])].join(" ");
};

test("each combination of layers, grid sets and formats is a job; absent fields have their defaults", async () => {
  expect(await jobs({ layers: ["ws:*"] })).toEqual([
    "ws:roads EPSG:900913 image/png ",
    "ws:europe EPSG:4326 image/png ",
  ]);
  expect(await jobs({ layers: ["*roads"], gridSets: "*", formats: "*" })).toEqual([
    "ws:roads EPSG:4326 image/png ",
    "ws:roads EPSG:4326 image/jpeg ",
    "ws:roads EPSG:900913 image/png ",
    "ws:roads EPSG:900913 image/jpeg ",
  ]);
  expect(await jobs({ layers: ["ws:europe", "ws:*", "ws:roads"], formats: ["image/jpeg"] })).toEqual([
    "ws:europe EPSG:4326 image/jpeg ",
    "ws:roads EPSG:900913 image/jpeg ",
  ]);
});

test("all parameter sets of a seed are those that the filters list, in one job; those that mean the same come once", async () => {
  expect(await jobs({ parameterSets: "*" })).toEqual([
    "ws:roads EPSG:900913 image/png |/10|/20|day/0|day/10|day/20|night/0|night/10|night/20",
  ]);
  const sets = [new Map(), new Map([["STYLES", ""]]), new Map([["styles", "night"]])];
  expect(await jobs({ parameterSets: sets })).toEqual(["ws:roads EPSG:900913 image/png |night/0"]);
  const alike = await plan({ parameterSets: [new Map([["STYLES", "night"]]), new Map([["styles", "night"]])] });
  expect(alike.ok && alike.value.requests).toEqual([
    expect.objectContaining({ parameters: { STYLES: "night", ELEVATION: "0" } }),
  ]);
  expect(alike.ok && alike.value.requests[0]).not.toHaveProperty("parametersChosen");
  expect(await refusal({ layers: ["*"], parameterSets: "*" })).toBe(
    'parameterSets: expected a list of sets, as the values of CQL_FILTER cannot be listed (a value that matches .*), got "*" The layer is free.',
  );
});

test("values may be chosen: of a seed among those that the filters list", async () => {
  const of = (values: string): string => `ws:roads EPSG:900913 image/png ${values}`;
  const chosen = (set: Readonly<Record<string, RequestedChoice>>, layers = ["ws:roads"]) => ({
    layers,
    parameterSets: [new Map(Object.entries(set))],
  });
  expect(
    await jobs(chosen({ STYLES: { kind: "like", pattern: "*" }, elevation: { kind: "range", from: "5", to: "15" } })),
  ).toEqual([of("/10|day/10|night/10")]);
  expect(await jobs(chosen({ STYLES: { kind: "any of", values: ["night", "day"] } }))).toEqual([of("night/0|day/0")]);
  expect(await refusal(chosen({ STYLES: { kind: "any of", values: ["dusk"] } }))).toMatch(/^STYLES: expected one of /);
  expect(await refusal(chosen({ STYLES: { kind: "like", pattern: "x*" } }))).toBe(
    'parameterSets: expected what a value that the filters list meets, got [{"STYLES":{"like":"x*"}}] The layer is ws:roads.',
  );
  expect(await refusal(chosen({ STYLE: { kind: "like", pattern: "*" } }))).toBe(
    'parameterSets: expected keys of STYLES, ELEVATION, got "STYLE" The layer is ws:roads.',
  );
  expect(await refusal(chosen({ CQL_FILTER: { kind: "like", pattern: "*" } }, ["free"]))).toBe(
    'parameterSets: expected values of CQL_FILTER by name, as the values of CQL_FILTER cannot be listed (a value that matches .*), got {"CQL_FILTER":{"like":"*"}} The layer is free.',
  );
  expect(await jobs(chosen({ CQL_FILTER: { kind: "any of", values: ["a=1", "a=2"] } }, ["free"]))).toEqual([
    "free EPSG:900913 image/png a=1|a=2",
  ]);
});

test("a job shows how its values were chosen, and counts the tiles of all its combinations", async () => {
  const planned = await plan({ parameterSets: "*" }, { zoomStop: 1 });
  const [request] = planned.ok ? planned.value.requests : [];
  if (request === undefined) throw new Error("no job");
  expect(request).toMatchObject({ parameters: null, parametersId: null });
  const all = { kind: "like", pattern: "*" };
  expect(request.parametersChosen).toEqual([Object.entries({ STYLES: all, ELEVATION: all })]);
  expect((await countTiles(request, new Slices(machineClock))).zooms.map(({ z, total }) => [z, total])).toEqual([
    [0, 9n],
    [1, 36n],
  ]);
  const beyond = await refusal({ parameterSets: "*" }, { gridSet: "EPSG:900913", zoomStop: 10 });
  expect(beyond).toBe("accepted");
});

test("a truncate of chosen values is one job, over the tiles that are stored when it begins", async () => {
  const age = parseAge("P1D");
  if (age === undefined) throw new Error("not an age");
  const parameterSets: readonly RequestedSet[] = [
    new Map<string, RequestedChoice>([["CQL_FILTER", { kind: "older", than: age }]]),
    new Map([["CQL_FILTER", "a=1"]]),
  ];
  const planned = await planBatch(
    { layers: ["free"], layersAre: "names", parameterSets, request: { type: "truncate", parameters: new Map() } },
    catalogue,
    { options: JOB_OPTIONS, nowMs: Date.UTC(2026, 10, 22), slices: new Slices(machineClock) },
  );
  expect(planned.ok && planned.value.requests).toEqual([
    expect.objectContaining({
      parameters: null,
      parametersId: null,
      parametersChosen: [[["CQL_FILTER", { kind: "before", ms: Date.UTC(2026, 10, 21) }]], [["CQL_FILTER", "a=1"]]],
    }),
  ]);
});

test("a truncate without a place is one job for all stored tiles; with a place it is one job for each grid set", async () => {
  const all: Partial<BatchRequest> = { gridSets: "*", formats: "*", parameterSets: "*" };
  expect(await jobs(all, { type: "truncate" })).toEqual(["ws:roads all all all"]);
  const area = { polygons: [[square(0, 0, 20, 20)]], srs: 4326 };
  expect(await jobs(all, { type: "truncate", area })).toEqual([
    "ws:roads EPSG:4326 all all",
    "ws:roads EPSG:900913 all all",
  ]);
  const gone = new Map([["STYLES", "gone"]]);
  expect(await jobs({ parameterSets: [gone] }, { type: "truncate" })).toEqual(["ws:roads all all gone"]);
  expect(await jobs({ parameterSets: [gone, new Map()] }, { type: "truncate" })).toEqual(["ws:roads all all gone|"]);
});

const square = (minX: number, minY: number, maxX: number, maxY: number): (readonly [number, number])[] => [
  [minX, minY],
  [maxX, minY],
  [maxX, maxY],
  [minX, maxY],
];

test("jobs of the same tiles share what they are limited to", async () => {
  const planned = await plan({ formats: "*" }, { area: { polygons: [[square(0, 0, 20, 20)]], srs: 4326 } });
  const requests = planned.ok ? planned.value.requests : [];
  expect(requests).toHaveLength(2);
  expect(new Set(requests.map(({ selection }) => selection)).size).toBe(1);
  expect(new Set(requests.map(({ ranges }) => ranges)).size).toBe(1);
});

test("bounds have the units of one CRS, tiles the numbers of one grid set", async () => {
  const bounds = { minX: 0, minY: 0, maxX: 20, maxY: 50 };
  expect(await refusal({ gridSets: "*" }, { bounds })).toBe(
    "boundsCrs: expected the CRS of the bounds, as those of the grid sets differ (EPSG:4326, EPSG:3857), got null",
  );
  expect(await refusal({ layers: ["ws:*"] }, { bounds })).toMatch(/^boundsCrs: /);
  expect(await jobs({ layers: ["ws:*"] }, { bounds, gridSet: "EPSG:4326" })).toHaveLength(2);
  expect(await refusal({ gridSets: ["EPSG:4326", "EPSG:900913"] }, { tiles: [{ z: 0, x: 0, y: 0 }] })).toBe(
    'tiles: expected one grid set, as tiles have other numbers in each; an area has not, got "EPSG:4326, EPSG:900913"',
  );
  expect(await jobs({ formats: "*" }, { tiles: [{ z: 0, x: 0, y: 0 }] })).toHaveLength(2);
});

test("a layer that a wildcard matches may have no tile in the range; a named layer may not", async () => {
  const area = { polygons: [[square(-100, 35, -90, 40)]], srs: 4326 };
  expect(await jobs({ layers: ["ws:*"] }, { area })).toEqual(["ws:roads EPSG:900913 image/png "]);
  expect(await refusal({ layers: ["ws:roads", "ws:europe"] }, { area })).toMatch(
    /^area: expected an area that overlaps .* The layer is ws:europe\.$/,
  );
  expect(await refusal({ layers: ["ws:e*"] }, { area })).toMatch(/^area: expected an area that overlaps /);
  expect(await jobs({ gridSets: "*" }, { zoomStart: 12 })).toEqual(["ws:roads EPSG:4326 image/png "]);
  expect(await refusal({ gridSets: ["EPSG:4326", "EPSG:900913"] }, { zoomStart: 12 })).toMatch(/^zoomStart: /);
});

test("levels that no grid set has are refused; a wildcard takes of each what it has, and a schedule's run what is left", async () => {
  expect(await refusal({}, { zoomStop: 11 })).toBe(
    "zoomStop: expected a level of the layer: 0 to 10 in EPSG:900913, got 11 The layer is ws:roads.",
  );
  expect(await refusal({ gridSets: ["EPSG:4326", "EPSG:900913"] }, { zoomStop: 11 })).toMatch(/^zoomStop: .* got 11 /);
  expect(await jobs({ gridSets: "*" }, { zoomStop: 11 })).toHaveLength(2);
  expect(await refusal({ gridSets: "*" }, { zoomStop: 22 })).toBe(
    "zoomStop: expected a level of the layer: 0 to 21, got 22",
  );
  expect(await jobs({}, { type: "truncate", zoomStop: 11 })).toEqual(["ws:roads all all "]);
  expect(await refusal({}, { type: "truncate", zoomStop: 22 })).toMatch(/^zoomStop: .* got 22 /);
  const planned = await planBatch(
    { layers: ["ws:roads"], layersAre: "names", request: { type: "seed", parameters: new Map(), zoomStop: 11 } },
    catalogue,
    { options: JOB_OPTIONS, nowMs: 0, slices: new Slices(machineClock), missingLevels: "reduced" },
  );
  expect(planned.ok && planned.value.requests.map(({ zoomStop }) => zoomStop)).toEqual([10]);
});

test("a pattern that matches nothing, and what one of the layers does not have, are refused", async () => {
  expect(await refusal({ layers: ["ws:*", "sw:*"] })).toBe("Unknown layer: sw:*");
  expect(await refusal({ layers: ["ws:*"], layersAre: "names" })).toBe("Unknown layer: ws:*");
  expect(await refusal({ layers: ["ws:*"], gridSets: ["EPSG:900913"] })).toBe(
    'gridSet: expected one of EPSG:4326, got "EPSG:900913" The layer is ws:europe.',
  );
});

test("more than a thousand tile sets are counted, not planned", async () => {
  const set = new Map([["STYLES", "night"]]);
  const sets = Array.from({ length: 501 }, () => set);
  expect(await refusal({ parameterSets: sets, formats: "*" })).toBe(
    'parameterSets: expected what comes to at most 1000 tile sets in all, got "1002 tile sets"',
  );
  expect(await jobs({ parameterSets: sets.slice(1), formats: "*" })).toHaveLength(2);
});

test("many jobs of a large area are refused: each keeps its own", async () => {
  const corners = Array.from({ length: 50_000 }, (_, n): readonly [number, number] => {
    const turn = (n / 50_000) * 2 * Math.PI;
    return [10 * Math.cos(turn), 10 * Math.sin(turn)];
  });
  const kinds = ["png", "jpeg", "gif", "webp", "avif"].map((name) => formatNamed(`image/${name}`));
  const layers = Array.from({ length: 17 }, (_, n) => layerNamed(`l${n}`, { formats: kinds }));
  const many: BatchRequest = {
    layers: ["l*"],
    layersAre: "patterns",
    formats: "*",
    request: { type: "seed", parameters: new Map(), area: { polygons: [[corners]], srs: 4326 }, zoomStop: 0 },
  };
  const planned = await planBatch(many, catalogueOf(layers), {
    options: JOB_OPTIONS,
    nowMs: 0,
    slices: new Slices(machineClock),
  });
  expect(planned.ok ? "accepted" : refusalMessage(planned.error)).toBe(
    'area: expected fewer corners or tiles, or fewer jobs of one request, got "85 jobs"',
  );
});
