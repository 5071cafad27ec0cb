import type { Extent } from "../grid-set.ts";

/*
 * Web Mercator (EPSG:3857): degrees of longitude and latitude to metres on a sphere, and back.
 */

/** The radius of the sphere, in metres. */
const RADIUS = 6378137;
const DEGREE = Math.PI / 180;

/** The latitude at which the square of the world ends, in degrees. */
const LAST_LATITUDE = 85.0511287798066;
/** Half of the side of the world's square, in metres. */
export const HALF_WORLD = Math.PI * RADIUS;
export const WEB_WORLD: Extent = { minX: -HALF_WORLD, minY: -HALF_WORLD, maxX: HALF_WORLD, maxY: HALF_WORLD };

export const mercatorX = (longitude: number): number => RADIUS * longitude * DEGREE;
/** Returns the y of a latitude. The poles are infinitely far away; the equator is exactly 0. */
export const mercatorY = (latitude: number): number => RADIUS * Math.asinh(Math.tan(latitude * DEGREE));
export const longitudeAt = (x: number): number => x / RADIUS / DEGREE;
export const latitudeAt = (y: number): number => Math.atan(Math.sinh(y / RADIUS)) / DEGREE;

/** Converts a box in longitude and latitude to metres, clipped to the square of the world. */
export const toWebMercator = ({ minX, minY, maxX, maxY }: Extent): Extent => ({
  minX: mercatorX(minX),
  minY: mercatorY(within(minY, LAST_LATITUDE)),
  maxX: mercatorX(maxX),
  maxY: mercatorY(within(maxY, LAST_LATITUDE)),
});

const within = (degrees: number, limit: number): number => Math.max(-limit, Math.min(limit, degrees));
