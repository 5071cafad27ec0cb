import { type Canvas, touches, unitsPerPixel } from "./canvas.ts";
import { inTwoLines, type TextStyle, textElement, textOf } from "./lettering.ts";
import { type Place, placeFor } from "./place.ts";
import type { Shape } from "./shapes.ts";

/** The type of the names of one kind of area. */
export interface NameType {
  /** Pixels per em. */
  readonly least: number;
  readonly most: number;
  /** Em between letters. */
  readonly tracking: number;
}

/** Of the room that there is, what a name takes when it could be larger. */
const SHARE = 0.42;
/** Em that stay free around a name. */
const PADDING = 0.7;

const places = new WeakMap<Shape, Map<string, Place | null>>();

/**
 * The name of an area inside of it; the first of the names that has room, else "". Whether and where it stands depends on
 * the area and the scale alone, so that pictures side by side show the same.
 */
export function nameElement(
  shape: Shape,
  names: readonly string[],
  type: NameType,
  style: TextStyle,
  canvas: Canvas,
): string {
  if (!touches(shape.extent, canvas.extent)) return "";
  const pixel = unitsPerPixel(canvas);
  const roomPixels = (shape.extent.maxX - shape.extent.minX) / pixel;
  for (const name of names) {
    const settings = [[name], inTwoLines(name)].flatMap((lines) => (lines === undefined ? [] : [lines]));
    const found = settings
      .map((lines) => ({ text: textOf(lines, type.tracking), key: lines.join("\n") }))
      // Most areas are too small for their names, and need not be measured.
      .filter(({ text }) => text.width * type.least <= roomPixels)
      .map(({ text, key }) => ({ text, place: placeOf(shape, key, text.width + PADDING, text.height + PADDING) }))
      .sort((a, b) => (b.place?.em ?? 0) - (a.place?.em ?? 0))[0];
    const em = (found?.place?.em ?? 0) / pixel;
    if (found?.place == null || em < type.least) continue;
    const pixels = Math.min(type.most, Math.max(type.least, em * SHARE));
    return textElement(found.text, found.place, pixels, style, canvas);
  }
  return "";
}

function placeOf(shape: Shape, key: string, width: number, height: number): Place | null {
  const known = places.get(shape) ?? new Map<string, Place | null>();
  places.set(shape, known);
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = placeFor(shape.rings, width, height) ?? null;
  known.set(key, made);
  return made;
}
