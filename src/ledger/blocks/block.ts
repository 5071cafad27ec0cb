import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import {
  asTileRect,
  asTileX,
  asTileY,
  asZoom,
  intersectRects,
  type TileRect,
  type TileX,
  type TileY,
  type Zoom,
} from "../../grid/grid-set.ts";
import { CELL_SIDE, CELLS_PER_SIDE, type CellIndex, cellRect } from "../../layer/cells.ts";
import { BLOCK_SIDE } from "../../layer/tile-set.ts";
import { int, type Row } from "../../state/database.ts";
import { CellAges, decodeAges, type WriteTimes } from "../cells/cell-ages.ts";
import { decayedFrequency } from "./access-frequency.ts";

export const CELLS = CELLS_PER_SIDE * CELLS_PER_SIDE;
const PRESENCE_BYTES = (BLOCK_SIDE * BLOCK_SIDE) / 8;
const ROW_BYTES = BLOCK_SIDE / 8;
/** The columns of a cell's numbers, in the order in which a row contains them. */
const COLUMN = { bytes: 0, allocated: 1, oldestMs: 2, lastUseMs: 3, frequency: 4 } as const;
const NUMBERS = 5;
/** The bytes of one cell in a row: the number of the cell, then its columns. */
const CELL_BYTES = 1 + NUMBERS * 8;

/** The cell that is evicted first: the least recently used cell, or the cell with the lowest access frequency. */
export type CellOrder = "LRU" | "LFU";

/** A cell that was read after its first write, and its access frequency. */
export interface UsedCell {
  readonly cell: number;
  readonly frequency: number;
}

/**
 * Returns whether a cell has been read. A cell without reads has the frequency of its first write or, after a count
 * from the store, the frequency of its latest tile.
 */
const isUsed = (oldestMs: number, lastUseMs: number, frequency: number): boolean =>
  frequency > decayedFrequency(0, oldestMs, 1) && frequency !== decayedFrequency(0, lastUseMs, 1);

/**
 * The address of a block. Code that waits keeps the address, not the block, and gets the block from the table again.
 */
export interface BlockAddress {
  readonly tileSetId: number;
  readonly z: Zoom;
  readonly bx: number;
  readonly by: number;
}

/** The position of a block in any tile set. */
type BlockPosition = Omit<BlockAddress, "tileSetId">;

/** Returns the address of the block that a row concerns. */
export const blockAddressOfRow = (row: Row): BlockAddress => ({
  tileSetId: int(row, "tile_set"),
  z: asZoom(int(row, "z")),
  bx: int(row, "bx"),
  by: int(row, "by"),
});

/** Returns the column (or row) of blocks that contains a column (or row) of tiles. */
export const blockOf = (tile: number): number => Math.floor(tile / BLOCK_SIDE);

/** Returns the rectangle of the tiles of a block. */
export const blockRect = ({ z, bx, by }: BlockPosition): TileRect =>
  asTileRect({
    z,
    minX: bx * BLOCK_SIDE,
    minY: by * BLOCK_SIDE,
    maxX: (bx + 1) * BLOCK_SIDE - 1,
    maxY: (by + 1) * BLOCK_SIDE - 1,
  });

/** Returns the column and the row of a cell of a block. */
export const cellOfBlock = ({ z, bx, by }: BlockPosition, cell: number): CellIndex => ({
  z,
  column: bx * CELLS_PER_SIDE + (cell % CELLS_PER_SIDE),
  row: by * CELLS_PER_SIDE + Math.floor(cell / CELLS_PER_SIDE),
});

/** Returns the rectangle of the tiles of a cell of a block. */
export const cellRectOf = (block: BlockPosition, cell: number): TileRect => cellRect(cellOfBlock(block, cell));

export const blockKey = ({ tileSetId, z, bx, by }: BlockAddress): string => `${tileSetId}/${z}/${bx}/${by}`;

/**
 * The record of 128 x 128 tiles: which tiles are stored, and per cell the bytes, the oldest write and the use. The
 * block table makes at most one object per block. The table may evict the object at any await, so no code outside of
 * the table refers to a block across an await.
 */
export class Block {
  readonly at: BlockAddress;
  readonly key: string;
  /** One bit per tile, row by row from the lower left. */
  readonly presence = new Uint8Array(PRESENCE_BYTES);
  /** The number of tiles per cell, counted from `presence`. */
  readonly cellTiles = new Uint16Array(CELLS);
  readonly cellBytes: Float64Array;
  /** The bytes that the disk allocates for the tiles of a cell. */
  readonly cellAllocated: Float64Array;
  /**
   * ms since 1970 of the first write to the empty cell or, if the cell was counted, of its oldest tile. 0 if the cell
   * is empty.
   */
  readonly oldestMs: Float64Array;
  /** ms since 1970 of the latest use or write. 0 if the cell is empty. */
  readonly lastUseMs: Float64Array;
  /** Access frequency as in `access-frequency.ts`. 0 if the cell is empty. */
  readonly frequency: Float64Array;
  readonly ages = new CellAges();
  /** 1 if the numbers of the cell are right; 0 if the cell must be counted from the store first. */
  readonly known: Uint8Array;
  /** The number of writers that have a cell open. Not persisted. */
  readonly writers = new Uint16Array(CELLS);
  /** ms since 1970 at which the first of the writers that now have a cell open opened it. Not persisted. */
  readonly openedMs = new Float64Array(CELLS);
  /** 1 while the database has a mark for the cell, or is about to get a mark. */
  readonly marked = new Uint8Array(CELLS);
  tiles = 0;
  dirty = false;
  /** The time in ms of the monotonic clock at which a writer last closed a cell. */
  lastClosedMs = Number.NEGATIVE_INFINITY;
  readonly #numbers = new Float64Array(CELLS * NUMBERS);

  constructor(at: BlockAddress, known: boolean) {
    this.at = at;
    this.key = blockKey(at);
    const column = (n: number): Float64Array => this.#numbers.subarray(n * CELLS, (n + 1) * CELLS);
    this.cellBytes = column(COLUMN.bytes);
    this.cellAllocated = column(COLUMN.allocated);
    this.oldestMs = column(COLUMN.oldestMs);
    this.lastUseMs = column(COLUMN.lastUseMs);
    this.frequency = column(COLUMN.frequency);
    this.known = new Uint8Array(CELLS).fill(known ? 1 : 0);
  }

  has(x: TileX, y: TileY): boolean {
    const bit = bitOf(x, y);
    return ((this.presence[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  set(x: TileX, y: TileY): void {
    const bit = bitOf(x, y);
    this.presence[bit >> 3] = (this.presence[bit >> 3] ?? 0) | (1 << (bit & 7));
    const cell = cellOf(x, y);
    this.cellTiles[cell] = (this.cellTiles[cell] ?? 0) + 1;
    this.tiles++;
  }

  clear(x: TileX, y: TileY): void {
    const bit = bitOf(x, y);
    this.presence[bit >> 3] = (this.presence[bit >> 3] ?? 0) & ~(1 << (bit & 7));
    const cell = cellOf(x, y);
    this.cellTiles[cell] = (this.cellTiles[cell] ?? 0) - 1;
    this.tiles--;
    this.ages.removed(cell, bit);
    if (this.cellTiles[cell] !== 0) return;
    this.oldestMs[cell] = 0;
    this.lastUseMs[cell] = 0;
    this.frequency[cell] = 0;
  }

  /** Records that a tile, whose bit is already set, was written between two times. */
  aged(x: TileX, y: TileY, isNew: boolean, times: WriteTimes): void {
    const cell = cellOf(x, y);
    this.ages.written({ cell, bit: bitOf(x, y), isNew, tiles: this.cellTiles[cell] ?? 0 }, times);
  }

  /** Records a write to a cell. For LRU a write is a use. For LFU only the first write to an empty cell is a use. */
  written(cell: number, nowMs: number): void {
    if (this.oldestMs[cell] === 0) this.oldestMs[cell] = nowMs;
    if (this.frequency[cell] === 0) this.frequency[cell] = decayedFrequency(0, nowMs, 1);
    this.lastUseMs[cell] = Math.max(this.lastUseMs[cell] ?? 0, nowMs);
  }

  /**
   * Records reads of a cell. Returns false for an empty cell.
   * @param repeats the number of these reads whose tile had been read before
   */
  used(cell: number, nowMs: number, repeats: number): boolean {
    if (this.cellTiles[cell] === 0) return false;
    this.lastUseMs[cell] = Math.max(this.lastUseMs[cell] ?? 0, nowMs);
    if (repeats > 0) this.frequency[cell] = decayedFrequency(this.frequency[cell] ?? 0, nowMs, repeats);
    return true;
  }

  /** Returns the least used cell that has tiles and that `isEvictable` accepts. Undefined if there is no such cell. */
  coldest(order: CellOrder, isEvictable: (cell: number) => boolean): { cell: number; key: number } | undefined {
    const keys = order === "LRU" ? this.lastUseMs : this.frequency;
    let found: { cell: number; key: number } | undefined;
    for (let cell = 0; cell < CELLS; cell++) {
      const key = keys[cell] ?? 0;
      if (this.cellTiles[cell] === 0 || (found !== undefined && found.key <= key) || !isEvictable(cell)) continue;
      found = { cell, key };
    }
    return found;
  }

  /** Decodes the used cells from the result of `encodeCells`. */
  static usedCells(encoded: Uint8Array): UsedCell[] {
    const cells = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    const used: UsedCell[] = [];
    for (const offset of cellOffsets(cells)) {
      const number = (column: number): number => cells.readDoubleLE(offset + 1 + column * 8);
      const frequency = number(COLUMN.frequency);
      if (isUsed(number(COLUMN.oldestMs), number(COLUMN.lastUseMs), frequency))
        used.push({ cell: cells.readUInt8(offset), frequency });
    }
    return used;
  }

  /** Whether the block has neither tiles nor unknown cells, so that its row can be deleted. */
  get empty(): boolean {
    return this.tiles === 0 && !this.known.includes(0);
  }

  /** Whether writers have cells of the block open. */
  get open(): boolean {
    return this.writers.some((n) => n > 0);
  }

  /** Whether the table must not evict the block, because a part of its state exists only in memory. */
  get pinned(): boolean {
    return this.dirty || this.open || this.marked.includes(1);
  }

  /** Returns the rectangle of the tiles of a cell. */
  cellRect(cell: number): TileRect {
    return cellRectOf(this.at, cell);
  }

  /** Yields the stored tiles of a cell. */
  *tilesOf(cell: number): Generator<{ readonly x: TileX; readonly y: TileY }> {
    if (this.cellTiles[cell] === 0) return;
    const rect = this.cellRect(cell);
    for (let y = rect.minY; y <= rect.maxY; y++)
      for (let x = rect.minX; x <= rect.maxX; x++) if (this.has(x, y)) yield { x, y };
  }

  /**
   * Returns the first column of a part of the block that has a stored tile or an unknown cell. Undefined if no column
   * has one.
   */
  firstColumn(rect: TileRect): number | undefined {
    const part = intersectRects(rect, blockRect(this.at));
    if (part === undefined) return undefined;
    const cell = (tile: number): number => Math.floor(tile / CELL_SIDE) * CELL_SIDE;
    for (let cellX = cell(part.minX); cellX <= part.maxX; cellX += CELL_SIDE) {
      let found: number | undefined;
      for (let cellY = cell(part.minY); cellY <= part.maxY; cellY += CELL_SIDE) {
        const first = this.#firstOfCell(asTileX(cellX), asTileY(cellY), part);
        if (first !== undefined && (found === undefined || first < found)) found = first;
      }
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #firstOfCell(cellX: TileX, cellY: TileY, part: TileRect): number | undefined {
    const cell = cellOf(cellX, cellY);
    const minX = asTileX(Math.max(cellX, part.minX));
    if (this.known[cell] !== 1) return minX;
    if (this.cellTiles[cell] === 0) return undefined;
    const maxX = Math.min(cellX + CELL_SIDE - 1, part.maxX);
    const maxY = Math.min(cellY + CELL_SIDE - 1, part.maxY);
    for (let x = minX; x <= maxX; x++)
      for (let y = asTileY(Math.max(cellY, part.minY)); y <= maxY; y++) if (this.has(x, y)) return x;
    return undefined;
  }

  /** Encodes the numbers of the cells. Omits empty cells, because most blocks of a real cache have few tiles. */
  encodeCells(full = this.#fullCells()): Buffer {
    const cells = Buffer.allocUnsafe(full.length * CELL_BYTES);
    for (const [i, cell] of full.entries()) {
      cells.writeUInt8(cell, i * CELL_BYTES);
      for (let n = 0; n < NUMBERS; n++)
        cells.writeDoubleLE(this.#numbers[n * CELLS + cell] ?? 0, i * CELL_BYTES + 1 + n * 8);
    }
    return cells;
  }

  #fullCells(): number[] {
    return [...this.cellTiles.keys()].filter((cell) => this.cellTiles[cell] !== 0);
  }

  /** Encodes the times of the cells that `encodeCells` encodes, in the same order. */
  encodeAges(full = this.#fullCells()): Buffer {
    return this.ages.encode(full, this.cellTiles);
  }

  /** Encodes the block for its row. */
  encode(): EncodedBlock & { readonly checksum: number } {
    const presence = deflateRawSync(this.presence, { level: 1 });
    const full = this.#fullCells();
    const cells = this.encodeCells(full);
    const encoded = { presence, cells, ages: this.encodeAges(full), unknown: maskText(this.known, 0) };
    return { ...encoded, checksum: checksumOf({ ...encoded, tiles: this.tiles }) };
  }

  /** Decodes a row. @throws CorruptRow, or an error of zlib, when `encode` has not written the row */
  static decode(at: BlockAddress, row: EncodedBlock & { readonly tiles: number; readonly checksum: number }): Block {
    if (row.checksum !== checksumOf(row)) throw new CorruptRow("its checksum does not match");
    const block = new Block(at, true);
    const presence = inflateRawSync(row.presence, { maxOutputLength: PRESENCE_BYTES });
    if (presence.byteLength !== PRESENCE_BYTES) throw new CorruptRow("its presence is too short");
    if (!isMask(row.unknown)) throw new CorruptRow("its mask of unknown cells is malformed");
    block.presence.set(presence);
    const cells = Buffer.from(row.cells.buffer, row.cells.byteOffset, row.cells.byteLength);
    const full = new Uint8Array(CELLS);
    for (const offset of cellOffsets(cells)) {
      const cell = cells.readUInt8(offset);
      if (cell >= CELLS || full[cell] === 1) throw new CorruptRow("a number of a cell is too large or occurs twice");
      full[cell] = 1;
      for (let n = 0; n < NUMBERS; n++) block.#numbers[n * CELLS + cell] = cells.readDoubleLE(offset + 1 + n * 8);
    }
    const aged = decodeAges(row.ages);
    if (
      aged === undefined ||
      aged.length * CELL_BYTES !== cells.byteLength ||
      aged.some(({ cell }) => full[cell] !== 1)
    )
      throw new CorruptRow("its ages do not match its cells");
    for (const { cell, sinceMs, untilMs } of aged) block.ages.set(cell, { sinceMs, untilMs });
    if (!block.#numbers.every((n) => n >= 0 && Number.isFinite(n)))
      throw new CorruptRow("a number of a cell is negative or not finite");
    if (![...block.cellBytes, ...block.cellAllocated].every(Number.isSafeInteger))
      throw new CorruptRow("the bytes of a cell are not a whole number");
    for (const cell of maskCells(row.unknown)) block.known[cell] = 0;
    for (const [byte, bits] of block.presence.entries()) {
      if (bits === 0) continue;
      const cell = cellOf(asTileX((byte % ROW_BYTES) * 8), asTileY(Math.floor(byte / ROW_BYTES)));
      const tiles = bitsIn(bits);
      block.cellTiles[cell] = (block.cellTiles[cell] ?? 0) + tiles;
      block.tiles += tiles;
    }
    if (block.tiles !== row.tiles) throw new CorruptRow("its number of tiles does not match its presence");
    if (block.cellTiles.some((tiles, cell) => tiles > 0 !== (full[cell] === 1)))
      throw new CorruptRow("its cells do not match its presence");
    return block;
  }

  /** Returns the bytes of the tiles from the result of `encodeCells`. @throws CorruptRow */
  static bytesOf(encoded: Uint8Array): { bytes: number; allocated: number } {
    const cells = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    const sum = { bytes: 0, allocated: 0 };
    for (const offset of cellOffsets(cells)) {
      sum.bytes += cells.readDoubleLE(offset + 1 + COLUMN.bytes * 8);
      sum.allocated += cells.readDoubleLE(offset + 1 + COLUMN.allocated * 8);
    }
    return sum;
  }
}

/** The columns of a row with the content of the block. */
export interface EncodedBlock {
  readonly presence: Uint8Array;
  readonly cells: Uint8Array;
  readonly ages: Uint8Array;
  readonly unknown: string;
}

function checksumOf({ presence, cells, ages, unknown, tiles }: EncodedBlock & { readonly tiles: number }): number {
  // The database returns an empty blob without memory. zlib's sum of such a blob is 0 instead of the sum so far.
  const add = (sum: number, part: Uint8Array): number => (part.byteLength === 0 ? sum : crc32(part, sum));
  return crc32(`${tiles} ${unknown}`, add(add(crc32(presence), cells), ages));
}

/** The content of a row of the ledger is damaged. */
export class CorruptRow extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CorruptRow";
  }
}

/** Yields the offset of each encoded cell. @throws CorruptRow */
function* cellOffsets(cells: Uint8Array): Generator<number> {
  if (cells.byteLength % CELL_BYTES !== 0) throw new CorruptRow("its cells are cut off");
  for (let offset = 0; offset < cells.byteLength; offset += CELL_BYTES) yield offset;
}

function bitsIn(byte: number): number {
  let count = 0;
  for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
  return count;
}

const bitOf = (x: TileX, y: TileY): number => (y % BLOCK_SIDE) * BLOCK_SIDE + (x % BLOCK_SIDE);

export const cellOf = (x: TileX, y: TileY): number =>
  Math.floor((y % BLOCK_SIDE) / CELL_SIDE) * CELLS_PER_SIDE + Math.floor((x % BLOCK_SIDE) / CELL_SIDE);

/** Returns 64 cells as 16 hexadecimal digits. A text, because SQLite's integers are signed. */
export function maskText(cells: Uint8Array, wanted: number): string {
  let mask = 0n;
  for (let cell = 0; cell < CELLS; cell++) if (cells[cell] === wanted) mask |= 1n << BigInt(cell);
  return mask.toString(16).padStart(16, "0");
}

const isMask = (mask: string): boolean => /^[0-9a-f]{16}$/.test(mask);

/** Yields the cells of a mask. Yields all cells if the text is not a mask, because it may have contained any cell. */
export function* maskCells(text: string): Generator<number> {
  const mask = isMask(text) ? text : "f".repeat(16);
  const bits = BigInt(`0x${mask}`);
  for (let cell = 0; cell < CELLS; cell++) if ((bits >> BigInt(cell)) & 1n) yield cell;
}
