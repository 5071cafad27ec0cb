import {
  asTileRect,
  asTileX,
  asTileY,
  intersectRects,
  type TileRect,
  type TileX,
  type TileY,
} from "../../grid/grid-set.ts";
import { CELL_SIDE } from "../../layer/cells.ts";

/** The states of a square, the weakest first: a square has the strongest state of its tiles. */
const STATES = ["evicted", "kept", "stale", "failed", "drawing"] as const;
export type SquareState = (typeof STATES)[number];

/** The most squares of a map. If there are more tiles, a square is a cell of 16 x 16 tiles. */
export const MOST_SQUARES = 65_536;

/** Runs of squares: `[gap, run, gap, run, …]`, row by row from the bottom. */
export type Runs = readonly number[];

/** The states of the squares of a rectangle of tiles. A square is one tile or one cell. */
export class CoverageSquares {
  /** The column and the row of tiles at the lower left of the first square. */
  readonly x0: number;
  readonly y0: number;
  /** The number of squares in each direction. */
  readonly width: number;
  readonly height: number;
  /** Tiles on the side of a square. */
  readonly step: number;
  /** The rectangle that all squares cover, in tiles. */
  readonly rect: TileRect;
  readonly #states: Uint8Array;

  constructor({ z, minX, minY, maxX, maxY }: TileRect) {
    this.step = (maxX - minX + 1) * (maxY - minY + 1) <= MOST_SQUARES ? 1 : CELL_SIDE;
    const [left, lower] = [this.#square(minX), this.#square(minY)];
    this.x0 = left * this.step;
    this.y0 = lower * this.step;
    this.width = this.#square(maxX) - left + 1;
    this.height = this.#square(maxY) - lower + 1;
    this.rect = asTileRect({
      z,
      minX: this.x0,
      minY: this.y0,
      maxX: this.x0 + this.width * this.step - 1,
      maxY: this.y0 + this.height * this.step - 1,
    });
    this.#states = new Uint8Array(this.width * this.height);
  }

  #square(tile: number): number {
    return Math.floor(tile / this.step);
  }

  /** Marks the square of a tile, unless it has a stronger state. */
  mark(x: TileX, y: TileY, state: SquareState): void {
    const column = this.#square(x - this.x0);
    const row = this.#square(y - this.y0);
    if (column < 0 || row < 0 || column >= this.width || row >= this.height) return;
    const at = row * this.width + column;
    this.#states[at] = Math.max(this.#states[at] ?? 0, STATES.indexOf(state) + 1);
  }

  /** Marks the squares of a rectangle of tiles. */
  markAll(rect: TileRect, state: SquareState): void {
    const part = intersectRects(rect, this.rect);
    if (part === undefined) return;
    const first = (tile: number): number => this.#square(tile) * this.step;
    for (let y = first(part.minY); y <= part.maxY; y += this.step)
      for (let x = first(part.minX); x <= part.maxX; x += this.step) this.mark(asTileX(x), asTileY(y), state);
  }

  /** Returns the squares of each state as runs. */
  runs(): Readonly<Record<SquareState, Runs>> {
    const runs: Record<SquareState, number[]> = { evicted: [], kept: [], stale: [], failed: [], drawing: [] };
    const ends = { evicted: 0, kept: 0, stale: 0, failed: 0, drawing: 0 };
    for (let at = 0; at < this.#states.length; ) {
      const state = STATES[(this.#states[at] ?? 0) - 1];
      let end = at + 1;
      while (end < this.#states.length && this.#states[end] === this.#states[at]) end++;
      if (state !== undefined) {
        runs[state].push(at - ends[state], end - at);
        ends[state] = end;
      }
      at = end;
    }
    return runs;
  }
}
