import type { Extent } from "../../grid/grid-set.ts";

/** From CRS units to pixels of a picture, y down. */
export interface Canvas {
  readonly extent: Extent;
  readonly width: number;
  readonly height: number;
}

/** CRS units per pixel, across. */
export const unitsPerPixel = ({ extent, width }: Canvas): number => (extent.maxX - extent.minX) / width;

/** A picture as an SVG document. */
export const svgOf = ({ width, height }: Pick<Canvas, "width" | "height">, body: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${body}</svg>`;

/** Whether two areas have a point in common. */
export const touches = (a: Extent, b: Extent): boolean =>
  a.maxX >= b.minX && a.minX <= b.maxX && a.maxY >= b.minY && a.minY <= b.maxY;

/** The area of a picture and so many pixels around it. */
export function areaOf({ extent, width, height }: Canvas, marginPixels: number): Extent {
  const marginX = (marginPixels * (extent.maxX - extent.minX)) / width;
  const marginY = (marginPixels * (extent.maxY - extent.minY)) / height;
  return {
    minX: extent.minX - marginX,
    minY: extent.minY - marginY,
    maxX: extent.maxX + marginX,
    maxY: extent.maxY + marginY,
  };
}
