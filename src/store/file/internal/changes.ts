import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TileRect, Zoom } from "../../../grid/grid-set.ts";
import { BLOCK_SIDE } from "../../../layer/tile-set.ts";
import type { LevelChanges } from "../../inventory-store.ts";
import { bucketDirectory, bucketOf, bucketTouches } from "../file-layout.ts";
import { bucketsOf, changedMs, regionOf } from "./regions.ts";

/**
 * Returns the changes to a zoom directory at or after a time. Finds them by the change times of directories: no program
 * can set these, and every added or removed name changes them. Checks each bucket once, and lists the changed buckets.
 */
export function changesOf(directory: string, z: Zoom, sinceMs: number): LevelChanges {
  const { half } = bucketOf(z);
  let names: Promise<readonly string[]> | undefined;
  const present = new Map<string, boolean>();
  return {
    hasLost: (statSync(directory, { throwIfNoEntry: false })?.ctimeMs ?? sinceMs) >= sinceMs,
    async holds(rect: TileRect): Promise<boolean> {
      if (half >= BLOCK_SIDE) {
        const name = bucketDirectory(rect.minX, rect.minY, z);
        const known = present.get(name) ?? existsSync(join(directory, name));
        present.set(name, known);
        return known;
      }
      names ??= bucketsOf(directory, z).then((groups) => [...groups.values()].flatMap(({ buckets }) => buckets));
      const sides = Math.ceil((rect.maxX - rect.minX + 1) / half) * Math.ceil((rect.maxY - rect.minY + 1) / half);
      return (await names).filter((name) => bucketTouches(name, rect)).length >= sides;
    },
    async *regions() {
      for (const group of (await bucketsOf(directory, z)).values()) {
        const times = await Promise.all(group.buckets.map((bucket) => changedMs(join(directory, bucket))));
        if (times.some((ms) => ms >= sinceMs)) yield await regionOf(directory, z, group);
      }
    },
  };
}
