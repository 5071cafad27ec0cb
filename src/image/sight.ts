import { loadSharp } from "./load-sharp.ts";
import { onlyColour } from "./one-colour.ts";
import type { Cut } from "./raster.ts";

/** How a tile looks to somebody who wonders whether the map is still there. */
export interface Fingerprint {
  /** All of one colour. */
  readonly blank: boolean;
  /** It shows something else than the same place of the level above; undefined: nothing is there to compare it with. */
  readonly unlikeParent: boolean | undefined;
}

/** Both are compared in so many squares across and down. */
const SQUARES = 4;
/** Levels of 255 that their colours differ by, on average: other labels and finer lines do not come near it. */
const UNLIKE_LEVELS = 48;

/** Looks at a tile, and at the part of another that it lies in. @throws Error for what is no picture */
export async function fingerprintOf(
  bytes: Uint8Array,
  parent?: { readonly bytes: Uint8Array; readonly part: Cut },
): Promise<Fingerprint> {
  const sharp = await loadSharp();
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const blank = onlyColour({ width, height, channels: 4, data }, { left: 0, top: 0, width, height }) !== undefined;
  if (parent === undefined) return { blank, unlikeParent: undefined };
  // A damaged one tells nothing.
  const above = await squaresOf(parent.bytes, parent.part).catch(() => undefined);
  if (above === undefined) return { blank, unlikeParent: undefined };
  const own = await squaresOf(bytes);
  const difference = own.reduce((sum, level, i) => sum + Math.abs(level - (above[i] ?? 0)), 0) / own.byteLength;
  return { blank, unlikeParent: difference >= UNLIKE_LEVELS };
}

/** The colours of a picture's squares, row by row, on white. */
async function squaresOf(bytes: Uint8Array, part?: Cut): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const whole = sharp(bytes);
  return (part === undefined ? whole : whole.extract(part))
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .resize(SQUARES, SQUARES, { fit: "fill" })
    .raw()
    .toBuffer();
}
