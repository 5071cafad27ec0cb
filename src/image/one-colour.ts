import { type Cut, pixelAt, type Raster } from "./raster.ts";

/**
 * The most encoded tiles of one colour (often sea) that are cached. Each tile is encoded once per colour, size and
 * encoding.
 */
const KEPT = 256;
const made = new Map<string, Uint8Array>();

/**
 * Returns the key of an encoded tile. `encoding` contains everything that determines the bytes, except the colour and
 * the size.
 */
export const oneColourKey = (encoding: string, { width, height }: Cut, colour: number): string =>
  `${encoding} ${width}x${height} ${colour}`;

export const madeBefore = (key: string): Uint8Array | undefined => made.get(key);

export function remember(key: string, bytes: Uint8Array): void {
  if (made.size >= KEPT) made.clear();
  made.set(key, bytes);
}

/** Tiles that are being encoded. If a user waits for a metatile, all of its tiles are encoded at the same time. */
const beingMade = new Map<string, Promise<Uint8Array>>();

/** Returns the encoded tile with a key: from the cache, from an encoding in progress, or from `make`. */
export async function madeOnce(key: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const known = madeBefore(key) ?? beingMade.get(key);
  if (known !== undefined) return known;
  const coming = make();
  beingMade.set(key, coming);
  try {
    const bytes = await coming;
    remember(key, bytes);
    return bytes;
  } finally {
    beingMade.delete(key);
  }
}

/** Returns the colour of all pixels of a part, as `colourAt` returns it. Undefined if the pixels differ. */
export function onlyColour(raster: Raster, cut: Cut): number | undefined {
  const { channels, data } = raster;
  let only: number | undefined;
  for (let y = 0; y < cut.height; y++) {
    let at = pixelAt(raster, cut.left, cut.top + y);
    for (let x = 0; x < cut.width; x++, at += channels) {
      const colour = colourAt(data, at, channels);
      only ??= colour;
      if (colour !== only) return undefined;
    }
  }
  return only;
}

/** Returns RGBA as a signed number of 32 bits, R lowest. All fully transparent colours are 0. */
export function colourAt(data: Uint8Array, at: number, channels: 3 | 4): number {
  const alpha = channels === 4 ? (data[at + 3] ?? 0) : 255;
  return alpha === 0 ? 0 : (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8) | ((data[at + 2] ?? 0) << 16) | (alpha << 24);
}
