import type { Extent } from "./grid-set.ts";

/** The world in longitude and latitude. */
export const WORLD: Extent = { minX: -180, minY: -90, maxX: 180, maxY: 90 };

/** minx, miny, maxx, maxy, as in the configuration and in documents. */
export type Corners = readonly [minX: number, minY: number, maxX: number, maxY: number];

export const corners = ({ minX, minY, maxX, maxY }: Extent): Corners => [minX, minY, maxX, maxY];
export const extentOf = ([minX, minY, maxX, maxY]: Corners): Extent => ({ minX, minY, maxX, maxY });

/** Returns the smallest extent around two extents. */
export const unionOf = (a: Extent, b: Extent): Extent => ({
  minX: Math.min(a.minX, b.minX),
  minY: Math.min(a.minY, b.minY),
  maxX: Math.max(a.maxX, b.maxX),
  maxY: Math.max(a.maxY, b.maxY),
});

/** Returns the part that two extents share. Its minimum is not below its maximum if they share nothing. */
export const intersectionOf = (a: Extent, b: Extent): Extent => ({
  minX: Math.max(a.minX, b.minX),
  minY: Math.max(a.minY, b.minY),
  maxX: Math.min(a.maxX, b.maxX),
  maxY: Math.min(a.maxY, b.maxY),
});
