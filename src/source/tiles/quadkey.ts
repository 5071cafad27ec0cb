import type { TileX, Zoom } from "../../grid/grid-set.ts";

/**
 * Returns a quadkey, with one digit per level: the bits of the column and of the row from the top, interleaved (Bing
 * Maps tile system). The quadkey of level 0 is empty. Uses division, because bit operations end at level 31.
 */
export function quadkey(x: TileX, fromTop: number, z: Zoom): string {
  let key = "";
  for (let level = z - 1; level >= 0; level--) {
    const unit = 2 ** level;
    key += String((Math.floor(x / unit) % 2) + 2 * (Math.floor(fromTop / unit) % 2));
  }
  return key;
}
