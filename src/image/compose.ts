import { setImmediate as nextTurn } from "node:timers/promises";
import type { ImageFormat } from "../layer/format.ts";
import type { EncodingOptions } from "../layer/layer.ts";
import { decodePicture } from "./decode.ts";
import { encodeTiles } from "./encode.ts";
import { loadSharp } from "./load-sharp.ts";
import { PictureError } from "./picture-error.ts";
import type { Raster } from "./raster.ts";

/** Sides and place need not be whole pixels. */
export interface Cutting {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Tiles side by side, of which a window is wanted at another size. All in pixels, from the top left of the window. */
export interface Composition extends EncodingOptions {
  readonly tiles: readonly { readonly left: number; readonly top: number; readonly bytes: Uint8Array }[];
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly windowWidth: number;
  readonly windowHeight: number;
  /** The part of the window that is enlarged to the picture; undefined: all of it becomes the picture. */
  readonly cut: Cutting | undefined;
  /** Of the picture. */
  readonly width: number;
  readonly height: number;
  readonly format: ImageFormat;
}

export type Composed =
  | { readonly kind: "picture"; readonly bytes: Uint8Array }
  /** `tile`: the first, in the composition's order, that is no whole picture of the tile size, and why. */
  | { readonly kind: "damaged"; readonly tile: number; readonly message: string };

/**
 * One picture of many tiles; what no tile covers is transparent (white in formats without transparency).
 * @throws the signal's reason, between two tiles
 */
export async function composePicture(composition: Composition, signal: AbortSignal): Promise<Composed> {
  const { tileWidth, tileHeight, windowWidth, windowHeight, width, height, format } = composition;
  const window: Raster = {
    width: windowWidth,
    height: windowHeight,
    channels: 4,
    data: new Uint8Array(windowWidth * windowHeight * 4),
  };
  for (const [tile, { left, top, bytes }] of composition.tiles.entries()) {
    // Decoding may take no turn of its own: others are heard, and with them the end of this one.
    await nextTurn();
    signal.throwIfAborted();
    try {
      paste(await decodePicture(bytes, { width: tileWidth, height: tileHeight }), window, left, top);
    } catch (error) {
      if (!(error instanceof PictureError)) throw error;
      return { kind: "damaged", tile, message: error.message };
    }
  }
  signal.throwIfAborted();
  const picture = await pictureOf(window, composition);
  await nextTurn();
  signal.throwIfAborted();
  const [encoded] = await encodeTiles(picture, [{ left: 0, top: 0, width, height }], format, composition);
  if (encoded === undefined) throw new Error("one cut gives one tile");
  return { kind: "picture", bytes: encoded };
}

async function pictureOf(window: Raster, { cut, width, height }: Composition): Promise<Raster> {
  if (cut !== undefined) return enlarged(window, cut, width, height);
  return window.width === width && window.height === height ? window : resampled(window, width, height);
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

/** Where a line of pixels lies among those that it is made of. */
interface Sample {
  readonly first: number;
  readonly second: number;
  /** Of the second, 0 to 1. */
  readonly share: number;
}

/** Beyond the middle of the outermost pixels their colour goes on. */
const samplesOf = (from: number, span: number, count: number, side: number): readonly Sample[] =>
  Array.from({ length: count }, (_, i) => {
    const at = Math.min(Math.max(from + ((i + 0.5) * span) / count - 0.5, 0), side - 1);
    const first = Math.floor(at);
    return { first, second: Math.min(first + 1, side - 1), share: at - first };
  });

/** Bilinear, to parts of a pixel: sharp cuts by whole ones, which are as large as the picture where it shows few of them. */
function enlarged(window: Raster, { left, top, width, height }: Cutting, toWidth: number, toHeight: number): Raster {
  const { data } = window;
  const columns = samplesOf(left, width, toWidth, window.width);
  const rows = samplesOf(top, height, toHeight, window.height);
  const out = new Uint8Array(toWidth * toHeight * 4);
  let to = 0;
  for (const row of rows) {
    for (const column of columns) {
      let [red, green, blue, alpha] = [0, 0, 0, 0];
      for (let corner = 0; corner < 4; corner++) {
        const y = corner < 2 ? row.first : row.second;
        const x = corner % 2 === 0 ? column.first : column.second;
        const at = (y * window.width + x) * 4;
        const part = (corner < 2 ? 1 - row.share : row.share) * (corner % 2 === 0 ? 1 - column.share : column.share);
        // What is transparent has no colour to give.
        const opaque = part * (data[at + 3] ?? 0);
        red += opaque * (data[at] ?? 0);
        green += opaque * (data[at + 1] ?? 0);
        blue += opaque * (data[at + 2] ?? 0);
        alpha += opaque;
      }
      if (alpha > 0) {
        out[to] = Math.round(red / alpha);
        out[to + 1] = Math.round(green / alpha);
        out[to + 2] = Math.round(blue / alpha);
        out[to + 3] = Math.round(alpha);
      }
      to += 4;
    }
  }
  return { width: toWidth, height: toHeight, channels: 4, data: out };
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
