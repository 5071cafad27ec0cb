import type { GridSet } from "../../../grid/grid-set.ts";
import { encodePng } from "../../../image/png-encode.ts";

const TRANSPARENT = [0, 0, 0, 0] as const;
const GREEN = [0, 255, 0, 255] as const;

const made = new Map<string, Uint8Array>();

/** Returns the PNG for a refused request: empty, or green to make the filter visible. Made once per size. */
export function filteredTile({ tileWidth, tileHeight }: GridSet, isGreen: boolean): Uint8Array {
  const key = `${tileWidth}x${tileHeight} ${isGreen}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const data = new Uint8Array(tileWidth * tileHeight * 4);
  const colour = isGreen ? GREEN : TRANSPARENT;
  for (let i = 0; i < data.length; i++) data[i] = colour[i % 4] ?? 0;
  const raster = { width: tileWidth, height: tileHeight, channels: 4, data } as const;
  const png = encodePng(raster, { left: 0, top: 0, width: tileWidth, height: tileHeight });
  made.set(key, png);
  return png;
}
