import type { Resampling } from "../layer/picture/resampling.ts";
import { loadSharp } from "./load-sharp.ts";
import type { Cut, Raster } from "./raster.ts";

/** The source rows or columns, and their weights, from which each row or column of a picture is computed. */
interface Taps {
  /** The number of sources of one row or column. */
  readonly size: number;
  readonly at: Int32Array;
  readonly weight: Float64Array;
}

const SIZES: Readonly<Record<Resampling, number>> = { nearest: 1, bilinear: 2, bicubic: 4 };

/** Returns the weights of the sources around a position, from the position's distance to the source before it. */
function weightsOf(resampling: Resampling, share: number): readonly number[] {
  switch (resampling) {
    case "nearest":
      return [1];
    case "bilinear":
      return [1 - share, share];
    case "bicubic": {
      // Catmull-Rom, as sharp's kernel `cubic`.
      const [t2, t3] = [share * share, share * share * share];
      return [(-t3 + 2 * t2 - share) / 2, (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + share) / 2, (t3 - t2) / 2];
    }
  }
}

/** Returns the taps of each row or column. Beyond the centres of the outermost pixels, their colour continues. */
function tapsOf(resampling: Resampling, from: number, span: number, count: number, side: number): Taps {
  const size = SIZES[resampling];
  const taps = { size, at: new Int32Array(count * size), weight: new Float64Array(count * size) };
  for (let i = 0; i < count; i++) {
    const at = from + ((i + 0.5) * span) / count - 0.5;
    const first = resampling === "nearest" ? Math.floor(at + 0.5) : Math.floor(at);
    const before = resampling === "bicubic" ? 1 : 0;
    for (const [n, weight] of weightsOf(resampling, at - first).entries()) {
      taps.at[i * size + n] = Math.min(Math.max(first - before + n, 0), side - 1);
      taps.weight[i * size + n] = weight;
    }
  }
  return taps;
}

/**
 * Enlarges a part of a window of four channels. The part may have fractions of pixels: sharp can cut only at whole
 * pixels, which is too coarse if the picture shows few pixels of the window.
 */
export function enlarged(
  window: Raster,
  { left, top, width, height }: Cut,
  toWidth: number,
  toHeight: number,
  resampling: Resampling,
): Raster {
  const { data } = window;
  const columns = tapsOf(resampling, left, width, toWidth, window.width);
  const rows = tapsOf(resampling, top, height, toHeight, window.height);
  // Rounds and clamps: bicubic weights may be negative.
  const out = new Uint8ClampedArray(toWidth * toHeight * 4);
  const { size } = columns;
  let to = 0;
  for (let y = 0; y < toHeight; y++) {
    for (let x = 0; x < toWidth; x++) {
      let [red, green, blue, alpha] = [0, 0, 0, 0];
      for (let row = y * size; row < (y + 1) * size; row++) {
        const line = (rows.at[row] ?? 0) * window.width;
        for (let column = x * size; column < (x + 1) * size; column++) {
          const at = (line + (columns.at[column] ?? 0)) * 4;
          // A transparent pixel contributes no colour.
          const opaque = (rows.weight[row] ?? 0) * (columns.weight[column] ?? 0) * (data[at + 3] ?? 0);
          red += opaque * (data[at] ?? 0);
          green += opaque * (data[at + 1] ?? 0);
          blue += opaque * (data[at + 2] ?? 0);
          alpha += opaque;
        }
      }
      if (alpha > 0) {
        out[to] = red / alpha;
        out[to + 1] = green / alpha;
        out[to + 2] = blue / alpha;
        out[to + 3] = alpha;
      }
      to += 4;
    }
  }
  return { width: toWidth, height: toHeight, channels: 4, data: new Uint8Array(out.buffer) };
}

const KERNELS = { nearest: "nearest", bilinear: "linear", bicubic: "cubic" } as const;

/** Resamples a whole raster to another size. */
export async function resampled(
  { width, height, channels, data }: Raster,
  toWidth: number,
  toHeight: number,
  resampling: Resampling,
): Promise<Raster> {
  const sharp = await loadSharp();
  const pixels = await sharp(data, { raw: { width, height, channels } })
    .resize(toWidth, toHeight, { fit: "fill", kernel: KERNELS[resampling] })
    .raw()
    .toBuffer();
  return { width: toWidth, height: toHeight, channels: 4, data: pixels };
}
