/*
 * Web Mercator (EPSG:3857): degrees of longitude and latitude to metres on a sphere, and back.
 */

/** Metres. */
const RADIUS = 6378137;
const DEGREE = Math.PI / 180;

/** Where the square of the world ends, in degrees. */
export const LAST_LATITUDE = 85.0511287798066;
/** Half of the square's side, in metres. */
export const HALF_WORLD = Math.PI * RADIUS;

export const mercatorX = (longitude: number): number => RADIUS * longitude * DEGREE;
/** The poles are infinitely far away. */
export const mercatorY = (latitude: number): number =>
  RADIUS * Math.log(Math.tan(Math.PI / 4 + (latitude * DEGREE) / 2));
export const longitudeAt = (x: number): number => x / RADIUS / DEGREE;
export const latitudeAt = (y: number): number => Math.atan(Math.sinh(y / RADIUS)) / DEGREE;
