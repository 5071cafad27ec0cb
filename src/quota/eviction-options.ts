import { intersectRects, type TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../tile/tile-set.ts";

/** Tiles that no clean-up takes: an area of one grid subset, a rectangle per level. */
export interface Pin {
  readonly layer: string;
  readonly gridSet: string;
  readonly rects: readonly TileRect[];
}

/** How clean-ups go about it, beside what the contract's quota configuration says. */
export interface EvictionOptions {
  /** A clean-up begins above this share of a quota, and ends at or below that one. */
  readonly highWaterPercent: number;
  readonly lowWaterPercent: number;
  /** Free room on the store's disk below which nothing is stored; null: 5 % of it, 64 MiB and 1000 files at most. */
  readonly minFreeBytes: number | null;
  readonly minFreeInodes: number | null;
  readonly pins: readonly Pin[];
  /** Bytes that a layer keeps whatever other layers need. */
  readonly floors: readonly { readonly layer: string; readonly bytes: bigint }[];
}

/** How much of a rectangle of a tile set is covered by others. */
export function covered(tileSet: TileSet, rect: TileRect, by: Iterable<Pin>): "all" | "some" | "none" {
  let answer: "some" | "none" = "none";
  for (const pin of by) {
    if (pin.layer !== tileSet.layer || pin.gridSet !== tileSet.gridSet) continue;
    for (const other of pin.rects) {
      const part = other.z === rect.z ? intersectRects(other, rect) : undefined;
      if (part === undefined) continue;
      if (part.minX === rect.minX && part.maxX === rect.maxX && part.minY === rect.minY && part.maxY === rect.maxY)
        return "all";
      answer = "some";
    }
  }
  return answer;
}
