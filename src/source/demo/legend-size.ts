export const ROW_PIXELS = 22;

/** Returns the size of the legend of a style of the states, in pixels: a row for each colour. */
export const legendSize = (style: string): { readonly width: number; readonly height: number } => ({
  width: 48,
  height: ROW_PIXELS * (style === "polygon" ? 1 : 5),
});
