import { expect, test } from "vitest";
import type { UsedTile } from "../import/tile-use.ts";
import { planWarm, type TileCost } from "./warm-plan.ts";

const tileSet = (layer: string): string =>
  JSON.stringify({ layer, gridSet: "EPSG:4326", format: "image/png", parameters: {} });
const tile = (layer: string, n: number, requests: number): UsedTile => ({
  tileSet: tileSet(layer),
  tile: `9/${n}/0`,
  requests,
});
const used = [tile("a", 1, 9), tile("b", 1, 5), tile("a", 2, 2), tile("b", 2, 1)];
const NO_LIMIT = { maxTiles: 1e6, maxBytes: undefined, maxSeconds: undefined };
const costs = new Map<string, TileCost>([
  [tileSet("a"), { bytes: 100, seconds: undefined }],
  [tileSet("b"), { bytes: undefined, seconds: 2 }],
]);

test("a job for each tile set, its most used tiles first", () => {
  const plan = planWarm(used, NO_LIMIT, new Map());
  expect(plan.jobs.map(({ layer, tiles, requests }) => [layer, tiles, requests])).toEqual([
    ["a", ["9/1/0", "9/2/0"], 11],
    ["b", ["9/1/0", "9/2/0"], 6],
  ]);
  expect(plan).toMatchObject({ tiles: 4, requests: 17, bytes: undefined, seconds: undefined, limitedBy: null });
});

test.each([
  ["tiles", { maxTiles: 3 }, 3],
  ["bytes", { maxBytes: 250 }, 2],
  ["minutes", { maxSeconds: 7 }, 3],
] as const)(
  "the most used are taken until %s are used up, at the mean of what is known",
  (limitedBy, limits, tiles) => {
    expect(planWarm(used, { ...NO_LIMIT, ...limits }, costs)).toMatchObject({
      limitedBy,
      tiles,
      bytes: tiles * 100,
      seconds: tiles * 2,
    });
  },
);

test("a budget that is just enough limits nothing", () => {
  expect(planWarm(used, { maxTiles: 4, maxBytes: 400, maxSeconds: 8 }, costs).limitedBy).toBeNull();
});

test("a long list is several jobs, each within what a request may hold", () => {
  const name = (n: number): string => `30/${1_000_000_000 + n}/1000000000`;
  const many = Array.from({ length: 80_000 }, (_, n): UsedTile => ({ ...tile("a", n, 1), tile: name(n) }));
  const { jobs } = planWarm(many, NO_LIMIT, new Map());
  expect(jobs.map(({ tiles }) => tiles.length)).toEqual([35_000, 35_000, 10_000]);
  for (const job of jobs) expect(JSON.stringify(job).length).toBeLessThan(1024 * 1024);
});

test("of any number of tile sets a thousand get a job", () => {
  const many = Array.from({ length: 1500 }, (_, n) => tile(`layer ${n}`, 0, 1500 - n));
  expect(planWarm(many, NO_LIMIT, new Map())).toMatchObject({ tiles: 1000, limitedBy: "jobs" });
});
