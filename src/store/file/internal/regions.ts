import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  asTileRect,
  asTileX,
  asTileY,
  type TileRect,
  type TileX,
  type TileY,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { formatOfExtension } from "../../../layer/format.ts";
import { BLOCK_SIDE, type FormatName } from "../../../layer/tile-set.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { isAbsent } from "../../internal/faults.ts";
import type { Region } from "../../inventory-store.ts";
import { bucketDirectory, bucketOf, parsePair, tileFile } from "../file-layout.ts";

/** The number of names read between two turns of the event loop. */
const READ_AHEAD = 256;

/** The bucket directories whose tiles form one region. */
export interface Buckets {
  readonly key: string;
  readonly rect: TileRect;
  readonly buckets: string[];
}

/**
 * Yields the tiles of a zoom directory, a region at a time, in a fixed order. A region is a bucket directory, or a
 * block of the ledger if buckets are smaller. Skips files whose names are not names of tiles, because no reader looks
 * them up.
 */
export async function* regionsOf(directory: string, z: Zoom, after: string | undefined): AsyncGenerator<Region> {
  for (const group of (await bucketsOf(directory, z)).values())
    if (after === undefined || group.key > after) yield await regionOf(directory, z, group);
}

/** Returns the bucket directories by region, in the order of the regions' keys. */
export async function bucketsOf(directory: string, z: Zoom): Promise<ReadonlyMap<string, Buckets>> {
  const { half } = bucketOf(z);
  const side = Math.max(half, BLOCK_SIDE);
  const regions = new Map<string, Buckets>();
  for await (const { name } of entriesOf(directory)) {
    const bucket = parsePair(name);
    if (bucket === undefined || bucketDirectory(asTileX(bucket.x * half), asTileY(bucket.y * half), z) !== name)
      continue;
    const [x, y] = [Math.floor((bucket.x * half) / side), Math.floor((bucket.y * half) / side)];
    const key = `${String(y).padStart(10, "0")}_${String(x).padStart(10, "0")}`;
    const region = regions.get(key);
    const [minX, minY] = [x * side, y * side];
    const rect = asTileRect({ z, minX, minY, maxX: minX + side - 1, maxY: minY + side - 1 });
    if (region === undefined) regions.set(key, { key, rect, buckets: [name] });
    else region.buckets.push(name);
  }
  return new Map([...regions].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export async function regionOf(directory: string, z: Zoom, { key, rect, buckets }: Buckets): Promise<Region> {
  const tiles = new Map<FormatName, { x: TileX; y: TileY }[]>();
  const directories = new Map<string, number | undefined>();
  for (const bucket of buckets) {
    directories.set(bucket, await settledMs(join(directory, bucket)));
    for await (const { name } of entriesOf(join(directory, bucket))) {
      const tile = parsePair(name);
      if (tile === undefined || tileFile(tile.x, tile.y, z, tile.extension) !== name) continue;
      if (bucketDirectory(tile.x, tile.y, z) !== bucket) continue;
      const format = formatOfExtension(tile.extension);
      if (format?.extension !== tile.extension) continue;
      const found = tiles.get(format.mimeType);
      if (found === undefined) tiles.set(format.mimeType, [{ x: tile.x, y: tile.y }]);
      else found.push({ x: tile.x, y: tile.y });
    }
  }
  return { key, rect, tiles, directories };
}

/** Yields the entries of a directory. Yields no entries if the directory does not exist. */
export async function* entriesOf(path: string): AsyncGenerator<Dirent> {
  let directory: Awaited<ReturnType<typeof opendir>>;
  try {
    directory = await opendir(path, { bufferSize: READ_AHEAD });
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  yield* directory;
}

/** The resolution of a file system's clock. */
const CLOCK_STEP_MS = 1_000;

/**
 * Returns the change time of a directory. Undefined if the time is so recent that the next change may leave it the
 * same.
 */
export async function settledMs(path: string): Promise<number | undefined> {
  const ms = await changedMs(path);
  return ms <= machineClock.now() - CLOCK_STEP_MS ? ms : undefined;
}

/** Returns the change time of a directory in ms; 0 if the directory does not exist any more. */
export const changedMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ ctimeMs }) => ctimeMs,
    () => 0,
  );
