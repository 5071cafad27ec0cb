/** Decoded pixels, rows from the top, no padding. 3 channels: opaque RGB. 4: RGBA, alpha not premultiplied. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
}

/** A part of a raster, in pixels. */
export interface Cut {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}
