import { CLASSES } from "./style.ts";

export const ROW_PIXELS = 22;
export const EDGE_PIXELS = 10;

/** Returns the labels of the rows in the legend of a style. */
export const legendLabels = (style: string): readonly string[] =>
  style === "polygon" ? ["a state"] : CLASSES.map(({ label }) => label);

/** Returns the size of the legend of a style of the states, in pixels. */
export const legendSize = (style: string): { readonly width: number; readonly height: number } => ({
  width: 172,
  height: 2 * EDGE_PIXELS + ROW_PIXELS * (1 + legendLabels(style).length),
});
