import type { Canvas } from "./canvas.ts";
import { CLASSES, HATCH } from "./palette.ts";

/** Pixels. */
const SIZE = 8;

export const hatchName = (index: number): string => `h${index}`;

/** A pattern for each class: paper, and lines that are the wider the more persons. */
export function hatchPatterns(x: number, y: number): string {
  const lines = CLASSES.map(
    ({ hatch }, i) =>
      `<pattern id="${hatchName(i)}" patternUnits="userSpaceOnUse" width="${SIZE}" height="${SIZE}" patternTransform="translate(${x} ${y})"><rect width="${SIZE}" height="${SIZE}" fill="${HATCH.paper}"/><path d="M-4 4L4 -4M-4 12L12 -4M4 12L12 4" stroke="${HATCH.ink}" stroke-width="${hatch}"/></pattern>`,
  );
  return `<defs>${lines.join("")}</defs>`;
}

/** Hatching anchored to the CRS, not to the picture, so that neighbouring metatiles join. */
export function anchoredHatchPatterns({ extent, width, height }: Canvas): string {
  const pixel = (extent.maxX - extent.minX) / width;
  const shift = (origin: number): number => ((Math.round(origin / pixel) % SIZE) + SIZE) % SIZE;
  return hatchPatterns(-shift(extent.minX), shift(extent.minY) + (height % SIZE));
}
