import proj4 from "proj4";
import { expect, test } from "vitest";
import { JOB_OPTIONS } from "../../test/support/jobs/job-options.ts";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { ATLAS } from "../grid/crs/coordinate-systems.ts";
import { type Extent, type GridSet, tileExtent } from "../grid/grid-set.ts";
import { indexOf } from "../grid/selection.ts";
import { isSelected } from "../grid/tile-selection.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import { Slices } from "../lib/process/slices.ts";
import { refusalMessage } from "../lib/refusal.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { countTiles } from "./count-tiles.ts";
import type { JobRequest } from "./job/job-request.ts";
import { planSeed } from "./plan-job.ts";
import type { RequestedArea, SeedRequest } from "./seed-request.ts";

const geodetic = gridSetNamed("EPSG:4326");
const mercator = gridSetNamed("EPSG:900913");
const HALF = 5_000_000;
const atlas: GridSet = {
  ...mercator,
  id: "atlas",
  srs: 2163,
  extent: { minX: -HALF, minY: -HALF, maxX: HALF, maxY: HALF },
  matrices: mercator.matrices.slice(0, 7).map((matrix, z) => ({ ...matrix, resolution: (2 * HALF) / 256 / 2 ** z })),
};
const layer = layerNamed("a", {
  gridSubsets: [gridSubset(geodetic, {}), gridSubset(mercator, {}), gridSubset(atlas, {})],
  formats: [formatNamed("image/png")],
});

type Point = readonly [number, number];
const box = (minX: number, minY: number, maxX: number, maxY: number): Point[] => [
  [minX, minY],
  [maxX, minY],
  [maxX, maxY],
  [minX, maxY],
];
const area = (polygons: RequestedArea["polygons"], srs: RequestedArea["srs"] = 4326): RequestedArea => ({
  polygons,
  srs,
});
const plan = (fields: Partial<SeedRequest>) =>
  planSeed({ type: "seed", parameters: new Map(), gridSet: "EPSG:4326", ...fields }, layer, JOB_OPTIONS);
function planned(fields: Partial<SeedRequest>): JobRequest {
  const result = plan(fields);
  if (!result.ok) throw new Error(refusalMessage(result.error));
  return result.value;
}
const refusal = (fields: Partial<SeedRequest>): string => {
  const result = plan(fields);
  return result.ok ? "accepted" : refusalMessage(result.error);
};
/** Tiles by zoom. */
const totals = async (fields: Partial<SeedRequest>): Promise<string[]> =>
  (await countTiles(planned(fields), new Slices(machineClock))).zooms.map(({ z, total }) => `${z}: ${total}`);

test("an area that is a box has the tiles of the same bounds, at the deepest level too", async () => {
  const bounds = { minX: -10.3, minY: 35.1, maxX: 30.7, maxY: 62.4 };
  const whole = planned({ bounds });
  const limited = planned({ area: area([[box(-10.3, 35.1, 30.7, 62.4)]]) });
  expect((await countTiles(limited, new Slices(machineClock))).zooms).toEqual(
    (await countTiles(whole, new Slices(machineClock))).zooms,
  );
  expect(limited).toMatchObject({ bounds, limit: "area", ranges: whole.ranges });
});

test("over the date line an area may be split or go on beyond 180, and all the world is the world", async () => {
  const zooms = { zoomStart: 0, zoomStop: 9 };
  const hole = box(-179.5, -17.5, -178.5, -16.5);
  const split = await totals({
    area: area([
      [box(177, -20, 180, -15), box(179.2, -19, 179.8, -18)],
      [box(-180, -20, -178, -15), hole],
    ]),
    ...zooms,
  });
  const beyond = (turns: number) =>
    totals({
      area: area([
        [box(177, -20, 182, -15), box(179.2, -19, 179.8, -18), hole.map(([x, y]): Point => [x + 360, y])].map((ring) =>
          ring.map(([x, y]): Point => [x + turns * 360, y]),
        ),
      ]),
      ...zooms,
    });
  expect(await beyond(0)).toEqual(split);
  expect(await beyond(-1)).toEqual(split);
  expect(split[0]).toBe("0: 2");
  for (const gridSet of ["EPSG:4326", "EPSG:900913"])
    expect(await totals({ area: area([[box(-180, -90, 180, 90)]]), gridSet, ...zooms })).toEqual(
      await totals({ gridSet, ...zooms }),
    );
  expect(refusal({ area: area([[box(177, -20, -178, -15)]]) })).toMatch(/^area: expected edges of at most 180 degrees/);
});

test("straight edges become the curves that they are in the grid set", () => {
  const corners: Point[] = [
    [-120, 30],
    [-80, 28],
    [-75, 45],
    [-118, 48],
  ];
  const request = planned({ gridSet: "atlas", area: area([[corners]]), zoomStart: 6, zoomStop: 6 });
  if (request.selection === undefined) throw new Error("the selection is missing");
  const index = indexOf(request.selection);
  const { forward } = proj4(ATLAS);
  // Points along the edges, dense enough that every tile that an edge crosses contains one.
  const { minX, minY, maxX } = tileExtent(atlas, { z: 6, x: 0, y: 0 });
  for (const [i, [x, y]] of corners.entries()) {
    const [nextX, nextY] = corners[(i + 1) % corners.length] ?? [x, y];
    for (let part = 0; part < 1; part += 1 / 500) {
      const [east, north] = forward([x + (nextX - x) * part, y + (nextY - y) * part]);
      const [column, row] = [(east - minX) / (maxX - minX), (north - minY) / (maxX - minX)];
      // This near to a tile border, a quarter of a pixel decides.
      const near = (n: number): boolean => Math.abs(n - Math.round(n)) < 0.25 / 256;
      if (near(column) || near(row)) continue;
      expect([i, part, isSelected(index, 6, Math.floor(column), Math.floor(row))]).toEqual([i, part, true]);
    }
  }
  expect(request.selection.kind === "area" && request.selection.polygons[0]?.[0]?.length).toBeGreaterThan(40);
});

test("WKT is in the grid set's own units, whichever they are", async () => {
  const limited = { area: area([[box(1000, 1000, 2000, 2000)]], "grid_set"), gridSet: "EPSG:900913" };
  expect((await totals({ ...limited, zoomStart: 17, zoomStop: 17 }))[0]).toBe("17: 16");
});

test("an implausible area is refused with the name of the field", () => {
  const requested = (polygons: RequestedArea["polygons"], more: Partial<SeedRequest> = {}) =>
    refusal({ area: area(polygons), ...more });
  expect(requested([[box(48, 91, 49, 92)]])).toMatch(/^area: expected \[longitude, latitude\] in degrees/);
  expect(refusal({ area: area([[box(0, 0, 1, 1)]], 99_999) })).toBe(
    "areaCrs: expected 4326, the grid set's own, or the EPSG code of a projected CRS or of one in degrees, got 99999",
  );
  expect(requested([[box(0, 0, 10, 10)]], { gridSet: "atlas", zoomStop: 2 })).toMatch(/^area: expected an area that/);
  expect(requested([[box(-180, -80, 180, 80)]], { zoomStart: 0, zoomStop: 21 })).toBe("accepted");
  const combed = Array.from({ length: 40_000 }, (_, i): Point => [(i % 2000) / 20 - 50, i % 2 === 0 ? -80 : 80]);
  expect(requested([[combed]])).toMatch(/^zoomStop: expected a level at which the area has at most/);
  expect(refusal({ type: "truncate", area: area([[box(0, 0, 1, 1)]]), gridSet: undefined as never })).toMatch(
    /^gridSetId: /,
  );
});

test("a list of tiles has y from the top, its levels are those of the job, and each must be the layer's", async () => {
  const tiles = [
    { z: 3, x: 0, y: 0 },
    { z: 5, x: 3, y: 31 },
    { z: 3, x: 0, y: 0 },
  ];
  const request = planned({ tiles });
  expect(request).toMatchObject({
    limit: "tiles",
    zoomStart: 3,
    zoomStop: 5,
    ranges: [
      {
        rects: [
          { z: 3, minX: 0, maxX: 0, minY: 7, maxY: 7 },
          { z: 5, minX: 3, minY: 0 },
        ],
      },
    ],
  });
  expect((await countTiles(request, new Slices(machineClock))).sum.total).toBe(2n);
  expect(refusal({ tiles: [{ z: 3, x: 16, y: 0 }] })).toMatch(/^tiles: expected tiles of the layer.*got "3\/16\/0"$/);
});

test("a country at all levels is counted within a second, and others get their turn", async () => {
  const country = Array.from({ length: 6000 }, (_, i): Point => {
    const angle = (2 * Math.PI * i) / 6000;
    const radius = 4 * (0.8 + 0.15 * Math.sin(7 * angle) + 0.02 * Math.sin(301 * angle));
    return [3 + 1.4 * radius * Math.cos(angle), 47 + radius * Math.sin(angle)];
  });
  const request = planned({ gridSet: "EPSG:900913", area: area([[country]]), zoomStart: 0, zoomStop: 18 });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const startMs = performance.now();
  const { sum } = await countTiles(request, new Slices(machineClock));
  const tookMs = performance.now() - startMs;
  clearInterval(timer);
  expect(sum.total).toBeGreaterThan(10_000_000n);
  // Ten times the allowed time, because the test machine is slow and busy.
  expect(tookMs).toBeLessThan(10_000);
  expect(turns).toBeGreaterThan(1);
});

test("bounds in a CRS of their own are bounds where they stay a box, at the deepest level too", () => {
  const place = { minX: -125, minY: 25, maxX: -60, maxY: 50 };
  const requested = (bounds: Extent): RequestedArea => ({
    polygons: [[box(bounds.minX, bounds.minY, bounds.maxX, bounds.maxY)]],
    srs: 4326,
    bounds,
  });
  const planOf = (gridSet: string, bounds: Extent, more: Partial<SeedRequest> = {}) =>
    planSeed(
      { type: "truncate", gridSet, parameters: new Map(), area: requested(bounds), ...more },
      layer,
      JOB_OPTIONS,
    );
  const plain = planSeed(
    { type: "truncate", gridSet: "EPSG:4326", parameters: new Map(), bounds: place },
    layer,
    JOB_OPTIONS,
  );
  expect(planOf("EPSG:4326", place)).toEqual(plain);
  const inMercator = planOf("EPSG:900913", place);
  expect(inMercator).toMatchObject({ value: { zoomStop: 30, bounds: { minX: expect.closeTo(-13914936.35, 1) } } });
  expect(inMercator.ok && inMercator.value.limit).toBeUndefined();
  expect(planOf("atlas", place, { zoomStop: 4 })).toMatchObject({ value: { limit: "area" } });
  expect(planOf("EPSG:4326", { ...place, minX: 170, maxX: 190 }, { zoomStop: 4 })).toMatchObject({
    value: { limit: "area" },
  });
  expect(planOf("EPSG:4326", { ...place, maxY: 91 })).toMatchObject({
    error: { field: "bounds", expected: expect.stringMatching(/^\[longitude, latitude\] in degrees/) },
  });
});
