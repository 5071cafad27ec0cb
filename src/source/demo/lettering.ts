import { areaOf, type Canvas, touches } from "./canvas.ts";
import { GLYPHS, SPACE_ADVANCE } from "./glyphs.ts";

/** Em. */
const LINE = 1.15;
const CAP_HEIGHT = 0.711;
/** Around a text, in pixels. */
const HALO_PIXELS = 1.4;

/** Lines of type, centred on their middle. */
export interface Text {
  /** SVG path data in thousandths of an em, y down. */
  readonly path: string;
  /** Em. */
  readonly width: number;
  readonly height: number;
}

const set = new Map<string, Text>();

/** Sets lines of type. `tracking`: added between letters, in em. What there is no glyph for is left out. */
export function textOf(lines: readonly string[], tracking: number): Text {
  const key = `${tracking}/${lines.join("\n")}`;
  const known = set.get(key);
  if (known !== undefined) return known;
  const made = lines.map((line) => lineOf(line, tracking * 1000));
  const top = ((lines.length - 1) * LINE) / 2;
  const text = {
    path: made.map(({ place }, i) => place((CAP_HEIGHT / 2 - top + i * LINE) * 1000)).join(""),
    width: Math.max(...made.map(({ width }) => width)) / 1000,
    height: (lines.length - 1) * LINE + CAP_HEIGHT,
  };
  set.set(key, text);
  return text;
}

function lineOf(line: string, tracking: number): { width: number; place: (baseline: number) => string } {
  let pen = 0;
  const glyphs = [...line].map((character) => {
    const glyph = GLYPHS.get(character);
    const at = pen;
    pen += character === " " ? SPACE_ADVANCE : (glyph?.advance ?? -tracking);
    pen += tracking;
    return { at, path: glyph?.path ?? "" };
  });
  const width = pen - tracking;
  return {
    width,
    place: (baseline) =>
      glyphs
        .map(({ at, path }) => (path === "" ? "" : `M${Math.round(at - width / 2)} ${Math.round(baseline)}${path}`))
        .join(""),
  };
}

/** A name in two lines of about one length; undefined: it is one word. */
export function inTwoLines(name: string): readonly string[] | undefined {
  const words = name.split(" ");
  const splits = words.slice(1).map((_, i) => [words.slice(0, i + 1).join(" "), words.slice(i + 1).join(" ")]);
  const longest = (lines: readonly string[]): number => Math.max(...lines.map(({ length }) => length));
  return splits.sort((a, b) => longest(a) - longest(b))[0];
}

export interface TextStyle {
  readonly fill: string;
  /** None: nothing is kept clear around the text. */
  readonly halo?: string;
  readonly slant?: true;
}

/** A text in a picture, its middle at a point of the CRS; "" where nothing of it would be seen. */
export function textElement(
  text: Text,
  { x, y }: { readonly x: number; readonly y: number },
  pixels: number,
  style: TextStyle,
  canvas: Canvas,
): string {
  const reach = ((text.width + text.height + 1) / 2) * pixels + HALO_PIXELS;
  if (!touches({ minX: x, maxX: x, minY: y, maxY: y }, areaOf(canvas, reach))) return "";
  const { extent, width, height } = canvas;
  const left = ((x - extent.minX) * width) / (extent.maxX - extent.minX);
  const top = ((extent.maxY - y) * height) / (extent.maxY - extent.minY);
  return textAt(text, left, top, pixels, style);
}

/** A text in a picture, its middle at a pixel. */
export function textAt(
  text: Text,
  left: number,
  top: number,
  pixels: number,
  { fill, halo, slant }: TextStyle,
): string {
  const scale = pixels / 1000;
  const around =
    halo === undefined
      ? ""
      : ` stroke="${halo}" stroke-width="${((2 * HALO_PIXELS) / scale).toFixed(0)}" paint-order="stroke"`;
  const lean = slant === true ? " skewX(-12)" : "";
  return `<path d="${text.path}" transform="translate(${left.toFixed(2)} ${top.toFixed(2)}) scale(${scale})${lean}" fill="${fill}"${around}/>`;
}
