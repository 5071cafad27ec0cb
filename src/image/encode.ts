import type { TileFormat } from "../layer/format.ts";
import { loadSharp } from "./load-sharp.ts";
import { type Cut, encodePalettePng, encodePng } from "./png-encode.ts";
import type { Raster } from "./raster.ts";

const JPEG_QUALITY = 85;

/** Cuts a raster apart and encodes each part. PNG is written here; everything else is sharp's. */
export async function encodeTiles(raster: Raster, cuts: readonly Cut[], format: TileFormat): Promise<Uint8Array[]> {
  const { encoding } = format;
  if (encoding === "png") return cuts.map((cut) => encodePng(raster, cut));
  const tiles: Uint8Array[] = [];
  for (const cut of cuts) tiles.push(await encodeBySharp(raster, cut, encoding));
  return tiles;
}

async function encodeBySharp(
  raster: Raster,
  cut: Cut,
  encoding: Exclude<TileFormat["encoding"], "png">,
): Promise<Uint8Array> {
  if (encoding === "png8") {
    const exact = encodePalettePng(raster, cut);
    if (exact !== undefined) return exact;
  }
  const sharp = await loadSharp();
  const { width, height, channels, data } = raster;
  const part = sharp(data, { raw: { width, height, channels } }).extract(cut);
  switch (encoding) {
    case "png8":
      return part.png({ palette: true, colours: 256, effort: 2 }).toBuffer();
    case "jpeg":
      return part.flatten({ background: "#ffffff" }).jpeg({ quality: JPEG_QUALITY }).toBuffer();
    case "webp":
      return part.webp({ quality: JPEG_QUALITY }).toBuffer();
    case "gif":
      return part.gif().toBuffer();
  }
}
