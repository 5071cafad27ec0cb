import type { Zoom } from "../../grid/grid-set.ts";
import type { KnownTileSet, Ledger } from "../../ledger/ledger.ts";
import type { EvictionOptions } from "../../quota/configuration/eviction-options.ts";
import { quotaBytes } from "../../quota/configuration/quota-bytes.ts";
import type { QuotaConfiguration } from "../../quota/configuration/quota-configuration.ts";
import { countedSize } from "../../quota/configuration/quota-count.ts";
import { spaceOnDisk } from "../../quota/disk/space-on-disk.ts";
import type { DiskSpace } from "../../store/tile-store.ts";

/** The bytes of tiles, and the bytes that the disk allocates for them. */
export interface TilesSize {
  readonly bytes: bigint;
  readonly allocated: bigint;
}

/** The growth of the store by a job. */
export interface Growth {
  readonly files: bigint;
  /** The size of the new tiles. Null if there is no stored tile to estimate it from. */
  readonly size: TilesSize | null;
}

export const NO_GROWTH: Growth = { files: 0n, size: { bytes: 0n, allocated: 0n } };

export const addGrowth = (a: Growth, b: Growth): Growth => ({
  files: a.files + b.files,
  size:
    a.size === null || b.size === null
      ? null
      : { bytes: a.size.bytes + b.size.bytes, allocated: a.size.allocated + b.size.allocated },
});

/** The quotas and the disk space, which limit the growth of the store. */
export interface GrowthLimits {
  readonly ledger: Pick<Ledger, "sums">;
  readonly quota: QuotaConfiguration;
  readonly options: Pick<EvictionOptions, "count" | "minFreeMiB" | "minFreeInodes">;
  /** The space on the disk. Undefined if the file system has never answered. */
  readonly space: DiskSpace | undefined;
  /** The bytes that the disk allocates for the smallest tile. */
  readonly blockBytes: number;
}

/** Whether the store can grow. Null if unknown; for a quota also if no quota is enforced. */
export interface Fits {
  readonly fitsQuota: boolean | null;
  readonly fitsDisk: boolean | null;
  readonly fitsInodes: boolean | null;
}

/** Returns the minimum that the disk allocates for files: a block each. */
export const leastAllocated = (files: bigint, { blockBytes }: Pick<GrowthLimits, "blockBytes">): bigint =>
  files * BigInt(blockBytes);

/** Returns whether the store can grow without an eviction. @param growths by layer */
export function fitsOf(growths: ReadonlyMap<string, Growth>, limits: GrowthLimits): Fits {
  const all = [...growths.values()].reduce(addGrowth, NO_GROWTH);
  const left = limits.space === undefined ? undefined : spaceOnDisk(limits.space, limits.options);
  return {
    fitsQuota: fitsQuotas(growths, all, limits),
    fitsDisk: left === undefined ? null : fits(all, "allocated", left.bytes, limits),
    fitsInodes: left === undefined ? null : all.files === 0n || Number(all.files) <= left.files,
  };
}

function fitsQuotas(growths: ReadonlyMap<string, Growth>, all: Growth, limits: GrowthLimits): boolean | null {
  const { ledger, quota, options } = limits;
  if (!quota.enabled) return null;
  const fitsOne = (growth: Growth, limit: bigint, used: Readonly<TilesSize>): boolean | null =>
    fits(growth, options.count, limit - countedSize(used, options.count), limits);
  const answers = quota.layerQuotas.flatMap(({ layer, quota: own }) => {
    const growth = growths.get(layer);
    return growth === undefined ? [] : [fitsOne(growth, quotaBytes(own), ledger.sums.of(layer))];
  });
  answers.push(fitsOne(all, quotaBytes(quota.globalQuota), ledger.sums.total));
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
}

/**
 * Returns whether a growth is at most `left`. A growth of unknown size does not fit if one block per file does not.
 * Null if unknown.
 */
function fits(
  { files, size }: Growth,
  count: EvictionOptions["count"],
  left: bigint,
  limits: Pick<GrowthLimits, "blockBytes">,
): boolean | null {
  if (files === 0n) return true;
  if (size !== null) return countedSize(size, count) <= left;
  return count === "allocated" && leastAllocated(files, limits) > left ? false : null;
}

interface Stored extends TilesSize {
  readonly z: Zoom;
  readonly tiles: bigint;
}

/**
 * The number of tiles that gives a reliable mean size. If a level has fewer tiles, and fewer than the job would render
 * there, the nearest levels are added to the sample.
 */
const SAMPLE = 100n;

/** Returns the size of tiles by the mean sizes of stored tiles. Null if no tile is stored. */
export function sizeOf(
  zooms: readonly Pick<Stored, "z" | "tiles">[],
  known: readonly Pick<KnownTileSet, "sums">[],
): TilesSize | null {
  const stored: Stored[] = [];
  for (const { sums } of known) for (const [z, sum] of sums) if (sum.tiles > 0n) stored.push({ z, ...sum });
  if (stored.length === 0) return null;
  const all = { bytes: 0n, allocated: 0n };
  for (const { z, tiles } of zooms) {
    const sample = sampleAt(z, tiles, stored);
    all.bytes += (tiles * sample.bytes) / sample.tiles;
    all.allocated += (tiles * sample.allocated) / sample.tiles;
  }
  return all;
}

/**
 * Returns the tiles and sizes of the nearest levels, as many as the sample needs, because sizes at deep levels say
 * little about high levels.
 */
function sampleAt(z: Zoom, wanted: bigint, stored: readonly Stored[]): Omit<Stored, "z"> {
  const nearest = [...stored].sort((a, b) => Math.abs(a.z - z) - Math.abs(b.z - z));
  const sample = { tiles: 0n, bytes: 0n, allocated: 0n };
  for (const { tiles, bytes, allocated } of nearest) {
    if (sample.tiles >= SAMPLE || (sample.tiles > 0n && sample.tiles >= wanted)) break;
    sample.tiles += tiles;
    sample.bytes += bytes;
    sample.allocated += allocated;
  }
  return sample;
}
