import { constants } from "node:fs";
import { dirname } from "node:path";
import type { Disk } from "../../../lib/file/disk.ts";
import { storeError } from "../../internal/faults.ts";
import { openRegular } from "../../internal/regular-file.ts";
import { COUNTS_AT, type Counts, DATA_START, encodeCounts, newHeader, readCounts } from "./bundle.ts";

/**
 * Opens a bundle for reading, and closes it after the work. Undefined if the bundle does not exist.
 * @throws StoreError
 */
export function withBundle<T>(disk: Disk, path: string, work: (file: number) => T): T | undefined {
  try {
    const file = openRegular(disk, path, constants.O_RDONLY)?.file;
    if (file === undefined) return undefined;
    try {
      return work(file);
    } finally {
      disk.closeSync(file);
    }
  } catch (error) {
    throw storeError(error, "a bundle cannot be read");
  }
}

/**
 * Opens a bundle for writing. If the bundle is missing, creates it and its directories when `describe` is given;
 * otherwise returns undefined. The caller holds the lock.
 * @param describe describes the directory of a new bundle, which exists then. It is called before the bundle is made, so
 * that a kill leaves no bundle in a directory without a description.
 */
export function openWritable(
  disk: Disk,
  path: string,
  describe: (() => void) | undefined,
): { readonly file: number } | undefined {
  const opened = openRegular(disk, path, constants.O_RDWR);
  if (opened !== undefined) return { file: opened.file };
  if (describe === undefined) return undefined;
  disk.mkdirSync(dirname(path), { recursive: true });
  describe();
  return { file: disk.openSync(path, "wx+") };
}

/** The counts of a bundle, and the position after its last byte. */
export interface Written extends Counts {
  readonly end: number;
}

/**
 * Returns the counts of a bundle. Bytes after the last complete write count as unused. Completes a bundle whose
 * creation was interrupted. The caller holds the lock.
 */
export function countsOf(disk: Disk, file: number): Written {
  const { size } = disk.fstatSync(file);
  if (size < DATA_START) {
    // Written first: the size of the file shows that the header exists.
    writeAll(disk, file, newHeader(), 0);
    disk.ftruncateSync(file, DATA_START);
    return { largestTile: 0, unused: 0, fileBytes: DATA_START, end: DATA_START };
  }
  const counts = readCounts(disk, file);
  // Other programs may not update the number of bytes in the header.
  const lost = counts.fileBytes >= DATA_START ? Math.max(0, size - counts.fileBytes) : 0;
  return { ...counts, unused: counts.unused + lost, fileBytes: size, end: size };
}

export const writeCounts = (disk: Disk, file: number, counts: Counts): void =>
  writeAll(disk, file, encodeCounts(counts), COUNTS_AT);

export function writeAll(disk: Disk, file: number, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.byteLength)
    written += disk.writeSync(file, bytes, written, bytes.byteLength - written, position + written);
}

export const syncIf = ({ disk, fsync }: { readonly disk: Disk; readonly fsync: boolean }, file: number): void => {
  if (fsync) disk.fdatasyncSync(file);
};
