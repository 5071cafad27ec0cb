import type { MetatilePosition } from "./metatile.ts";

/** Columns or rows from `from` to before `to`. */
type Stretch = readonly [from: number, to: number];

export interface LevelPosition extends MetatilePosition {
  /** Counted from 0 at the coarsest. */
  readonly level: number;
}

/** What a node is among its siblings, and below what. */
interface Family {
  readonly columns: Stretch;
  readonly rows: Stretch;
}

/**
 * The cells of several levels, each followed by all that lie below it, numbered by arithmetic. Below a cell is the share of
 * the next level that corresponds to it: levels need not be nested.
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
   * The first column (or row) of the next level that lies below one of a level. Products may pass 2^53 and be rounded: that
   * moves a border between neighbours, the same way each time, and never out of order.
   */
  #below(level: number, side: "columns" | "rows", n: number): number {
    const [here, there] = [this.#count(level, side), this.#count(level + 1, side)];
    return n >= here ? there : Math.min(there, Math.ceil((n * there) / here));
  }

  #stretchBelow(level: number, side: "columns" | "rows", [from, to]: Stretch): Stretch {
    return [this.#below(level, side, from), this.#below(level, side, to)];
  }

  /** The cells of a part of a level with all that lie below it. */
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

  /** Cells that come before one among its siblings, with what lies below them: whole rows, then those to its left. */
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

  /** `at` the other way. */
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

  /** The column (or row) of a level below which one of the next lies. */
  #above(level: number, side: "columns" | "rows", n: number): number {
    return lastWhere([0, this.#count(level, side)], (at) => this.#below(level, side, at) <= n);
  }
}

/** The last number of a stretch for which something holds that holds for the first one, and for none after one for which it does not. */
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
