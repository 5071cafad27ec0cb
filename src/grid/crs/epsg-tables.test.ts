import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createGridSet, type Levels, OGC_PIXEL_METERS } from "../create-grid-set.ts";
import type { GridSet } from "../grid-set.ts";
import { isNorthFirst } from "./axis-order.ts";
import { geoWebCacheUnitOf, unitOf } from "./units.ts";

const PROJ_DB = "/usr/share/proj/proj.db";
const root = fileURLToPath(new URL("../../..", import.meta.url));
const versionOf = (text: string): string | undefined => /EPSG dataset (\S+)/.exec(text)?.[1];

const DEGREE = (6378137 * Math.PI) / 180;

test.skipIf(!existsSync(PROJ_DB))(
  `the tables are those of the EPSG dataset${existsSync(PROJ_DB) ? "" : " (skipped: needs PROJ's database)"}`,
  () => {
    const written = readFileSync(`${root}/src/grid/crs/epsg-tables.ts`, "utf8");
    const computed = execFileSync(process.execPath, [`${root}/bin/epsg-tables.mjs`, PROJ_DB], { encoding: "utf8" });
    // Another version of PROJ has another version of the dataset.
    expect(versionOf(computed)).toBeDefined();
    if (versionOf(computed) === versionOf(written)) expect(computed).toBe(written);
  },
);

test.each([
  [4326, DEGREE],
  [4258, DEGREE],
  [4490, DEGREE],
  [4979, DEGREE],
  [4126, DEGREE],
  [4807, (6378137 * Math.PI) / 200],
  [4901, (6378137 * Math.PI) / 200],
  [3857, 1],
  [900913, 1],
  [25832, 1],
  [2225, 1200 / 3937],
  [2263, 1200 / 3937],
  [2222, 0.3048],
  [3734, 1200 / 3937],
  [2136, 0.304_799_710_181_508_8],
  [2314, 0.304_797_265_4],
  [27291, 0.914_398_414_616_028_7],
  [29371, 1.000_013_596_5],
  [22300, 1000],
  [3139, 0.201_168],
  [999_999, 1],
])("the unit of EPSG:%i has %d m", (code, metersPerUnit) => {
  expect(unitOf(code)).toBeCloseTo(metersPerUnit, 9);
});

test("without metres per unit GeoWebCache knows those of EPSG:4326 only", () => {
  expect([4326, 4258, 2263, 3857].map(geoWebCacheUnitOf)).toEqual([unitOf(4326), 1, 1, 1]);
});

test.each([
  // Codes whose first axis points east, beside codes whose first axis points north.
  [31265, false],
  [31297, false],
  [31462, false],
  [21891, false],
  [31466, true],
  // The second axis of these points west.
  [2218, true],
  [2296, true],
  [3144, true],
  [5513, false],
  [3035, true],
  [5972, false],
] as const)("whether EPSG:%i has north first: %s", (code, expected) => {
  expect(isNorthFirst(code)).toBe(expected);
});

function gridSetWith(srs: number, scale: Levels, more: { pixelSize?: number } = {}): GridSet {
  const created = createGridSet({ id: "g", srs, extent: { minX: 0, minY: 0, maxX: 9, maxY: 9 }, scale, ...more });
  if (!created.ok) throw new Error(created.error);
  return created.value;
}

test.each([
  ["feet", 3734, { scaleDenominators: [1_000_000] }, {}, 918.6335, 1_000_000],
  ["degrees", 4258, { resolutions: [0.25] }, {}, 0.25, 99_392_402.494],
  ["degrees of scales", 4258, { scaleDenominators: [279_541_132.014_358_9] }, {}, 0.703_125, 279_541_132.014],
  ["feet by resolution", 2263, { resolutions: [800] }, {}, 800, 870_858.8846],
  ["other pixels", 25832, { scaleDenominators: [1_000_000] }, { pixelSize: 0.000_264_583 }, 264.583, 944_939.2857],
  ["levels", 4490, { levels: 1 }, {}, 9 / 256, (9 / 256) * (DEGREE / OGC_PIXEL_METERS)],
] as const)("a level of %s has the scale of its cells", (_, srs, scale, more, resolution, scaleDenominator) => {
  const { matrices, metersPerUnit } = gridSetWith(srs, scale, more);
  const [matrix] = matrices;
  expect(matrix?.resolution).toBeCloseTo(resolution, 3);
  expect(matrix?.scaleDenominator).toBeCloseTo(scaleDenominator, 3);
  expect((matrix?.scaleDenominator ?? 0) / ((matrix?.resolution ?? 1) * metersPerUnit)).toBeCloseTo(1 / 0.00028, 6);
});

test("the configured scale denominators are kept beside those of other pixels", () => {
  const { definingScales } = gridSetWith(25832, { scaleDenominators: [1_000_000] }, { pixelSize: 0.000_264_583 });
  expect(definingScales).toEqual([1_000_000]);
});
