import type { DiskSpace } from "../store/tile-store.ts";
import type { EvictionOptions } from "./eviction-options.ts";

/** The reserve that no tile takes, unless the configuration sets another: a share of the disk, at most so much. */
const RESERVED_SHARE = 0.05;
const MOST_RESERVED_BYTES = 64 * 2 ** 20;
const MOST_RESERVED_INODES = 1_000;

/** The space of the store's disk that tiles may take. `files` is `Infinity` where the disk does not count files. */
export interface SpaceOnDisk {
  readonly bytes: bigint;
  readonly files: number;
}

/** Returns the free space beyond the reserve of the disk. Below 0: the reserve is not free. */
export function spaceOnDisk(
  { freeBytes, totalBytes, freeInodes, totalInodes }: DiskSpace,
  { minFreeMiB, minFreeInodes }: Pick<EvictionOptions, "minFreeMiB" | "minFreeInodes">,
): SpaceOnDisk {
  const reserve =
    minFreeMiB === undefined ? Math.min(totalBytes * RESERVED_SHARE, MOST_RESERVED_BYTES) : minFreeMiB * 2 ** 20;
  const reservedFiles = minFreeInodes ?? Math.min(totalInodes * RESERVED_SHARE, MOST_RESERVED_INODES);
  return { bytes: BigInt(Math.floor(freeBytes - reserve)), files: freeInodes - reservedFiles };
}
