import type { MetatilePosition } from "./metatile.ts";

/** Columns or rows from `from` to before `to`. */
type Stretch = readonly [from: number, to: number];

export interface LevelPosition extends MetatilePosition {
  /** The level, counted from 0 for the coarsest. */
  readonly level: number;
}

/** The siblings of a cell: the columns and rows below one parent cell. */
interface Family {
  readonly columns: Stretch;
  readonly rows: Stretch;
}

/**
 * Numbers the cells of several levels by arithmetic: each cell is followed by all cells below it. Below a cell lies its
 * proportional share of the next level, because levels need not be nested.
 */
export class DepthFirst {
  readonly #levels: readonly { readonly columns: number; readonly rows: number }[];

  /** @param levels coarsest first */
  constructor(levels: readonly { readonly columns: number; readonly rows: number }[]) {
    this.#levels = levels;
  }

  #count(level: number, side: "columns" | "rows"): number {
    return this.#levels[level]?.[side] ?? 0;
  }

  /**
   * Returns the first column (or row) of the next level that lies below column (or row) n. Products may exceed 2^53 and
   * be rounded. Rounding moves a border between neighbours, always in the same way, and never changes the order.
   */
  #below(level: number, side: "columns" | "rows", n: number): number {
    const [here, there] = [this.#count(level, side), this.#count(level + 1, side)];
    return n >= here ? there : Math.min(there, Math.ceil((n * there) / here));
  }

  #stretchBelow(level: number, side: "columns" | "rows", [from, to]: Stretch): Stretch {
    return [this.#below(level, side, from), this.#below(level, side, to)];
  }

  /** Counts the cells of a part of a level and all cells below it. */
  #size(level: number, { columns, rows }: Family): bigint {
    let size = 0n;
    let [across, up] = [columns, rows];
    for (let at = level; at < this.#levels.length; at++) {
      size += BigInt(across[1] - across[0]) * BigInt(up[1] - up[0]);
      across = this.#stretchBelow(at, "columns", across);
      up = this.#stretchBelow(at, "rows", up);
    }
    return size;
  }

  get #roots(): Family {
    return { columns: [0, this.#count(0, "columns")], rows: [0, this.#count(0, "rows")] };
  }

  #children(level: number, { column, row }: MetatilePosition): Family {
    return {
      columns: this.#stretchBelow(level, "columns", [column, column + 1]),
      rows: this.#stretchBelow(level, "rows", [row, row + 1]),
    };
  }

  /**
   * Counts the cells before a sibling, and all cells below them: the whole rows before it, then the cells to its left.
   */
  #before(level: number, { columns, rows }: Family, { column, row }: MetatilePosition): bigint {
    return (
      this.#size(level, { columns, rows: [rows[0], row] }) +
      this.#size(level, { columns: [columns[0], column], rows: [row, row + 1] })
    );
  }

  at(n: bigint): LevelPosition {
    let family = this.#roots;
    let left = n;
    for (let level = 0; level < this.#levels.length; level++) {
      const { columns, rows } = family;
      const row = lastWhere(rows, (to) => this.#size(level, { columns, rows: [rows[0], to] }) <= left);
      left -= this.#size(level, { columns, rows: [rows[0], row] });
      const one: Stretch = [row, row + 1];
      const column = lastWhere(columns, (to) => this.#size(level, { columns: [columns[0], to], rows: one }) <= left);
      left -= this.#size(level, { columns: [columns[0], column], rows: one });
      if (left === 0n) return { level, column, row };
      left--;
      family = this.#children(level, { column, row });
    }
    throw new RangeError(`there is no cell ${n}`);
  }

  /** Returns the number of a cell: the inverse of `at`. */
  numberOf({ level, column, row }: LevelPosition): bigint {
    const path: MetatilePosition[] = [{ column, row }];
    for (let above = level - 1; above >= 0; above--) {
      const [child] = path;
      if (child === undefined) break;
      path.unshift({
        column: this.#above(above, "columns", child.column),
        row: this.#above(above, "rows", child.row),
      });
    }
    let family = this.#roots;
    let number = 0n;
    for (const [at, position] of path.entries()) {
      number += this.#before(at, family, position) + (at < level ? 1n : 0n);
      family = this.#children(at, position);
    }
    return number;
  }

  /** Returns the column (or row) of a level under which column (or row) n of the next level lies. */
  #above(level: number, side: "columns" | "rows", n: number): number {
    return lastWhere([0, this.#count(level, side)], (at) => this.#below(level, side, at) <= n);
  }
}

/**
 * Returns the last number of a stretch for which a condition holds. The condition must hold for the first number, and
 * once it fails for a number it must fail for all later ones.
 */
function lastWhere([from, to]: Stretch, holds: (n: number) => boolean): number {
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
