import type { MetatilePosition } from "./metatile.ts";

interface Ring {
  readonly firstColumn: number;
  readonly lastColumn: number;
  /** The rows between the lowest and the highest row of the ring: the first one, and their number. */
  readonly firstBetween: number;
  readonly between: number;
  /** Whether the side of the ring below the middle, to its left, or to its right lies within the rectangle. */
  readonly hasBottom: boolean;
  readonly hasLeft: boolean;
  readonly hasRight: boolean;
}

/**
 * Numbers the cells of a rectangle in rings around the middle cell, by arithmetic: the numbers before a ring are as
 * many as the cells inside it. A ring runs along its lowest row, then up both sides, then along its highest row.
 */
export class CentreOut {
  readonly #columns: number;
  readonly #rows: number;
  readonly #middle: MetatilePosition;

  constructor({ columns, rows }: { readonly columns: number; readonly rows: number }) {
    this.#columns = columns;
    this.#rows = rows;
    this.#middle = { column: Math.floor((columns - 1) / 2), row: Math.floor((rows - 1) / 2) };
  }

  /** Returns the number of cells in a ring and inside it. */
  #within(ring: number): bigint {
    if (ring < 0) return 0n;
    const { column, row } = this.#middle;
    const width = Math.min(this.#columns - 1, column + ring) - Math.max(0, column - ring) + 1;
    const height = Math.min(this.#rows - 1, row + ring) - Math.max(0, row - ring) + 1;
    return BigInt(width) * BigInt(height);
  }

  #ring(ring: number): Ring {
    const { column, row } = this.#middle;
    const firstBetween = Math.max(0, row - ring + 1);
    return {
      firstColumn: Math.max(0, column - ring),
      lastColumn: Math.min(this.#columns - 1, column + ring),
      firstBetween,
      between: Math.max(0, Math.min(this.#rows - 1, row + ring - 1) - firstBetween + 1),
      hasBottom: row - ring >= 0,
      hasLeft: column - ring >= 0,
      hasRight: column + ring < this.#columns,
    };
  }

  at(n: bigint): MetatilePosition {
    let low = 0;
    let high = Math.max(this.#columns, this.#rows);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#within(middle) > n) high = middle;
      else low = middle + 1;
    }
    if (low === 0) return this.#middle;
    const { firstColumn, lastColumn, firstBetween, between, hasBottom, hasLeft, hasRight } = this.#ring(low);
    const { column, row } = this.#middle;
    // A ring has fewer than 2^33 cells.
    let left = Number(n - this.#within(low - 1));
    const width = hasBottom ? lastColumn - firstColumn + 1 : 0;
    if (left < width) return { column: firstColumn + left, row: row - low };
    left -= width;
    const sides = (hasLeft ? 1 : 0) + (hasRight ? 1 : 0);
    if (left < between * sides) {
      const isLeft = hasLeft && left % sides === 0;
      return { column: isLeft ? column - low : column + low, row: firstBetween + Math.floor(left / sides) };
    }
    return { column: firstColumn + left - between * sides, row: row + low };
  }

  /** Returns the number of a cell: the inverse of `at`. */
  numberOf(position: MetatilePosition): bigint {
    const { column, row } = this.#middle;
    const [across, up] = [position.column - column, position.row - row];
    const number = Math.max(Math.abs(across), Math.abs(up));
    if (number === 0) return 0n;
    const { firstColumn, lastColumn, firstBetween, between, hasBottom, hasLeft, hasRight } = this.#ring(number);
    const before = this.#within(number - 1);
    if (up === -number) return before + BigInt(position.column - firstColumn);
    const width = hasBottom ? lastColumn - firstColumn + 1 : 0;
    const sides = (hasLeft ? 1 : 0) + (hasRight ? 1 : 0);
    if (up === number) return before + BigInt(width + between * sides + position.column - firstColumn);
    const side = across > 0 ? sides - 1 : 0;
    return before + BigInt(width + (position.row - firstBetween) * sides + side);
  }
}
