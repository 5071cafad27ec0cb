import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { TileRect } from "../grid/grid-set.ts";
import { BLOCK_SIDE, CELL_SIDE, CELLS_PER_SIDE } from "../tile/tile-set.ts";

export const CELLS = CELLS_PER_SIDE * CELLS_PER_SIDE;
const PRESENCE_BYTES = (BLOCK_SIDE * BLOCK_SIDE) / 8;

/** What is kept of 128 x 128 tiles: which ones, and per cell how many bytes and since when. */
export class Block {
  readonly tileSetId: number;
  readonly z: number;
  readonly bx: number;
  readonly by: number;
  /** One bit per tile, row by row from the lower left. */
  readonly presence: Uint8Array;
  readonly cellBytes: Float64Array;
  /** ms since 1970 of the oldest write in the cell, 0 when empty. */
  readonly oldestMs: Float64Array;
  /** 1 where the numbers hold; 0 where the store has to be counted first. */
  readonly known: Uint8Array;
  /** Writers that have opened a cell and not closed it. Not persisted. */
  readonly writers = new Uint16Array(CELLS);
  /** 1 while a mark for the cell stands in the database, or is about to. */
  readonly marked = new Uint8Array(CELLS);
  tiles = 0;
  dirty = false;
  lastClosedMs = 0;

  constructor(tileSetId: number, z: number, bx: number, by: number, known: boolean) {
    this.tileSetId = tileSetId;
    this.z = z;
    this.bx = bx;
    this.by = by;
    this.presence = new Uint8Array(PRESENCE_BYTES);
    this.cellBytes = new Float64Array(CELLS);
    this.oldestMs = new Float64Array(CELLS);
    this.known = new Uint8Array(CELLS).fill(known ? 1 : 0);
  }

  has(x: number, y: number): boolean {
    const bit = bitOf(x, y);
    return ((this.presence[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  set(x: number, y: number): void {
    const bit = bitOf(x, y);
    this.presence[bit >> 3] = (this.presence[bit >> 3] ?? 0) | (1 << (bit & 7));
    this.tiles++;
  }

  clear(x: number, y: number): void {
    const bit = bitOf(x, y);
    this.presence[bit >> 3] = (this.presence[bit >> 3] ?? 0) & ~(1 << (bit & 7));
    this.tiles--;
  }

  /** Nothing kept, nothing unknown, nobody at work: the row can go. */
  get empty(): boolean {
    return this.tiles === 0 && !this.known.includes(0);
  }

  get busy(): boolean {
    return this.dirty || this.writers.some((n) => n > 0) || this.marked.includes(1);
  }

  get bytes(): number {
    let sum = 0;
    for (const bytes of this.cellBytes) sum += bytes;
    return sum;
  }

  /** The tiles of a cell. */
  cellRect(cell: number): TileRect {
    const minX = this.bx * BLOCK_SIDE + (cell % CELLS_PER_SIDE) * CELL_SIDE;
    const minY = this.by * BLOCK_SIDE + Math.floor(cell / CELLS_PER_SIDE) * CELL_SIDE;
    return { z: this.z, minX, minY, maxX: minX + CELL_SIDE - 1, maxY: minY + CELL_SIDE - 1 };
  }

  /** Tiles kept in a part of the block. */
  countIn(rect: TileRect): number {
    const x0 = this.bx * BLOCK_SIDE;
    const y0 = this.by * BLOCK_SIDE;
    const minX = Math.max(rect.minX, x0);
    const minY = Math.max(rect.minY, y0);
    const maxX = Math.min(rect.maxX, x0 + BLOCK_SIDE - 1);
    const maxY = Math.min(rect.maxY, y0 + BLOCK_SIDE - 1);
    if (minX === x0 && minY === y0 && maxX === x0 + BLOCK_SIDE - 1 && maxY === y0 + BLOCK_SIDE - 1) return this.tiles;
    let count = 0;
    for (let y = minY; y <= maxY; y++) for (let x = minX; x <= maxX; x++) if (this.has(x, y)) count++;
    return count;
  }

  encode(): { presence: Uint8Array; cells: Uint8Array; unknown: string } {
    return {
      presence: deflateRawSync(this.presence, { level: 1 }),
      cells: deflateRawSync(Buffer.concat([viewOf(this.cellBytes), viewOf(this.oldestMs)]), { level: 1 }),
      unknown: maskText(this.known, 0),
    };
  }

  static decode(
    at: { tileSetId: number; z: number; bx: number; by: number; tiles: number },
    row: { presence: Uint8Array; cells: Uint8Array; unknown: string },
  ): Block {
    const block = new Block(at.tileSetId, at.z, at.bx, at.by, true);
    block.presence.set(inflateRawSync(row.presence));
    const cells = inflateRawSync(row.cells);
    const numbers = new Float64Array(CELLS * 2);
    viewOf(numbers).set(cells);
    block.cellBytes.set(numbers.subarray(0, CELLS));
    block.oldestMs.set(numbers.subarray(CELLS));
    for (const cell of maskCells(row.unknown)) block.known[cell] = 0;
    block.tiles = at.tiles;
    return block;
  }
}

const viewOf = (a: Float64Array): Uint8Array => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);

const bitOf = (x: number, y: number): number => (y % BLOCK_SIDE) * BLOCK_SIDE + (x % BLOCK_SIDE);

export const cellOf = (x: number, y: number): number =>
  Math.floor((y % BLOCK_SIDE) / CELL_SIDE) * CELLS_PER_SIDE + Math.floor((x % BLOCK_SIDE) / CELL_SIDE);

/** 64 cells as 16 hexadecimal digits: SQLite's integers are signed, a text is not. */
export function maskText(cells: Uint8Array, wanted: number): string {
  let mask = 0n;
  for (let cell = 0; cell < CELLS; cell++) if (cells[cell] === wanted) mask |= 1n << BigInt(cell);
  return mask.toString(16).padStart(16, "0");
}

export function* maskCells(mask: string): Generator<number> {
  const bits = BigInt(`0x${mask}`);
  for (let cell = 0; cell < CELLS; cell++) if ((bits >> BigInt(cell)) & 1n) yield cell;
}
