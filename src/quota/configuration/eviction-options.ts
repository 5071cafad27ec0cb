import { type Extent, type GridSetName, intersectRects, type TileRect, type Zoom } from "../../grid/grid-set.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import type { QuotaCount } from "./quota-count.ts";

/** Tiles of one grid subset, one rectangle per level. */
export interface SubsetRects {
  readonly layer: LayerName;
  readonly gridSet: GridSetName;
  readonly rects: readonly TileRect[];
}

/** An area that is never evicted, with the extent and levels of its configuration. */
export interface Pin extends SubsetRects {
  readonly extent: Extent | undefined;
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
}

/** Options of eviction that are not part of the classic interface's quota configuration. */
export interface EvictionOptions {
  /** The size that quotas, floors and evictions count. */
  readonly count: QuotaCount;
  /** A clean-up begins above the high-water share of a quota, and ends at or below the low-water share. */
  readonly highWaterPercent: number;
  readonly lowWaterPercent: number;
  /**
   * The free space on the store's disk below which nothing is stored. Absent: 5 % of the disk, at most 64 MiB and 1000
   * files.
   */
  readonly minFreeMiB?: number;
  readonly minFreeInodes?: number;
  readonly pins: readonly Pin[];
  /** The bytes that a layer keeps even if other layers need space. */
  readonly floors: readonly { readonly layer: LayerName; readonly bytes: bigint }[];
}

/**
 * Returns how much of a rectangle of a tile set the areas cover. "all" only if a single rectangle of an area covers all
 * of it.
 */
export function covered(tileSet: TileSet, rect: TileRect, by: Iterable<SubsetRects>): "all" | "some" | "none" {
  let answer: "some" | "none" = "none";
  for (const area of by) {
    if (area.layer !== tileSet.layer || area.gridSet !== tileSet.gridSet) continue;
    for (const other of area.rects) {
      const part = other.z === rect.z ? intersectRects(other, rect) : undefined;
      if (part === undefined) continue;
      if (part.minX === rect.minX && part.maxX === rect.maxX && part.minY === rect.minY && part.maxY === rect.maxY)
        return "all";
      answer = "some";
    }
  }
  return answer;
}
