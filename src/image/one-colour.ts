import type { Cut, Raster } from "./raster.ts";

/** Tiles of one colour, seas above all, are encoded once per colour, size and way to encode. */
const KEPT = 256;
const made = new Map<string, Uint8Array>();
const ofOneColour = new WeakSet<Uint8Array>();

/** `encoding`: everything that the bytes depend on beside the colour and the size. */
export const oneColourKey = (encoding: string, { width, height }: Cut, colour: number): string =>
  `${encoding} ${width}x${height} ${colour}`;

export const madeBefore = (key: string): Uint8Array | undefined => made.get(key);

export function remember(key: string, bytes: Uint8Array): void {
  if (made.size >= KEPT) made.clear();
  made.set(key, bytes);
  ofOneColour.add(bytes);
}

/** Of bytes that somebody else has encoded, what was found when they were proved. */
export const noteOneColour = (bytes: Uint8Array): void => void ofOneColour.add(bytes);

/** Whether these very bytes were made for tiles of one colour, or found to be one. */
export const isOfOneColour = (bytes: Uint8Array): boolean => ofOneColour.has(bytes);

/** Tiles that are being encoded: when somebody waits for a metatile all of its seas come at once. */
const beingMade = new Map<string, Promise<Uint8Array>>();

/** What was made before, is being made, or is made now. */
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

/** The colour of all pixels of a part, as `colourAt` tells it; undefined when they differ. */
export function onlyColour({ width, channels, data }: Raster, cut: Cut): number | undefined {
  let only: number | undefined;
  for (let y = 0; y < cut.height; y++) {
    let at = ((cut.top + y) * width + cut.left) * channels;
    for (let x = 0; x < cut.width; x++, at += channels) {
      const colour = colourAt(data, at, channels);
      only ??= colour;
      if (colour !== only) return undefined;
    }
  }
  return only;
}

/** RGBA as one number of 32 bits with a sign, R lowest. What cannot be seen has one colour, 0. */
export function colourAt(data: Uint8Array, at: number, channels: 3 | 4): number {
  const alpha = channels === 4 ? (data[at + 3] ?? 0) : 255;
  return alpha === 0 ? 0 : (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8) | ((data[at + 2] ?? 0) << 16) | (alpha << 24);
}
