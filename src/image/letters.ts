import sevenPlus from "js-pixel-fonts/data/seven-plus.json" with { type: "json" };
import type { Raster } from "./raster.ts";

/**
 * A font of pixels, so that a text needs no font of the machine: containers and renderers often have none. It has the
 * printable characters of ASCII.
 */
const GLYPHS: ReadonlyMap<string, { readonly offset: number; readonly pixels: readonly (readonly number[])[] }> =
  new Map(Object.entries(sevenPlus.glyphs));
/** The height of a line and the width of the widest letter with a gap, in pixels of the font. */
const LINE = 11;
const MARGIN = 4;
/** Pictures of at least this width have letters of twice the size. */
const WIDE = 400;

const widthOf = (word: string): number =>
  [...word].reduce((sum, letter) => sum + (glyphOf(letter).pixels[0]?.length ?? 0) + 1, 0);

function glyphOf(letter: string) {
  const glyph = GLYPHS.get(letter) ?? GLYPHS.get("?");
  if (glyph === undefined) throw new Error("the font has a question mark");
  return glyph;
}

/** Splits a text into lines of at most `most` pixels. A word that is too long is split. */
function linesOf(text: string, most: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  const add = (word: string, gap: string): void => {
    if (widthOf(line + gap + word) <= most || (line + gap).trim() === "") line += gap + word;
    else {
      lines.push(line);
      line = word;
    }
  };
  for (const word of text.split(/\s+/)) {
    if (widthOf(word) <= most) add(word, line === "" ? "" : " ");
    else for (const [i, letter] of [...word].entries()) add(letter, i === 0 && line !== "" ? " " : "");
  }
  return [...lines, line];
}

/** Writes a text in black on white into the top of a picture of four channels. Lines below the picture are left out. */
export function putText(picture: Raster, text: string): void {
  const scale = picture.width >= WIDE ? 2 : 1;
  const lines = linesOf(text, Math.floor(picture.width / scale) - 2 * MARGIN);
  const ground = Math.min(picture.height, (lines.length * LINE + 2 * MARGIN) * scale);
  picture.data.fill(255, 0, ground * picture.width * 4);
  for (const [row, line] of lines.entries()) {
    let left = MARGIN;
    for (const letter of line) {
      const { offset, pixels } = glyphOf(letter);
      for (const [y, dots] of pixels.entries())
        for (const [x, dot] of dots.entries())
          if (dot === 1) putDot(picture, (left + x) * scale, (MARGIN + row * LINE + offset + y) * scale, scale);
      left += (pixels[0]?.length ?? 0) + 1;
    }
  }
}

function putDot({ width, height, data }: Raster, left: number, top: number, side: number): void {
  for (let y = top; y < Math.min(top + side, height); y++)
    for (let x = left; x < Math.min(left + side, width); x++)
      data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
}
