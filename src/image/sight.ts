import { loadSharp } from "./load-sharp.ts";
import { onlyColour } from "./one-colour.ts";
import type { Cut } from "./raster.ts";

/** The properties of a tile that tell whether the map is still there. */
export interface Fingerprint {
  /** Whether the tile has only one colour. */
  readonly blank: boolean;
  /**
   * Whether the tile shows something else than the same place of the level above. Undefined: there is nothing to
   * compare it with.
   */
  readonly unlikeParent: boolean | undefined;
}

/** The number of squares, across and down, in which the tile and its parent are compared. */
const SQUARES = 4;
/**
 * The average difference of the squares' colours, of 255, from which a tile counts as unlike its parent. Other labels
 * and finer lines differ far less.
 */
const UNLIKE_LEVELS = 48;

/**
 * Computes the fingerprint of a tile, compared with the part of its parent that shows it.
 * @throws Error for bytes that are not a picture
 */
export async function fingerprintOf(
  bytes: Uint8Array,
  parent?: { readonly bytes: Uint8Array; readonly part: Cut },
): Promise<Fingerprint> {
  const sharp = await loadSharp();
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const blank = onlyColour({ width, height, channels: 4, data }, { left: 0, top: 0, width, height }) !== undefined;
  if (parent === undefined) return { blank, unlikeParent: undefined };
  // A damaged parent cannot be compared.
  const above = await squaresOf(parent.bytes, parent.part).catch(() => undefined);
  if (above === undefined) return { blank, unlikeParent: undefined };
  const own = await squaresOf(bytes);
  const difference = own.reduce((sum, level, i) => sum + Math.abs(level - (above[i] ?? 0)), 0) / own.byteLength;
  return { blank, unlikeParent: difference >= UNLIKE_LEVELS };
}

/** Returns the colours of a picture's squares, row by row, on white. */
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
