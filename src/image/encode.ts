import type { ImageFormat } from "../layer/format.ts";
import { DEFAULT_ENCODING, type EncodingOptions, encodingOptions } from "../layer/picture/encoding.ts";
import { loadSharp } from "./load-sharp.ts";
import { madeOnce, oneColourKey, onlyColour } from "./one-colour.ts";
import { beginPalettePng, beginPng, isOpaque, onThisThread, onThreadPool, type PngCompressor } from "./png-encode.ts";
import { type Cut, pixelsOf, type Raster } from "./raster.ts";

const WEBP_QUALITY = 85;
/**
 * The quality is similar to JPEG at quality 85. Effort 1 takes 15 ms for a tile of the demo layer, and the tile has
 * half the size of a JPEG (2 ms). Effort 4, sharp's default, takes 150 ms and saves another tenth.
 */
const AVIF = { quality: 65, effort: 1 } as const;

/**
 * Cuts a raster apart and encodes each part. This thread encodes PNG; sharp encodes all other formats. With `inHaste`,
 * used when a user waits for the tiles, tiles are encoded concurrently on all cores. Otherwise they are encoded one
 * after the other, which takes less CPU time in total.
 */
export async function encodeTiles(
  raster: Raster,
  cuts: readonly Cut[],
  format: ImageFormat,
  options: EncodingOptions = DEFAULT_ENCODING,
  inHaste = false,
): Promise<Uint8Array[]> {
  if (inHaste) return Promise.all(cuts.map((cut) => encodeTile(raster, cut, format, options, onThreadPool)));
  const tiles: Uint8Array[] = [];
  for (const cut of cuts) tiles.push(await encodeTile(raster, cut, format, options, onThisThread));
  return tiles;
}

async function encodeTile(
  raster: Raster,
  cut: Cut,
  format: ImageFormat,
  options: EncodingOptions,
  compressed: PngCompressor<Uint8Array | Promise<Uint8Array>>,
): Promise<Uint8Array> {
  const encoding = encodingOf(raster, cut, format);
  if (encoding === "png" || encoding === "png8") {
    // `beginPng` and `beginPalettePng` already reuse tiles of one colour.
    const begin = encoding === "png" ? beginPng : beginPalettePng;
    const png = compressed((rowsIn) => begin(raster, cut, options.pngCompression, rowsIn));
    return png ?? encodeBySharp(raster, cut, "png8", options);
  }
  const colour = onlyColour(raster, cut);
  if (colour === undefined) return encodeBySharp(raster, cut, encoding, options);
  const key = oneColourKey(`${encoding} ${JSON.stringify(encodingOptions(options))}`, cut, colour);
  return madeOnce(key, () => encodeBySharp(raster, cut, encoding, options));
}

type OneEncoding = Exclude<ImageFormat["encoding"], "jpeg-png" | "jpeg-png8">;

/** Returns the encoding of one tile. For a hybrid format the tile's opacity decides. */
function encodingOf(raster: Raster, cut: Cut, { encoding }: ImageFormat): OneEncoding {
  switch (encoding) {
    case "jpeg-png":
      return isOpaque(raster, cut) ? "jpeg" : "png";
    case "jpeg-png8":
      return isOpaque(raster, cut) ? "jpeg" : "png8";
    default:
      return encoding;
  }
}

async function encodeBySharp(
  raster: Raster,
  cut: Cut,
  encoding: Exclude<OneEncoding, "png">,
  options: EncodingOptions,
): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const { width, height } = cut;
  const part = sharp(pixelsOf(raster, cut), { raw: { width, height, channels: raster.channels } });
  switch (encoding) {
    case "png8":
      return part.png({ palette: true, colours: 256, effort: 2 }).toBuffer();
    case "jpeg":
      return part.flatten({ background: "#ffffff" }).jpeg({ quality: options.jpegQuality }).toBuffer();
    case "webp":
      return part.webp({ quality: WEBP_QUALITY }).toBuffer();
    case "gif":
      return part.gif().toBuffer();
    case "avif":
      return part.avif(AVIF).toBuffer();
  }
}
