import { expect, test } from "vitest";
import { DEFAULT_QUOTA } from "../../quota/configuration/quota-configuration.ts";
import { addGrowth, fitsOf, type Growth, type GrowthLimits, NO_GROWTH, sizeOf } from "./store-growth.ts";

const MIB = 2 ** 20;
const size = (bytes: number, allocated: number) => ({ bytes: BigInt(bytes), allocated: BigInt(allocated) });
const sum = (tiles: number, bytes: number, allocated: number) => ({ tiles: BigInt(tiles), ...size(bytes, allocated) });

/**
 * A store of 10 MiB of content in 100 MiB of blocks, on a disk with 1000 MiB and 5000 files left beyond its reserve.
 */
const limits = (quotaMiB: number | undefined, more: Partial<GrowthLimits> = {}): GrowthLimits => ({
  ledger: {
    sums: {
      total: sum(25_600, 10 * MIB, 100 * MIB),
      byLayer: new Map(),
      of: () => sum(25_600, 10 * MIB, 100 * MIB),
    },
  },
  quota: {
    ...DEFAULT_QUOTA,
    enabled: quotaMiB !== undefined,
    globalQuota: { value: `${quotaMiB ?? 0}`, units: "MiB" },
  },
  options: { count: "allocated", minFreeMiB: 10, minFreeInodes: 100 },
  space: { freeBytes: 1010 * MIB, totalBytes: 2000 * MIB, freeInodes: 5100, totalInodes: 10_000 },
  blockBytes: 4096,
  ...more,
});
const fits = (growth: Growth, of: GrowthLimits) => Object.values(fitsOf(new Map([["a", growth]]), of));
const many: Growth = { files: 5000n, size: size(2 * MIB, 20 * MIB) };

test("quota and disk are judged by the blocks, inodes by the files, and the reserve of the disk stays free", () => {
  expect(fits(many, limits(120))).toEqual([true, true, true]);
  expect(fits(many, limits(119))).toEqual([false, true, true]);
  expect(fits({ ...many, files: 5001n }, limits(120))).toEqual([true, true, false]);
  expect(fits({ files: 1n, size: size(1, 1000 * MIB) }, limits(undefined))).toEqual([null, true, true]);
  expect(fits({ files: 1n, size: size(1, 1000 * MIB + 1) }, limits(undefined))).toEqual([null, false, true]);
});

test("with diskQuota.count: content the quota is judged by the content, the disk by the blocks all the same", () => {
  const content = (quotaMiB: number) =>
    limits(quotaMiB, { options: { count: "content", minFreeMiB: 10, minFreeInodes: 100 } });
  expect(fits(many, content(12))).toEqual([true, true, true]);
  expect(fits(many, content(11))).toEqual([false, true, true]);
});

test("of tiles of an unknown size only that is known which a block for each decides", () => {
  const unknown: Growth = { files: 5000n, size: null };
  expect(fits(unknown, limits(120))).toEqual([null, null, true]);
  expect(fits(unknown, limits(119))).toEqual([false, null, true]);
  const inBlocks = limits(undefined, { blockBytes: MIB });
  expect(fits(unknown, inBlocks)).toEqual([null, false, true]);
  expect(fits(unknown, limits(119, { options: { count: "content" } }))[0]).toBeNull();
});

test("what adds nothing fits, and nothing is known of a disk that has never answered", () => {
  const full = { freeBytes: 0, totalBytes: 1, freeInodes: 0, totalInodes: 1 };
  expect(fits(NO_GROWTH, limits(1, { space: full }))).toEqual([true, true, true]);
  expect(fits(many, limits(undefined, { space: undefined }))).toEqual([null, null, null]);
  const uncounted = { ...full, freeBytes: 1010 * MIB, freeInodes: Number.POSITIVE_INFINITY };
  expect(fits({ ...many, files: 10n ** 12n }, limits(undefined, { space: uncounted }))).toEqual([null, true, true]);
});

test("layers are judged by their own quotas and together by the global one", () => {
  const layerQuotas = [{ layer: "a", expirationPolicyName: "LRU", quota: { value: "120", units: "MiB" } }] as const;
  const of = (globalMiB: number) => limits(globalMiB, { quota: { ...limits(globalMiB).quota, layerQuotas } });
  expect(fitsOf(new Map([["b", many]]), of(120)).fitsQuota).toBe(true);
  expect(fitsOf(new Map([["a", addGrowth(many, many)]]), of(1000)).fitsQuota).toBe(false);
  expect(
    fitsOf(
      new Map([
        ["a", many],
        ["b", many],
      ]),
      of(139),
    ).fitsQuota,
  ).toBe(false);
  expect(
    fitsOf(
      new Map([
        ["a", many],
        ["b", many],
      ]),
      of(140),
    ).fitsQuota,
  ).toBe(true);
  expect(addGrowth(many, { files: 1n, size: null })).toEqual({ files: 5001n, size: null });
});

test("sizes are the means of the stored tiles at the level, both sizes of the same tiles", () => {
  const known = [
    { sums: new Map([[3, sum(100, 50_000, 409_600)]]) },
    {
      sums: new Map([
        [3, sum(100, 150_000, 819_200)],
        [9, sum(1000, 300_000, 4_096_000)],
      ]),
    },
  ];
  expect(sizeOf([{ z: 9, tiles: 10n }], known)).toEqual(size(3000, 40_960));
  expect(
    sizeOf(
      [
        { z: 3, tiles: 10n },
        { z: 10, tiles: 1n },
      ],
      known,
    ),
  ).toEqual(size(5000 + 300, 40_960 + 4096));
  expect(sizeOf([{ z: 3, tiles: 10n }], [])).toBeNull();
});
