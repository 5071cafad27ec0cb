import { join } from "node:path";
import { asTileX, asTileY, type TileRect, type TileX, type TileY } from "../../../grid/grid-set.ts";
import { formatInPath } from "../../../layer/format.ts";
import { BLOCK_SIDE, type FormatName } from "../../../layer/tile-set.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import type { Machine } from "../../../lib/machine.ts";
import { changedMs, entriesOf, settledMs } from "../../internal/directories.ts";
import { mayBeDirectory } from "../../internal/layer-directory.ts";
import { regionKey, squareOf } from "../../internal/regions.ts";
import type { LevelChanges, Region } from "../../inventory-store.ts";
import {
  bucketDirectory,
  bucketOf,
  bucketsOfRect,
  bucketTouches,
  parsePair,
  parseZoomDirectory,
  tileFile,
  zoomDirectory,
} from "../file-layout.ts";
import type { LevelDirectory, TileLayout } from "./tile-layout.ts";

/** Grid sets have fewer levels. A larger number at the end of a foreign directory's name may be a year. */
const MOST_LEVELS = 100;

/** GWC's default layout. */
export const gwcLayout = (machine: Pick<Machine, "clock" | "disk">): TileLayout => ({
  countsFromTop: false,
  levelDirectory: ({ gridSet, parametersId }, z) => zoomDirectory(gridSet, z, parametersId),
  levels: (_, names) =>
    names.flatMap((name) => {
      const parsed = parseZoomDirectory(name);
      return parsed === undefined ? [] : [{ name, ...parsed }];
    }),
  ownedOf: (_, entry) => {
    const parsed = parseZoomDirectory(entry.name);
    return parsed !== undefined && parsed.z < MOST_LEVELS && mayBeDirectory(entry) ? "all" : [];
  },
  bucket: bucketDirectory,
  file: tileFile,
  parse: (_, file) => parsePair(file),
  bucketsOfRect,
  touches: bucketTouches,
  hasLargeBuckets: (z) => bucketOf(z).half > BLOCK_SIDE / 4,
  async *regions(level, after) {
    for (const group of (await bucketsIn(machine.disk, level)).values())
      if (after === undefined || group.key > after) yield await regionOf(machine, level, group);
  },
  changes: (level, sinceMs) => changesOf(machine, level, sinceMs),
  pyramidDirectory: () => undefined,
});

/** The bucket directories whose tiles form one region. */
interface Buckets extends Pick<Region, "key" | "rect"> {
  readonly buckets: string[];
}

/**
 * Returns the bucket directories by region, in the order of the regions' keys. A region is a bucket directory, or a
 * block of the ledger if buckets are smaller.
 */
async function bucketsIn(disk: Disk, { path, z }: LevelDirectory): Promise<ReadonlyMap<string, Buckets>> {
  const { half } = bucketOf(z);
  const side = Math.max(half, BLOCK_SIDE);
  const regions = new Map<string, Buckets>();
  for await (const { name } of entriesOf(disk, path)) {
    const bucket = parsePair(name);
    if (bucket === undefined || bucketDirectory(asTileX(bucket.x * half), asTileY(bucket.y * half), z) !== name)
      continue;
    const [x, y] = [Math.floor((bucket.x * half) / side), Math.floor((bucket.y * half) / side)];
    const key = regionKey(y, x);
    const region = regions.get(key);
    if (region === undefined) regions.set(key, { key, rect: squareOf(z, x, y, side), buckets: [name] });
    else region.buckets.push(name);
  }
  return new Map([...regions].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Lists the tiles of a region. Skips files whose names are not names of tiles, because no reader looks them up. */
async function regionOf(
  machine: Pick<Machine, "clock" | "disk">,
  { path, z }: LevelDirectory,
  { key, rect, buckets }: Buckets,
): Promise<Region> {
  const tiles = new Map<FormatName, { x: TileX; y: TileY }[]>();
  const directories = new Map<string, number | undefined>();
  for (const bucket of buckets) {
    const directory = join(path, bucket);
    directories.set(bucket, await settledMs(machine, directory));
    for await (const { name } of entriesOf(machine.disk, directory)) {
      const tile = parsePair(name);
      if (tile === undefined || tileFile(tile.x, tile.y, z, tile.extension) !== name) continue;
      if (bucketDirectory(tile.x, tile.y, z) !== bucket) continue;
      const format = formatInPath(tile.extension);
      if (format === undefined) continue;
      const found = tiles.get(format);
      if (found === undefined) tiles.set(format, [{ x: tile.x, y: tile.y }]);
      else found.push({ x: tile.x, y: tile.y });
    }
  }
  return { key, rect, tiles, directories };
}

/**
 * Returns the changes to a level at or after a time. Finds them by the change times of directories: no program can set
 * these, and every added or removed name changes them. Checks each bucket once, and lists the changed buckets.
 */
function changesOf(machine: Pick<Machine, "clock" | "disk">, level: LevelDirectory, sinceMs: number): LevelChanges {
  const { disk } = machine;
  const { path, z } = level;
  const { half } = bucketOf(z);
  let names: Promise<readonly string[]> | undefined;
  const present = new Map<string, boolean>();
  return {
    hasLost: (disk.statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? sinceMs) >= sinceMs,
    async holds(rect: TileRect): Promise<boolean> {
      if (half >= BLOCK_SIDE) {
        const name = bucketDirectory(rect.minX, rect.minY, z);
        const known = present.get(name) ?? disk.existsSync(join(path, name));
        present.set(name, known);
        return known;
      }
      names ??= bucketsIn(disk, level).then((groups) => [...groups.values()].flatMap(({ buckets }) => buckets));
      const sides = Math.ceil((rect.maxX - rect.minX + 1) / half) * Math.ceil((rect.maxY - rect.minY + 1) / half);
      return (await names).filter((name) => bucketTouches(name, rect)).length >= sides;
    },
    async *regions() {
      for (const group of (await bucketsIn(disk, level)).values()) {
        const times = await Promise.all(group.buckets.map((bucket) => changedMs(disk, join(path, bucket))));
        if (times.some((ms) => ms >= sinceMs)) yield await regionOf(machine, level, group);
      }
    },
  };
}
