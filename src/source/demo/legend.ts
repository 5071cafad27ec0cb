import { filled, layered, stroked } from "./brush.ts";
import { svgOf } from "./canvas.ts";
import { hatchName, hatchPatterns } from "./hatching.ts";
import { textAt, textOf } from "./lettering.ts";
import { CLASSES, LAND_TYPE, PLAIN, STATE_COAST } from "./palette.ts";

const WIDTH = 172;
const ROW = 22;
const EDGE = 10;
const SWATCH = { width: 28, height: 15 } as const;
const TYPE_PIXELS = 11;

interface Row {
  readonly fill: string;
  readonly text: string;
}

/** Pixels of the legend of a style of the states. */
export const legendSize = (style: string): { readonly width: number; readonly height: number } => ({
  width: WIDTH,
  height: 2 * EDGE + ROW * (1 + rowsOf(style).length),
});

/** What the colours or hatches of the states mean, as an SVG document. */
export function legendSvg(style: string): string {
  const rows = rowsOf(style);
  const swatches = rows.flatMap(({ fill }, i) => {
    const path = `M${EDGE}.5 ${topOf(i)}.5h${SWATCH.width}v${SWATCH.height}h-${SWATCH.width}z`;
    return [filled(path, fill), stroked(path, STATE_COAST, 0.8)];
  });
  const texts = rows.map(({ text }, i) =>
    leftText(text, EDGE + SWATCH.width + 9, topOf(i) + SWATCH.height / 2 + 0.5, TYPE_PIXELS),
  );
  return svgOf(
    legendSize(style),
    [
      '<rect width="100%" height="100%" fill="#ffffff"/>',
      style === "pophatch" ? hatchPatterns(0, 0) : "",
      leftText(style === "polygon" ? "States" : "Millions of people, 2020", EDGE, EDGE + ROW / 2 - 3, TYPE_PIXELS + 1),
      layered(swatches),
      ...texts,
    ].join(""),
  );
}

const topOf = (row: number): number => EDGE + ROW * (row + 1);

function rowsOf(style: string): readonly Row[] {
  if (style === "polygon") return [{ fill: PLAIN.fill, text: "a state" }];
  return CLASSES.map(({ fill, text }, i) => ({ fill: style === "pophatch" ? `url(#${hatchName(i)})` : fill, text }));
}

function leftText(words: string, left: number, middle: number, pixels: number): string {
  const text = textOf([words], 0.02);
  return textAt(text, left + (text.width * pixels) / 2, middle, pixels, { fill: LAND_TYPE });
}
