import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { formatOfExtension } from "../../layer/format.ts";
import { BLOCK_SIDE } from "../../tile/tile-set.ts";
import type { Region } from "../blob-store.ts";
import { bucketDirectory, bucketOf, parsePair, tileFile } from "../file-layout.ts";
import { isAbsent } from "./faults.ts";

/** Names read between two turns of the loop. */
const READ_AHEAD = 256;

/**
 * The tiles of a zoom directory, a region at a time, in a fixed order: a bucket directory, or a block of the ledger where
 * buckets are smaller. Files whose names are not those of a tile are passed over, as no reader looks for them.
 */
export async function* regionsOf(directory: string, z: number, after: string | undefined): AsyncGenerator<Region> {
  const { half } = bucketOf(z);
  const side = Math.max(half, BLOCK_SIDE);
  const regions = new Map<string, { x: number; y: number; buckets: string[] }>();
  for await (const { name } of entriesOf(directory)) {
    const bucket = parsePair(name);
    if (bucket === undefined || bucketDirectory(bucket.x * half, bucket.y * half, z) !== name) continue;
    const [x, y] = [Math.floor((bucket.x * half) / side), Math.floor((bucket.y * half) / side)];
    const key = `${String(y).padStart(10, "0")}_${String(x).padStart(10, "0")}`;
    const region = regions.get(key);
    if (region === undefined) regions.set(key, { x, y, buckets: [name] });
    else region.buckets.push(name);
  }
  for (const key of [...regions.keys()].sort()) {
    const region = regions.get(key);
    if (region === undefined || (after !== undefined && key <= after)) continue;
    const tiles = new Map<string, { x: number; y: number }[]>();
    for (const bucket of region.buckets) {
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
    const [minX, minY] = [region.x * side, region.y * side];
    yield { key, rect: { z, minX, minY, maxX: minX + side - 1, maxY: minY + side - 1 }, tiles };
  }
}

/** The entries of a directory, none when it is not there (any more). */
async function* entriesOf(path: string): AsyncGenerator<Dirent> {
  let directory: Awaited<ReturnType<typeof opendir>>;
  try {
    directory = await opendir(path, { bufferSize: READ_AHEAD });
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  yield* directory;
}
