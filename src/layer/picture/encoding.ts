/** The goal of PNG encoding: little CPU time, or few bytes. Both are lossless. */
export const PNG_COMPRESSIONS = ["fast", "small"] as const;
export type PngCompression = (typeof PNG_COMPRESSIONS)[number];

/** Encoding options of formats that allow a choice. A change does not affect stored tiles. */
export interface EncodingOptions {
  /** The quality of JPEG tiles, including JPEG tiles of hybrid formats: 1 to 100. */
  readonly jpegQuality: number;
  readonly pngCompression: PngCompression;
}

export const DEFAULT_ENCODING: EncodingOptions = { jpegQuality: 85, pngCompression: "fast" };

/** Returns the encoding options of an object that has further members, such as a layer. */
export const encodingOptions = ({ jpegQuality, pngCompression }: EncodingOptions): EncodingOptions => ({
  jpegQuality,
  pngCompression,
});
