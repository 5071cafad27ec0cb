import type { EncodingOptions } from "../layer/encoding.ts";
import type { ImageFormat } from "../layer/format.ts";
import type { Clock } from "../lib/time/clock.ts";
import { turn } from "../lib/time/sleep.ts";
import { decodePicture } from "./decode.ts";
import { encodeTiles } from "./encode.ts";
import { loadSharp } from "./load-sharp.ts";
import { PictureError } from "./picture-error.ts";
import { pixelAt, type Raster } from "./raster.ts";

/** A rectangle in pixels. Its sides and position may be fractions of pixels. */
export interface Cutting {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Adjacent tiles, and the window of them that becomes a picture of a given size. All values are pixels, counted from
 * the top left of the window.
 */
export interface Composition extends EncodingOptions {
  readonly tiles: readonly { readonly left: number; readonly top: number; readonly bytes: Uint8Array }[];
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly windowWidth: number;
  readonly windowHeight: number;
  /** The part of the window that is enlarged to the picture. Undefined means the whole window. */
  readonly cut: Cutting | undefined;
  /** The size of the picture. */
  readonly width: number;
  readonly height: number;
  readonly format: ImageFormat;
  /** The colour under transparent pixels and under places without a tile. Absent: no colour. */
  readonly background?: Colour;
}

/** Red, green and blue, 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

export type Composed =
  | { readonly kind: "picture"; readonly bytes: Uint8Array }
  /** `tile` is the index of the first tile that is not a valid picture of the tile size; `message` gives the reason. */
  | { readonly kind: "damaged"; readonly tile: number; readonly message: string };

/**
 * Composes one picture of many tiles. Places without a tile are transparent (white in formats without transparency),
 * unless the composition has a background.
 * @throws the signal's reason, between two tiles
 */
export async function composePicture(clock: Clock, composition: Composition, signal: AbortSignal): Promise<Composed> {
  const { tileWidth, tileHeight, windowWidth, windowHeight, width, height, format } = composition;
  const window: Raster = {
    width: windowWidth,
    height: windowHeight,
    channels: 4,
    data: new Uint8Array(windowWidth * windowHeight * 4),
  };
  for (const [tile, { left, top, bytes }] of composition.tiles.entries()) {
    // Decoding may run without yielding, so yield here: this lets other requests run and the signal fire.
    await turn(clock);
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
  if (composition.background !== undefined) putUnder(picture, composition.background);
  await turn(clock);
  signal.throwIfAborted();
  const [encoded] = await encodeTiles(picture, [{ left: 0, top: 0, width, height }], format, composition);
  if (encoded === undefined) throw new Error("one cut gives one tile");
  return { kind: "picture", bytes: encoded };
}

async function pictureOf(window: Raster, { cut, width, height }: Composition): Promise<Raster> {
  if (cut !== undefined) return enlarged(window, cut, width, height);
  return window.width === width && window.height === height ? window : resampled(window, width, height);
}

/** Puts a colour under a picture of four channels, which makes it opaque. */
function putUnder({ data }: Raster, background: Colour): void {
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3] ?? 0;
    if (alpha === 255) continue;
    for (const [channel, colour] of background.entries())
      data[at + channel] = Math.round(((data[at + channel] ?? 0) * alpha + colour * (255 - alpha)) / 255);
    data[at + 3] = 255;
  }
}

/** Copies the part of the tile that lies inside the window. */
function paste(tile: Raster, window: Raster, left: number, top: number): void {
  const fromX = Math.max(0, -left);
  const toX = Math.min(tile.width, window.width - left);
  for (let y = Math.max(0, -top); y < Math.min(tile.height, window.height - top); y++) {
    let to = ((top + y) * window.width + left + fromX) * 4;
    let from = pixelAt(tile, fromX, y);
    for (let x = fromX; x < toX; x++, from += tile.channels, to += 4) {
      window.data[to] = tile.data[from] ?? 0;
      window.data[to + 1] = tile.data[from + 1] ?? 0;
      window.data[to + 2] = tile.data[from + 2] ?? 0;
      window.data[to + 3] = tile.channels === 4 ? (tile.data[from + 3] ?? 0) : 255;
    }
  }
}

/** The two source rows or columns from which a row or column of the picture is computed. */
interface Sample {
  readonly first: number;
  readonly second: number;
  /** The weight of the second row or column, from 0 to 1. */
  readonly share: number;
}

/** Returns the samples of each row or column. Beyond the centres of the outermost pixels, their colour continues. */
const samplesOf = (from: number, span: number, count: number, side: number): readonly Sample[] =>
  Array.from({ length: count }, (_, i) => {
    const at = Math.min(Math.max(from + ((i + 0.5) * span) / count - 0.5, 0), side - 1);
    const first = Math.floor(at);
    return { first, second: Math.min(first + 1, side - 1), share: at - first };
  });

/**
 * Enlarges a part of the window by bilinear interpolation. The part may have fractions of pixels: sharp can cut only at
 * whole pixels, which is too coarse if the picture shows few pixels of the window.
 */
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
        // A transparent pixel contributes no colour.
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
