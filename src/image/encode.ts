import type { ImageFormat } from "../layer/format.ts";
import { DEFAULT_ENCODING, type EncodingOptions } from "../layer/layer.ts";
import { loadSharp } from "./load-sharp.ts";
import { madeBefore, oneColourKey, onlyColour, remember } from "./one-colour.ts";
import { encodePalettePng, encodePng, isOpaque } from "./png-encode.ts";
import type { Cut, Raster } from "./raster.ts";

const WEBP_QUALITY = 85;
/**
 * About what JPEG shows at 85. Effort 1 takes 15 ms for a tile of the demo layer and is half as large as JPEG (2 ms);
 * effort 4, sharp's own choice, takes 150 ms to save another tenth.
 */
const AVIF = { quality: 65, effort: 1 } as const;

/** Cuts a raster apart and encodes each part. PNG is written here; everything else is sharp's. */
export async function encodeTiles(
  raster: Raster,
  cuts: readonly Cut[],
  format: ImageFormat,
  options: EncodingOptions = DEFAULT_ENCODING,
): Promise<Uint8Array[]> {
  const tiles: Uint8Array[] = [];
  for (const cut of cuts) {
    const encoding = encodingOf(raster, cut, format);
    tiles.push(
      encoding === "png"
        ? encodePng(raster, cut, options.pngCompression)
        : await encodeOther(raster, cut, encoding, options),
    );
  }
  return tiles;
}

async function encodeOther(
  raster: Raster,
  cut: Cut,
  encoding: Exclude<OneEncoding, "png">,
  options: EncodingOptions,
): Promise<Uint8Array> {
  if (encoding === "png8") {
    // It knows tiles of one colour by itself.
    const exact = encodePalettePng(raster, cut, options.pngCompression);
    return exact ?? encodeBySharp(raster, cut, encoding, options);
  }
  const colour = onlyColour(raster, cut);
  if (colour === undefined) return encodeBySharp(raster, cut, encoding, options);
  const key = oneColourKey(encoding === "jpeg" ? `jpeg ${options.jpegQuality}` : encoding, cut, colour);
  const known = madeBefore(key);
  if (known !== undefined) return known;
  const made = await encodeBySharp(raster, cut, encoding, options);
  remember(key, made);
  return made;
}

type OneEncoding = Exclude<ImageFormat["encoding"], "jpeg-png" | "jpeg-png8">;

/** What one tile becomes. */
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
  const { width, height, channels, data } = raster;
  const part = sharp(data, { raw: { width, height, channels } }).extract(cut);
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
