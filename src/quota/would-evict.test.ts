import { expect, test } from "vitest";
import { DEFAULT_QUOTA, type QuotaConfiguration } from "./configuration/quota-configuration.ts";
import { wouldEvict } from "./would-evict.ts";

const OPTIONS = { count: "content", highWaterPercent: 100, lowWaterPercent: 100 } as const;
/** Tiles of 100 bytes, in blocks of 4096. */
const tiles = (count: number) => ({
  tiles: BigInt(count),
  bytes: BigInt(count) * 100n,
  allocated: BigInt(count) * 4096n,
});
const quota = (globalBytes: number, layers: Readonly<Record<string, number>> = {}): QuotaConfiguration => ({
  ...DEFAULT_QUOTA,
  enabled: true,
  globalQuota: { value: String(globalBytes), units: "B" },
  layerQuotas: Object.entries(layers).map(([layer, bytes]) => ({
    layer,
    expirationPolicyName: "LRU",
    quota: { value: String(bytes), units: "B" },
  })),
});
const USED = new Map([
  ["a", tiles(10)],
  ["b", tiles(30)],
]);

test("nothing is evicted below the quota, or while it is not enforced", () => {
  expect(wouldEvict(quota(4_000), OPTIONS, USED)).toEqual(tiles(0));
  expect(wouldEvict({ ...quota(0), enabled: false }, OPTIONS, USED)).toEqual(tiles(0));
  expect(wouldEvict(quota(0), OPTIONS, new Map())).toEqual(tiles(0));
});

test("the excess over the global quota is evicted, in what the quota counts", () => {
  expect(wouldEvict(quota(1_000), OPTIONS, USED)).toEqual(tiles(30));
  expect(wouldEvict(quota(0), OPTIONS, USED)).toEqual(tiles(40));
  expect(wouldEvict(quota(39 * 4096), { ...OPTIONS, count: "allocated" }, USED)).toEqual(tiles(1));
  // Half a tile counts as a whole tile.
  expect(wouldEvict(quota(3_950), OPTIONS, USED)).toMatchObject({ tiles: 1n, bytes: 50n });
});

test("a layer's own quota counts first, and its tiles go for the global quota only when others are not enough", () => {
  expect(wouldEvict(quota(10_000, { a: 400 }), OPTIONS, USED)).toEqual(tiles(6));
  expect(wouldEvict(quota(3_000, { a: 400 }), OPTIONS, USED)).toEqual(tiles(10));
  expect(wouldEvict(quota(200, { a: 400 }), OPTIONS, USED)).toEqual(tiles(38));
});

test("a clean-up begins above the high-water share, and goes down to the low-water share", () => {
  const options = { ...OPTIONS, highWaterPercent: 90, lowWaterPercent: 50 };
  expect(wouldEvict(quota(4_500), options, USED)).toEqual(tiles(0));
  expect(wouldEvict(quota(4_400), options, USED)).toEqual(tiles(18));
});
