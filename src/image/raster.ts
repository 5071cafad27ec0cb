/** Decoded pixels, rows from the top. 3 channels: opaque RGB. 4: RGBA, alpha not premultiplied. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
  /**
   * The bytes before the first pixel of each row that belong to no pixel, such as the filter byte of a PNG's row. With
   * it, a decoder need not move the pixels together. Absent: 0.
   */
  readonly rowPrefix?: number;
}

/** Returns the index of the first byte of a pixel. */
export const pixelAt = ({ width, channels, rowPrefix = 0 }: Raster, x: number, y: number): number =>
  y * (width * channels + rowPrefix) + rowPrefix + x * channels;

/** Copies the pixels of a part, or of the whole raster, without gaps between rows. */
export function pixelsOf(
  raster: Raster,
  { left, top, width, height }: Cut = { left: 0, top: 0, width: raster.width, height: raster.height },
): Uint8Array {
  const row = width * raster.channels;
  const out = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const from = pixelAt(raster, left, top + y);
    out.set(raster.data.subarray(from, from + row), y * row);
  }
  return out;
}

/** A part of a raster, in pixels. */
export interface Cut {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}
