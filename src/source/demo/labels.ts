import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import opentype from "opentype.js";
import polylabel from "polylabel";
import { dataFile } from "../../lib/process/data-file.ts";
import type { Canvas } from "./canvas.ts";
import type { Area, Piece, Position } from "./geography.ts";

/** Em. */
const LINE_HEIGHT = 1.15;
const CAP_HEIGHT = 0.711;
/** The free space around a name within its area, in em. */
const PADDING = 0.7;
/** The size of a name, as a share of the largest size that fits. */
const SHARE = 0.5;
const HALO_PIXELS = 1.4;

export interface TextStyle {
  readonly fill: string;
  /** Absent: the text has no halo. */
  readonly halo?: string;
  readonly slant?: true;
}

/** Sizes in pixels per em, and the space between letters in em. */
export interface NameType {
  readonly least: number;
  readonly most: number;
  readonly tracking: number;
}

/** Lines of text, centred. */
interface Text {
  /** SVG path data in thousandths of an em, y down. */
  readonly path: string;
  /** Em. */
  readonly width: number;
  readonly height: number;
}

let font: opentype.Font | undefined;

function robotoMedium(): opentype.Font {
  font ??= readFont();
  return font;
}

function readFont(): opentype.Font {
  const file = dataFile("roboto.woff", () =>
    createRequire(import.meta.url).resolve("@fontsource/roboto/files/roboto-latin-500-normal.woff"),
  );
  return opentype.parse(new Uint8Array(readFileSync(file)).buffer);
}

/** Returns the letters of a text for which the font has no glyph. */
export const missingLetters = (text: string): string[] =>
  [...text].filter((letter) => robotoMedium().charToGlyphIndex(letter) === 0);

const texts = new Map<string, Text>();

/**
 * Returns the outlines of lines of text. Computed once per text, because the demo maps have a bounded number of names.
 * `tracking` in em.
 */
export function textOf(lines: readonly string[], tracking: number): Text {
  const key = `${tracking} ${lines.join("\n")}`;
  const text = texts.get(key) ?? setText(lines, tracking);
  texts.set(key, text);
  return text;
}

function setText(lines: readonly string[], tracking: number): Text {
  const top = ((lines.length - 1) * LINE_HEIGHT) / 2;
  const set = lines.map((line, i) => setLine(line, tracking, CAP_HEIGHT / 2 - top + i * LINE_HEIGHT));
  return {
    path: set.map(({ path }) => path).join(""),
    width: Math.max(...set.map(({ width }) => width)),
    height: (lines.length - 1) * LINE_HEIGHT + CAP_HEIGHT,
  };
}

/** opentype.js's `toPathData` writes NaN for some numbers. */
const pathData = ({ commands }: opentype.Path): string =>
  commands
    .map(
      ({ type, ...points }) =>
        type +
        Object.values(points)
          .map((value) => Math.round(value))
          .join(" "),
    )
    .join("");

/**
 * Sets one centred line; `baseline` in em. Sets letter by letter, because the package does not support all features of
 * the font.
 */
function setLine(line: string, tracking: number, baseline: number): Pick<Text, "path" | "width"> {
  const font = robotoMedium();
  const glyphs = [...line].map((letter) => font.charToGlyph(letter));
  const advances = glyphs.map(({ advanceWidth = 0 }) => advanceWidth / font.unitsPerEm + tracking);
  const width = advances.reduce((sum, advance) => sum + advance, -tracking);
  let pen = -width / 2;
  const paths = glyphs.map((glyph, i) => {
    const left = pen;
    pen += advances[i] ?? 0;
    return pathData(glyph.getPath(left * 1000, baseline * 1000, 1000));
  });
  return { path: paths.join(""), width };
}

/** Writes a text centred at a pixel. */
export function textElement(
  { path }: Text,
  [left, top]: readonly [number, number],
  pixels: number,
  { fill, halo, slant }: TextStyle,
): string {
  const scale = pixels / 1000;
  const stroke =
    halo === undefined ? "" : ` stroke="${halo}" stroke-width="${(2 * HALO_PIXELS) / scale}" paint-order="stroke"`;
  const lean = slant === true ? " skewX(-12)" : "";
  return `<path d="${path}" transform="translate(${left.toFixed(2)} ${top.toFixed(2)}) scale(${scale})${lean}" fill="${fill}"${stroke}/>`;
}

/** The best place of a text in an area, at any scale. `em` is the largest size, in CRS units. */
interface Fit {
  readonly text: Text;
  readonly at: Position;
  readonly em: number;
}

const fits = new WeakMap<Area, readonly Fit[]>();

/**
 * Writes the name of an area inside the area: the first of `names` that fits, else "". Position and size depend only on
 * the area and the scale, so that neighbouring pictures show the same name at the same position.
 */
export function nameElement(
  area: Area,
  names: readonly string[],
  type: NameType,
  style: TextStyle,
  canvas: Canvas,
): string {
  const largest = area.pieces.reduce<Piece | undefined>(
    (a, b) => (a !== undefined && sizeOf(a) >= sizeOf(b) ? a : b),
    undefined,
  );
  if (largest === undefined || !canvas.shows(largest.extent)) return "";
  // Most areas of a small map are too small for a name, so no position is searched for.
  if (largest.extent.maxX - largest.extent.minX < type.least * canvas.unitsPerPixel) return "";
  const known = fits.get(area) ?? names.map((name) => bestFit(name, type.tracking, largest));
  fits.set(area, known);
  const fit = known.find(({ em }) => em >= type.least * canvas.unitsPerPixel);
  if (fit === undefined) return "";
  const pixels = Math.min(type.most, Math.max(type.least, (fit.em / canvas.unitsPerPixel) * SHARE));
  return textElement(fit.text, canvas.pixelOf(fit.at), pixels, style);
}

const sizeOf = ({ extent }: Piece): number => (extent.maxX - extent.minX) * (extent.maxY - extent.minY);

/** Chooses between setting a name in one line and in two. */
function bestFit(name: string, tracking: number, piece: Piece): Fit {
  const middle = name.length / 2;
  const spaces = [...name.matchAll(/ /g)].map(({ index }) => index);
  const [split] = spaces.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  const oneLine = fitOf(textOf([name], tracking), piece);
  if (split === undefined) return oneLine;
  const twoLines = fitOf(textOf([name.slice(0, split), name.slice(split + 1)], tracking), piece);
  return twoLines.em > oneLine.em ? twoLines : oneLine;
}

/**
 * Finds the largest ellipse with the proportions of the text. In a polygon compressed by these proportions the ellipse
 * is a circle.
 */
function fitOf(text: Text, { lines, extent }: Piece): Fit {
  const height = text.height + PADDING;
  const aspect = (text.width + PADDING) / height;
  const compressed = lines.map((line) => line.map(([x, y]): Position => [x / aspect, y]));
  const found = polylabel(compressed, (extent.maxY - extent.minY) / 100);
  const [x, y] = found;
  return { text, at: [x * aspect, y], em: (found.distance * Math.SQRT2) / height };
}
