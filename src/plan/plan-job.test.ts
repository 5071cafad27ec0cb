import { expect, test } from "vitest";
import { JOB_OPTIONS } from "../../test/support/jobs/job-options.ts";
import { formatNamed, layerNamed } from "../../test/support/layer.ts";
import type { GridSet } from "../grid/grid-set.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import { refusalMessage } from "../lib/refusal.ts";
import { planExtentTruncate, planSeed } from "./plan-job.ts";
import type { SeedRequest } from "./seed-request.ts";

function grid(id: string, srs: number, half: number, levels: number): GridSet {
  return {
    id,
    srs,
    extent: { minX: -half, minY: -half, maxX: half, maxY: half },
    tileWidth: 256,
    tileHeight: 256,
    alignTopLeft: false,
    yCoordinateFirst: false,
    metersPerUnit: 1,
    matrices: Array.from({ length: levels }, (_, z) => ({
      name: `${id}:${z}`,
      resolution: (2 * half) / 256 / 2 ** z,
      scaleDenominator: 1,
      matrixWidth: 2 ** z,
      matrixHeight: 2 ** z,
    })),
  };
}

const mercator = grid("EPSG:900913", 900913, 20037508.34, 31);

const layer = layerNamed("ws:roads", {
  gridSubsets: [gridSubset(mercator, { zoomStart: 2, zoomStop: 10 }), gridSubset(grid("local", 2163, 1000, 4), {})],
  formats: ["image/png", "image/jpeg"].map(formatNamed),
  parameterFilters: [{ type: "string", key: "STYLES", default: "", values: ["a", "b"] }],
});

const plan = (fields: Partial<SeedRequest>) =>
  planSeed({ type: "seed", parameters: new Map(), ...fields }, layer, JOB_OPTIONS);
const planned = (fields: Partial<SeedRequest>) => {
  const result = plan(fields);
  if (!result.ok) throw new Error(refusalMessage(result.error));
  return result.value;
};
const refusal = (fields: Partial<SeedRequest>): string => {
  const result = plan(fields);
  return result.ok ? "accepted" : refusalMessage(result.error);
};

test("absent fields have defaults: the first grid subset, its levels, the first format, one thread", () => {
  expect(planned({})).toMatchObject({
    gridSet: "EPSG:900913",
    format: "image/png",
    zoomStart: 2,
    zoomStop: 10,
    threadCount: 1,
    parametersId: "",
  });
});

test("a truncate without fields means all grid sets and all formats", () => {
  const all = planned({ type: "truncate", threadCount: 9 });
  expect(all).toMatchObject({ gridSet: null, format: null, bounds: null, threadCount: 1, zoomStart: 0, zoomStop: 10 });
  expect(all.ranges.map((r) => r.gridSet)).toEqual(["EPSG:900913", "local"]);
});

test("zooms are clamped to the layer's levels, and refused when nothing is left", () => {
  expect(planned({ zoomStart: 0, zoomStop: 99 })).toMatchObject({ zoomStart: 2, zoomStop: 10 });
  expect(refusal({ zoomStart: 11, zoomStop: 12 })).toContain("zoomStart");
  expect(refusal({ zoomStart: 0, zoomStop: 1 })).toContain("zoomStart");
  expect(refusal({ zoomStart: 5, zoomStop: 4 })).toContain("zoomStart");
  expect(refusal({ zoomStart: -1 })).toContain("zoomStart");
  expect(refusal({ zoomStop: -1 })).toContain("zoomStop");
});

test("a truncate over several grid sets clamps in each and skips those where nothing is left", () => {
  expect(planned({ type: "truncate", zoomStart: 5, zoomStop: 6 }).ranges.map((r) => r.gridSet)).toEqual([
    "EPSG:900913",
  ]);
});

test("the codes of web mercator are one; another code is refused with the layer's own", () => {
  for (const srs of [3857, 900913, 102100, 102113]) expect(planned({ srs }).gridSet).toBe("EPSG:900913");
  expect(refusal({ srs: 4326 })).toMatch(/srs: .*EPSG:900913.*local.*4326/);
  expect(refusal({ gridSet: "nope" })).toMatch(/gridSetId: .*EPSG:900913, local.*nope/);
});

test("bounds that are inverted or miss the coverage are refused with both printed", () => {
  expect(refusal({ bounds: { minX: 5, minY: 0, maxX: 1, maxY: 9 } })).toMatch(/5\.0,0\.0,1\.0,9\.0/);
  const outside = refusal({ bounds: { minX: 3e7, minY: 3e7, maxX: 4e7, maxY: 4e7 } });
  expect(outside).toContain("30000000.0");
  expect(outside).toContain("-20037508.34");
  expect(refusal({ type: "truncate", bounds: { minX: 0, minY: 0, maxX: 1, maxY: 1 } })).toContain("gridSetId");
});

test("a seed refuses parameters that the filters do not know, a truncate takes them as they are", () => {
  expect(refusal({ parameters: new Map([["TIME", "2020"]]) })).toContain("STYLES");
  expect(refusal({ parameters: new Map([["STYLES", "c"]]) })).toContain('"a"');
  expect(planned({ parameters: new Map([["styles", "a"]]) }).parameters).toEqual({ STYLES: "a" });
  expect(planned({ type: "truncate", parameters: new Map([["TIME", "2020"]]) }).parametersId).toHaveLength(40);
});

test("threadCount is raised to one and capped", () => {
  for (const [given, want] of [
    [-3, 1],
    [0, 1],
    [4, 4],
    [1000, 128],
  ] as const)
    expect(planned({ threadCount: given }).threadCount).toBe(want);
});

test("truncateExtent covers every format and every combination of parameters", () => {
  const result = planExtentTruncate(
    { type: "truncateExtent", layer: "ws:roads", gridSet: "local" },
    layer,
    JOB_OPTIONS,
  );
  expect(result.ok && result.value).toMatchObject({
    type: "truncate",
    gridSet: "local",
    format: null,
    parameters: null,
    parametersId: null,
  });
  expect(planExtentTruncate({ type: "truncateExtent", layer: "ws:roads" }, layer, JOB_OPTIONS).ok).toBe(false);
});

test("a job's metatiles are those of its format: data that are no pictures are rendered tile by tile", () => {
  const mixed = { ...layer, formats: ["image/png", "application/json;type=geojson"].map(formatNamed) };
  const metatileOf = (format: string) => {
    const result = planSeed({ type: "seed", format, parameters: new Map() }, mixed, JOB_OPTIONS);
    return result.ok ? result.value.metatile : undefined;
  };
  expect(metatileOf("image/png")).toEqual([4, 4]);
  expect(metatileOf("application/json;type=geojson")).toEqual([1, 1]);
});
