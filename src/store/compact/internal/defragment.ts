import { constants } from "node:fs";
import { codeOf } from "../../../lib/error-code.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { turn } from "../../../lib/time/sleep.ts";
import { storeError } from "../../internal/faults.ts";
import { openRegular } from "../../internal/regular-file.ts";
import {
  type Counts,
  DATA_START,
  type Entry,
  encodeEntry,
  entryAt,
  isIntact,
  newHeader,
  newRecord,
  newTime,
  readEntry,
  readIndex,
  readRecord,
  SIDE,
  unusedBytes,
} from "./bundle.ts";
import { writeAll, writeCounts } from "./bundle-file.ts";
import type { CompactParts } from "./compact-tiles.ts";

/** The number of tiles copied in one turn of the event loop. */
const CHUNK = 256;

/** An unfinished copy of a bundle. */
interface Copy {
  readonly disk: Disk;
  readonly file: number;
  /** The copied tiles by index: the entry in the bundle, the entry in the copy, and the times. */
  readonly copied: Map<number, { readonly from: Entry; readonly to: Entry; readonly confirmedMs: number }>;
  end: number;
  largestTile: number;
}

/**
 * Rewrites a bundle without its unused bytes. Copies the tiles while other processes read and write the bundle. Then
 * takes the lock, copies the changes since then, and renames the copy over the bundle, so that a reader sees all tiles
 * at every moment. A kill leaves a copy that the next attempt overwrites.
 */
export async function defragment(
  { paths: { clock, disk }, writer }: Pick<CompactParts, "paths" | "writer">,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const copyPath = `${path}.copy`;
  let bundle: number | undefined;
  let file: number | undefined;
  try {
    if (!disk.existsSync(path)) {
      disk.rmSync(copyPath, { force: true });
      writer.wasteful.delete(path);
      return;
    }
    bundle = openRegular(disk, path, constants.O_RDONLY)?.file;
    if (bundle === undefined) return;
    const beganMs = disk.fstatSync(bundle).mtimeMs;
    file = disk.openSync(copyPath, "w+");
    const copy: Copy = { disk, file, copied: new Map(), end: DATA_START, largestTile: 0 };
    disk.ftruncateSync(file, DATA_START);
    writeAll(disk, file, newHeader(), 0);
    for (let from = 0; from < SIDE * SIDE; from += CHUNK) {
      if (signal.aborted) return;
      copyTiles(bundle, copy, from, from + CHUNK);
      await turn(clock);
    }
    disk.fdatasyncSync(file);
    const [from, to] = [bundle, file];
    writer.runAlone(() => {
      copyTiles(from, copy, 0, SIDE * SIDE);
      // A confirmation changes the times of a tile in place, so the times are copied too.
      if (disk.fstatSync(from).mtimeMs !== beganMs) copyTimes(from, copy);
      writeCounts(disk, to, countsOfCopy(copy));
      disk.fdatasyncSync(to);
      // A truncation moves the copy away together with the bundle, and a later writer may have created a new bundle.
      if (isAt(disk, copyPath, to) && isAt(disk, path, from)) disk.renameSync(copyPath, path);
      writer.wasteful.delete(path);
    });
  } catch (error) {
    // A truncation has moved the bundle away. The next sweep removes the note.
    if (codeOf(error) === "ENOENT") return;
    throw storeError(error, "a bundle cannot be defragmented");
  } finally {
    if (bundle !== undefined) disk.closeSync(bundle);
    if (file !== undefined) {
      // The copy was not renamed, because the disk is full or the sweep was aborted.
      if (isAt(disk, copyPath, file)) disk.rmSync(copyPath, { force: true });
      disk.closeSync(file);
    }
  }
}

/** Copies the tiles that were not copied yet, or have changed since they were copied. */
function copyTiles(bundle: number, copy: Copy, first: number, end: number): void {
  const { disk, file, copied } = copy;
  const index = readIndex(disk, bundle);
  for (let i = first; i < end; i++) {
    const entry = index.entry(i);
    const before = copied.get(i);
    if (entry?.offset === before?.from.offset && entry?.size === before?.from.size) continue;
    const record = entry && readRecord(disk, bundle, entry, "whole");
    if (entry === undefined || record === undefined || !isIntact(record)) {
      copied.delete(i);
      writeAll(disk, file, encodeEntry(undefined), entryAt(i));
      continue;
    }
    const written = newRecord(record.tile, record, copy.end);
    writeAll(disk, file, written.bytes, written.position);
    writeAll(disk, file, encodeEntry(written.entry), entryAt(i));
    copy.end = written.position + written.bytes.byteLength;
    copy.largestTile = Math.max(copy.largestTile, record.tile.byteLength);
    copied.set(i, { from: entry, to: written.entry, confirmedMs: record.confirmedMs });
  }
}

/** Copies the times of the tiles that have been confirmed since they were copied. */
function copyTimes(bundle: number, { disk, file, copied }: Copy): void {
  for (const { from, to, confirmedMs } of copied.values()) {
    const head = readRecord(disk, bundle, from, "head");
    if (head?.checksum === undefined || head.confirmedMs === confirmedMs) continue;
    for (const [of, ms] of [["modified", head.modifiedMs] as const, ["confirmed", head.confirmedMs] as const]) {
      const { bytes, position } = newTime(to, of, ms);
      writeAll(disk, file, bytes, position);
    }
  }
}

/** Returns whether an open file is the file at a path. */
const isAt = (disk: Disk, path: string, file: number): boolean =>
  disk.statSync(path, { throwIfNoEntry: false })?.ino === disk.fstatSync(file).ino;

/** Returns the counts of a finished copy. Tiles that changed during the copy have left unused bytes. */
function countsOfCopy({ disk, file, end, largestTile }: Copy): Counts {
  let used = 0;
  for (let i = 0; i < SIDE * SIDE; i++) {
    const entry = readEntry(disk, file, i);
    if (entry !== undefined) used += unusedBytes(entry);
  }
  return { largestTile, unused: Math.max(0, end - DATA_START - used), fileBytes: end };
}
