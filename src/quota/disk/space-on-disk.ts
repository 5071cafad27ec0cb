import type { DiskSpace } from "../../store/tile-store.ts";
import type { EvictionOptions } from "../configuration/eviction-options.ts";

/** The default reserve that no tile may use: a share of the disk, limited to a number of bytes. */
const RESERVED_SHARE = 0.05;
const MOST_RESERVED_BYTES = 64 * 2 ** 20;
const MOST_RESERVED_INODES = 1_000;

/** The space of the store's disk that tiles may use. `files` is `Infinity` if the disk does not count files. */
export interface SpaceOnDisk {
  readonly bytes: bigint;
  readonly files: number;
}

/** Returns the free space beyond the reserve of the disk. Negative if the reserve is not free. */
export function spaceOnDisk(
  { freeBytes, totalBytes, freeInodes, totalInodes }: DiskSpace,
  { minFreeMiB, minFreeInodes }: Pick<EvictionOptions, "minFreeMiB" | "minFreeInodes">,
): SpaceOnDisk {
  const reserve =
    minFreeMiB === undefined ? Math.min(totalBytes * RESERVED_SHARE, MOST_RESERVED_BYTES) : minFreeMiB * 2 ** 20;
  const reservedFiles = minFreeInodes ?? Math.min(totalInodes * RESERVED_SHARE, MOST_RESERVED_INODES);
  return { bytes: BigInt(Math.floor(freeBytes - reserve)), files: freeInodes - reservedFiles };
}
