import { Canvas } from "./canvas.ts";
import { textElement, textOf } from "./labels.ts";
import { EDGE_PIXELS, legendLabels, legendSize, ROW_PIXELS } from "./legend-size.ts";
import { hatchPatterns, LAND_TEXT, STATE_COAST, stateStyle } from "./style.ts";

/** Writes the legend of a style, with its colours or hatches, as SVG. */
export function legendSvg(style: string): string {
  const { width, height } = legendSize(style);
  const canvas = new Canvas({ extent: { minX: 0, minY: 0, maxX: width, maxY: height }, width, height });
  const rows = legendLabels(style).map((label, i) => {
    const top = EDGE_PIXELS + ROW_PIXELS * (i + 1);
    const swatch = `<rect x="${EDGE_PIXELS}.5" y="${top}.5" width="28" height="15" fill="${stateStyle(style, i).fill}" stroke="${STATE_COAST}" stroke-width="0.8"/>`;
    return swatch + leftText(label, EDGE_PIXELS + 37, top + 8, 11);
  });
  return canvas.svg([
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    hatchPatterns(0, 0),
    leftText(style === "polygon" ? "States" : "Millions of people, 2020", EDGE_PIXELS, EDGE_PIXELS + 8, 12),
    ...rows,
  ]);
}

function leftText(words: string, left: number, middle: number, pixels: number): string {
  const text = textOf([words], 0.02);
  return textElement(text, [left + (text.width * pixels) / 2, middle], pixels, { fill: LAND_TEXT });
}
