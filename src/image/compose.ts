import type { ImageFormat } from "../layer/format.ts";
import type { EncodingOptions } from "../layer/layer.ts";
import { decodePicture } from "./decode.ts";
import { encodeTiles } from "./encode.ts";
import { loadSharp } from "./load-sharp.ts";
import type { Raster } from "./raster.ts";

/** Tiles side by side, of which a window is wanted at another size. All in pixels, from the top left of the window. */
export interface Composition extends EncodingOptions {
  readonly tiles: readonly { readonly left: number; readonly top: number; readonly bytes: Uint8Array }[];
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly windowWidth: number;
  readonly windowHeight: number;
  /** Of the picture. */
  readonly width: number;
  readonly height: number;
  readonly format: ImageFormat;
}

/**
 * One picture of many tiles; what no tile covers is transparent (white in formats without transparency).
 * @throws PictureError when a tile is no whole picture of the tile size
 */
export async function composePicture(composition: Composition): Promise<Uint8Array> {
  const { tileWidth, tileHeight, windowWidth, windowHeight, width, height, format } = composition;
  const window: Raster = {
    width: windowWidth,
    height: windowHeight,
    channels: 4,
    data: new Uint8Array(windowWidth * windowHeight * 4),
  };
  for (const { left, top, bytes } of composition.tiles)
    paste(await decodePicture(bytes, { width: tileWidth, height: tileHeight }), window, left, top);
  const picture = windowWidth === width && windowHeight === height ? window : await resampled(window, width, height);
  const [encoded] = await encodeTiles(picture, [{ left: 0, top: 0, width, height }], format, composition);
  if (encoded === undefined) throw new Error("one cut gives one tile");
  return encoded;
}

/** What of the tile lies inside of the window. */
function paste(tile: Raster, window: Raster, left: number, top: number): void {
  const fromX = Math.max(0, -left);
  const toX = Math.min(tile.width, window.width - left);
  for (let y = Math.max(0, -top); y < Math.min(tile.height, window.height - top); y++) {
    let to = ((top + y) * window.width + left + fromX) * 4;
    let from = (y * tile.width + fromX) * tile.channels;
    for (let x = fromX; x < toX; x++, from += tile.channels, to += 4) {
      window.data[to] = tile.data[from] ?? 0;
      window.data[to + 1] = tile.data[from + 1] ?? 0;
      window.data[to + 2] = tile.data[from + 2] ?? 0;
      window.data[to + 3] = tile.channels === 4 ? (tile.data[from + 3] ?? 0) : 255;
    }
  }
}

async function resampled(
  { width, height, channels, data }: Raster,
  toWidth: number,
  toHeight: number,
): Promise<Raster> {
  const sharp = await loadSharp();
  const pixels = await sharp(data, { raw: { width, height, channels } })
    .resize(toWidth, toHeight, { fit: "fill", kernel: "linear" })
    .raw()
    .toBuffer();
  return { width: toWidth, height: toHeight, channels: 4, data: pixels };
}
