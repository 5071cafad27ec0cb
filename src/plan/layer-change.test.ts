import { expect, test } from "vitest";
import { JOB_OPTIONS } from "../../test/support/jobs/job-options.ts";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { asTileIndex, asTileX, asTileY, asZoom, type Extent, tileExtent } from "../grid/grid-set.ts";
import { indexOf } from "../grid/selection.ts";
import { countSelectedAtOnce, isSelected } from "../grid/tile-selection.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import type { JobRequest } from "./job/job-request.ts";
import { LayerChange, planRemoval, planRenewal } from "./layer-change.ts";

const WEB = gridSetNamed("EPSG:900913");
const ROADS = layerNamed("roads", {
  gridSubsets: [gridSubset(WEB, {}), gridSubset(gridSetNamed("EPSG:4326"), {})],
  formats: [formatNamed("image/png"), formatNamed("image/jpeg")],
});

/** The truncates of a change, each followed by its seeds or reseeds. */
function jobsOf(change: LayerChange, renewal?: "seed" | "reseed"): readonly JobRequest[] {
  return change.places().flatMap((places) =>
    [
      planRemoval(places, ROADS, JOB_OPTIONS),
      ...(renewal === undefined ? [] : [planRenewal(renewal, places, 7, ROADS, JOB_OPTIONS)]),
    ].flatMap((planned) => {
      if (!planned.ok) throw new Error(JSON.stringify(planned.error));
      return planned.value;
    }),
  );
}

/** The number of selected tiles of a level. */
function selected({ ranges, selection }: JobRequest, z: number): bigint {
  const rect = ranges[0]?.rects.find((one) => one.z === z);
  if (rect === undefined || selection === undefined) return 0n;
  return countSelectedAtOnce(indexOf(selection), rect);
}

const tile = (z: number, column: number, row: number): Extent => tileExtent(WEB, asTileIndex({ z, x: column, y: row }));

/** A box in the middle of a tile. */
function inside(extent: Extent, share = 0.1): Extent {
  const [width, height] = [extent.maxX - extent.minX, extent.maxY - extent.minY];
  return {
    minX: extent.minX + share * width,
    minY: extent.minY + share * height,
    maxX: extent.maxX - share * width,
    maxY: extent.maxY - share * height,
  };
}

test("a small box is one tile of each level, in each grid set, for all formats and parameters", () => {
  const change = new LayerChange(ROADS);
  expect(change.addBox(inside(tile(12, 2_000, 1_000)), 3857, "touches")).toBe(true);
  const [web, degrees, ...others] = jobsOf(change);
  expect(others).toEqual([]);
  expect(web).toMatchObject({
    type: "truncate",
    format: null,
    parametersId: null,
    limit: "area",
    gridSet: "EPSG:900913",
  });
  expect(degrees).toMatchObject({ type: "truncate", format: null, gridSet: "EPSG:4326" });
  for (let z = 0; z <= 12; z++) expect(web && selected(web, z)).toBe(1n);
  expect(web?.selection && isSelected(indexOf(web.selection), asZoom(12), asTileX(2_000), asTileY(1_000))).toBe(true);
  expect(degrees && selected(degrees, 4)).toBe(1n);
});

test("a box on the edge of tiles touches the tiles on both sides, and a listed tile touches none beside it", () => {
  const touching = new LayerChange(ROADS);
  touching.addBox(tile(5, 10, 10), 3857, "touches");
  const listed = new LayerChange(ROADS);
  listed.addBox(tile(5, 10, 10), 3857, "excluded");
  const [wide] = jobsOf(touching);
  const [exact] = jobsOf(listed);
  expect(wide && selected(wide, 5)).toBe(9n);
  // The tile, its ancestors and its descendants.
  expect([0, 4, 5, 6, 8].map((z) => exact && selected(exact, z))).toEqual([1n, 1n, 1n, 4n, 64n]);
});

test("a box in another CRS is converted, and one in an unknown CRS has no place", () => {
  const change = new LayerChange(ROADS);
  expect(change.addBox({ minX: 9.9, minY: 49.9, maxX: 10.1, maxY: 50.1 }, 4326, "touches")).toBe(true);
  expect(change.addBox({ minX: 500_000, minY: 5_500_000, maxX: 500_010, maxY: 5_500_010 }, 25832, "touches")).toBe(
    true,
  );
  expect(change.addBox({ minX: 1, minY: 1, maxX: 2, maxY: 2 }, 999_999, "touches")).toBe(false);
  const [web] = jobsOf(change);
  // 9 E, 49.65 N, in the middle of the zone.
  const [column, row] = [Math.floor((189 / 360) * 2 ** 14), Math.floor((1 + 6_386_000 / 20_037_508) * 2 ** 13)];
  const around = web?.selection && indexOf(web.selection).spans(asZoom(6), asTileY(Math.floor(row / 256)));
  expect(around?.some(({ first, last }) => first <= column / 256 && Math.floor(column / 256) <= last)).toBe(true);
});

test("a box over the date line touches both ends of the map", () => {
  const change = new LayerChange(ROADS);
  change.addBox({ minX: 179, minY: 1, maxX: 181, maxY: 2 }, 4326, "touches");
  const [web] = jobsOf(change);
  const spans = web?.selection && indexOf(web.selection).spans(asZoom(4), asTileY(8));
  expect(spans).toEqual([
    { first: 0, last: 0 },
    { first: 15, last: 15 },
  ]);
});

test("6,000 boxes are collapsed to cells, and no box is forgotten", () => {
  const change = new LayerChange(ROADS);
  const columns = Array.from({ length: 6_000 }, (_, i) => [(i * 7919) % 2 ** 14, (i * 104_729) % 2 ** 14] as const);
  for (const [column, row] of columns) change.addBox(inside(tile(14, column, row)), 3857, "touches");
  const [places] = change.places();
  const planned = places && planRenewal("seed", places, 7, ROADS, JOB_OPTIONS);
  const web = planned?.ok === true ? planned.value[0] : undefined;
  if (web?.selection?.kind !== "rects") throw new Error("expected rectangles");
  expect(web.selection.rects.length / 5).toBeLessThanOrEqual(4_096 * WEB.matrices.length);
  const index = indexOf(web.selection);
  for (const [column, row] of columns.filter((_, i) => i % 97 === 0))
    expect(isSelected(index, asZoom(14), asTileX(column), asTileY(row))).toBe(true);
});

test("a change of all data is one truncate of each grid set, and seeds follow it in each format", () => {
  const change = new LayerChange(ROADS);
  change.addAll();
  expect(jobsOf(change).map(({ type, selection, bounds }) => [type, selection, bounds])).toEqual([
    ["truncate", undefined, null],
    ["truncate", undefined, null],
  ]);
  const box = new LayerChange(ROADS);
  box.addBox(inside(tile(3, 1, 1)), 3857, "touches");
  expect(jobsOf(box, "seed").map(({ type, format }) => [type, format])).toEqual([
    ["truncate", null],
    ["seed", "image/png"],
    ["seed", "image/jpeg"],
    ["truncate", null],
    ["seed", "image/png"],
    ["seed", "image/jpeg"],
  ]);
  expect(jobsOf(box, "reseed")[1]).toMatchObject({ type: "reseed", olderThanMs: 7, afterChange: true });
});
