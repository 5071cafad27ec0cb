import { asTileRect, type TileRect, type Zoom } from "../../grid/grid-set.ts";
import { BLOCK_SIDE } from "../../layer/tile-set.ts";

/** Returns the key of a region from two numbers. The text has the order of the numbers. */
export const regionKey = (first: number, second: number): string => `${digits(first)}_${digits(second)}`;
const digits = (n: number): string => String(n).padStart(10, "0");

/** Returns whether a listing that goes on after a key skips all regions with this first number. */
export const isBefore = (first: number, after: string | undefined): boolean =>
  after !== undefined && regionKey(first, 10 ** 10 - 1) <= after;

/** Returns the square with these numbers in a level that is divided into squares; without a side, a block of the ledger. */
export const squareOf = (z: Zoom, nx: number, ny: number, side: number = BLOCK_SIDE): TileRect => {
  const [minX, minY] = [nx * side, ny * side];
  return asTileRect({ z, minX, minY, maxX: minX + side - 1, maxY: minY + side - 1 });
};
