import { CELL_SIDE, CELLS_PER_SIDE } from "../../layer/cells.ts";
import { BLOCK_SIDE } from "../../layer/tile-set.ts";

const CELLS = CELLS_PER_SIDE * CELLS_PER_SIDE;
const ROW_BYTES = BLOCK_SIDE / 8;
const CELL_ROW_BYTES = CELL_SIDE / 8;
/**
 * The bytes of one cell in a row of the database: the cell's number, two numbers of seconds since 1970, and the number
 * of its tiles minus 1.
 */
const ENCODED_BYTES = 10;
const UNKNOWN_SECONDS = 0xff_ff_ff_ff;

/** Two times, ms since 1970, between which every tile of a cell was written. */
export interface WriteTimes {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A cell with tiles, and the two times between which the tiles were written. */
export interface AgedCell extends WriteTimes {
  readonly cell: number;
  /** The number of tiles. */
  readonly tiles: number;
}

/** A write of one tile of a block. */
export interface TileWrite {
  readonly cell: number;
  /** The number of the tile's bit in the block's presence. */
  readonly bit: number;
  readonly isNew: boolean;
  /** The number of stored tiles of the cell, including this one. */
  readonly tiles: number;
}

/** The rewritten tiles of a block, by cell, and for each cell a time before which no tile was rewritten. */
class Rewritten {
  /** One bit per tile, as in the block's presence. */
  readonly #bits = new Uint8Array(BLOCK_SIDE * ROW_BYTES);
  readonly tiles = new Uint16Array(CELLS);
  readonly sinceMs = new Float64Array(CELLS);

  add(cell: number, bit: number, sinceMs: number): void {
    this.sinceMs[cell] = this.tiles[cell] === 0 ? sinceMs : Math.min(this.sinceMs[cell] ?? 0, sinceMs);
    if (this.#has(bit)) return;
    this.#bits[bit >> 3] = (this.#bits[bit >> 3] ?? 0) | (1 << (bit & 7));
    this.tiles[cell] = (this.tiles[cell] ?? 0) + 1;
  }

  remove(cell: number, bit: number): void {
    if (!this.#has(bit)) return;
    this.#bits[bit >> 3] = (this.#bits[bit >> 3] ?? 0) & ~(1 << (bit & 7));
    this.tiles[cell] = (this.tiles[cell] ?? 0) - 1;
  }

  removeAll(cell: number): void {
    const first = Math.floor(cell / CELLS_PER_SIDE) * CELL_SIDE * ROW_BYTES + (cell % CELLS_PER_SIDE) * CELL_ROW_BYTES;
    for (let row = 0; row < CELL_SIDE; row++) {
      const from = first + row * ROW_BYTES;
      this.#bits.fill(0, from, from + CELL_ROW_BYTES);
    }
    this.tiles[cell] = 0;
  }

  #has(bit: number): boolean {
    return ((this.#bits[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }
}

/**
 * For each cell of a block, two times between which its tiles were written. The earlier time rises when every tile of
 * the cell has been rewritten. Only memory records which tiles were rewritten, so a block that was evicted from memory
 * starts over: its times stay right, but lie further apart.
 */
export class CellAges {
  readonly #sinceMs = new Float64Array(CELLS);
  /** 0 means unknown. */
  readonly #untilMs = new Float64Array(CELLS);
  #rewritten: Rewritten | undefined;

  of(cell: number): WriteTimes {
    const untilMs = this.#untilMs[cell] ?? 0;
    return { sinceMs: this.#sinceMs[cell] ?? 0, untilMs: untilMs === 0 ? Number.POSITIVE_INFINITY : untilMs };
  }

  set(cell: number, { sinceMs, untilMs }: WriteTimes): void {
    this.#sinceMs[cell] = sinceMs;
    this.#untilMs[cell] = Number.isFinite(untilMs) ? untilMs : 0;
    this.#rewritten?.removeAll(cell);
  }

  /** Records that a tile was written between two times. */
  written({ cell, bit, isNew, tiles }: TileWrite, { sinceMs, untilMs }: WriteTimes): void {
    if (tiles === 1) {
      this.set(cell, { sinceMs, untilMs });
      return;
    }
    const known = this.of(cell);
    this.#sinceMs[cell] = Math.min(known.sinceMs, sinceMs);
    if (Number.isFinite(known.untilMs)) this.#untilMs[cell] = Math.max(known.untilMs, untilMs);
    // A first seed needs no record of its tiles, because the first tile of a cell is not in the record.
    if (isNew && (this.#rewritten?.tiles[cell] ?? 0) === 0) return;
    this.#rewritten ??= new Rewritten();
    this.#rewritten.add(cell, bit, sinceMs);
    if (this.#rewritten.tiles[cell] !== tiles) return;
    this.#sinceMs[cell] = this.#rewritten.sinceMs[cell] ?? 0;
    this.#rewritten.removeAll(cell);
  }

  removed(cell: number, bit: number): void {
    this.#rewritten?.remove(cell, bit);
  }

  /** Encodes the times of some cells, rounded outwards to whole seconds, and the number of their tiles. */
  encode(cells: readonly number[], tiles: Uint16Array): Buffer {
    const encoded = Buffer.allocUnsafe(cells.length * ENCODED_BYTES);
    for (const [i, cell] of cells.entries()) {
      const { sinceMs, untilMs } = this.of(cell);
      const offset = i * ENCODED_BYTES;
      encoded.writeUInt8(cell, offset);
      encoded.writeUInt32LE(Math.min(UNKNOWN_SECONDS, Math.floor(sinceMs / 1000)), offset + 1);
      encoded.writeUInt32LE(Math.min(UNKNOWN_SECONDS, Math.ceil(untilMs / 1000)), offset + 5);
      encoded.writeUInt8((tiles[cell] ?? 1) - 1, offset + 9);
    }
    return encoded;
  }
}

/**
 * Decodes the result of `CellAges.encode`, with the cells in the same order. Undefined if `encode` has not written
 * these bytes.
 */
export function decodeAges({ buffer, byteOffset, byteLength }: Uint8Array): readonly AgedCell[] | undefined {
  if (byteLength % ENCODED_BYTES !== 0) return undefined;
  const encoded = new DataView(buffer, byteOffset, byteLength);
  const cells: AgedCell[] = [];
  for (let offset = 0; offset < byteLength; offset += ENCODED_BYTES) {
    const untilSeconds = encoded.getUint32(offset + 5, true);
    cells.push({
      cell: encoded.getUint8(offset),
      sinceMs: encoded.getUint32(offset + 1, true) * 1000,
      untilMs: untilSeconds === UNKNOWN_SECONDS ? Number.POSITIVE_INFINITY : untilSeconds * 1000,
      tiles: encoded.getUint8(offset + 9) + 1,
    });
  }
  return cells;
}
