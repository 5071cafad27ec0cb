import sharp from "sharp";
import { expect } from "vitest";

/** Decodes a picture to RGB, three bytes per pixel, with transparent pixels on white. */
export const pixels = async (bytes: Uint8Array): Promise<Buffer> =>
  sharp(bytes).flatten({ background: "#ffffff" }).toColourspace("srgb").raw().toBuffer();

/** The share of values that differ by more than some grey levels (one level: two encoders may round differently). */
export function difference(a: Buffer, b: Buffer, levels = 1): number {
  expect(a.length).toBe(b.length);
  let different = 0;
  for (let i = 0; i < a.length; i++) if (Math.abs((a[i] ?? 0) - (b[i] ?? 0)) > levels) different++;
  return different / a.length;
}

/** How many colours a picture has: a blank one, which is like any other blank one, has one. */
export function colours(rgb: Buffer): number {
  const found = new Set<number>();
  for (let i = 0; i + 2 < rgb.length; i += 3) found.add(rgb.readUIntBE(i, 3));
  return found.size;
}

export interface MapQuery {
  readonly srs: string;
  /** minx, miny, maxx, maxy. */
  readonly box: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly transparent?: boolean;
  /** The map server's own, with commas. */
  readonly layers?: string;
}

/** Requests a map from the map server itself by WMS 1.1.1 and returns it as RGB. */
export async function rendered(
  url: string,
  { srs, box, width, height, transparent = false, layers = "roads" }: MapQuery,
): Promise<Buffer> {
  const query = `SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${layers}&STYLES=&SRS=${srs}&BBOX=${box.join(",")}&WIDTH=${width}&HEIGHT=${height}&FORMAT=image/png&TRANSPARENT=${transparent ? "TRUE" : "FALSE"}`;
  const answer = await fetch(`${url}&${query}`);
  if (answer.headers.get("content-type") !== "image/png") throw new Error(await answer.text());
  return pixels(new Uint8Array(await answer.arrayBuffer()));
}
