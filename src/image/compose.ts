import type { ImageFormat } from "../layer/format.ts";
import type { EncodingOptions } from "../layer/picture/encoding.ts";
import type { Resampling } from "../layer/picture/resampling.ts";
import type { Clock } from "../lib/time/clock.ts";
import { turn } from "../lib/time/sleep.ts";
import { decodePicture } from "./decode.ts";
import { encodeTiles } from "./encode.ts";
import { PictureError } from "./picture-error.ts";
import { type Cut, pixelAt, type Raster } from "./raster.ts";
import { enlarged, resampled } from "./resample.ts";

/** Adjacent tiles of one layer. All values are pixels, counted from the top left of the layer's window. */
export interface ComposedLayer {
  readonly tiles: readonly { readonly left: number; readonly top: number; readonly bytes: Uint8Array }[];
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** The window of the tiles that becomes the picture. */
  readonly windowWidth: number;
  readonly windowHeight: number;
  /** The part of the window that is enlarged to the picture, to fractions of pixels. Undefined: the whole window. */
  readonly cut: Cut | undefined;
  readonly resampling: Resampling;
}

/** A picture of layers that lie on each other. */
export interface Composition extends EncodingOptions {
  /** The lowest layer comes first. Without a layer, the picture has only a background and a text. */
  readonly layers: readonly ComposedLayer[];
  /** The size of the picture. */
  readonly width: number;
  readonly height: number;
  readonly format: ImageFormat;
  /** The colour under transparent pixels and under places without a tile. Absent: no colour. */
  readonly background?: Colour;
  /** A text over the layers. Absent: no text. */
  readonly text?: string;
}

/** Red, green and blue, 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

export type Composed =
  | { readonly kind: "picture"; readonly bytes: Uint8Array }
  /**
   * `layer` and `tile` are the indexes of the first tile that is not a valid picture of the tile size; `message` gives
   * the reason.
   */
  | { readonly kind: "damaged"; readonly layer: number; readonly tile: number; readonly message: string };

/**
 * Composes one picture of many tiles. Each layer is resampled by itself, because the tiles of layers may have different
 * resolutions. Places without a tile are transparent (white in formats without transparency), unless the composition
 * has a background.
 * @throws the signal's reason, between two tiles
 */
export async function composePicture(clock: Clock, composition: Composition, signal: AbortSignal): Promise<Composed> {
  const { layers, width, height, format, background, text } = composition;
  let picture: Raster | undefined;
  for (const [index, layer] of layers.entries()) {
    if (layer.tiles.length === 0) continue;
    const window = blank(layer.windowWidth, layer.windowHeight);
    for (const [tile, { left, top, bytes }] of layer.tiles.entries()) {
      // Decoding may run without yielding, so yield here: this lets other requests run and the signal fire.
      await turn(clock);
      signal.throwIfAborted();
      try {
        paste(await decodePicture(bytes, { width: layer.tileWidth, height: layer.tileHeight }), window, left, top);
      } catch (error) {
        if (!(error instanceof PictureError)) throw error;
        return { kind: "damaged", layer: index, tile, message: error.message };
      }
    }
    signal.throwIfAborted();
    const upper = await pictureOf(window, layer, width, height);
    if (picture === undefined) picture = upper;
    else putOver(picture, upper);
  }
  picture ??= blank(width, height);
  if (background !== undefined) putUnder(picture, background);
  if (text !== undefined) (await import("./letters.ts")).putText(picture, text);
  await turn(clock);
  signal.throwIfAborted();
  const [encoded] = await encodeTiles(picture, [{ left: 0, top: 0, width, height }], format, composition);
  if (encoded === undefined) throw new Error("one cut gives one tile");
  return { kind: "picture", bytes: encoded };
}

/** Returns a transparent picture. */
const blank = (width: number, height: number): Raster => ({
  width,
  height,
  channels: 4,
  data: new Uint8Array(width * height * 4),
});

async function pictureOf(
  window: Raster,
  { cut, resampling }: ComposedLayer,
  width: number,
  height: number,
): Promise<Raster> {
  if (cut !== undefined) return enlarged(window, cut, width, height, resampling);
  return window.width === width && window.height === height ? window : resampled(window, width, height, resampling);
}

/** Puts a picture over another of the same size. Both have four channels. */
function putOver({ data: lower }: Raster, { data: upper }: Raster): void {
  for (let at = 0; at < lower.length; at += 4) {
    const alpha = upper[at + 3] ?? 0;
    if (alpha === 0) continue;
    const under = alpha === 255 ? 0 : ((lower[at + 3] ?? 0) * (255 - alpha)) / 255;
    if (under === 0) {
      lower[at] = upper[at] ?? 0;
      lower[at + 1] = upper[at + 1] ?? 0;
      lower[at + 2] = upper[at + 2] ?? 0;
      lower[at + 3] = alpha;
      continue;
    }
    const sum = alpha + under;
    for (let channel = at; channel < at + 3; channel++)
      lower[channel] = Math.round(((upper[channel] ?? 0) * alpha + (lower[channel] ?? 0) * under) / sum);
    lower[at + 3] = Math.round(sum);
  }
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
