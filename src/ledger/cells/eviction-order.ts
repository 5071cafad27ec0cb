import TinyQueue from "tinyqueue";
import type { TileRect } from "../../grid/grid-set.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import { type Block, type BlockAddress, blockKey, blockRect, type CellOrder } from "../blocks/block.ts";
import type { BlockKey, ZoomAddress } from "../blocks/block-rows.ts";
import type { BlockTable } from "../blocks/block-table.ts";
import { idsOf, type TileSetRecord } from "../tile-sets/tile-set-record.ts";

/** The bytes of tiles, and the bytes that the store's disk allocates for them. */
interface TilesSize {
  readonly bytes: number;
  readonly allocated: number;
}

const NO_TILES: TilesSize = { bytes: 0, allocated: 0 };

/** Returns how much of a rectangle must stay whose tiles have this size. For a whole block the size is 0. */
export type Keep = (tileSet: TileSet, rect: TileRect, size: TilesSize) => "all" | "some" | "none";

export interface ColdCell extends TilesSize {
  readonly at: BlockAddress;
  readonly cell: number;
  readonly tiles: number;
}

/** The number of blocks in one read of the database. */
const PAGE = 64;
/** The number of blocks without an evictable cell after which a search ends, because a writer waits for it. */
const MOST_LOOKS = 1_000;
/**
 * The number of returned cells that the order remembers, so that it does not return a cell again before the cell is
 * evicted.
 */
export const CELLS_IN_HAND = 16;

interface Waiting extends BlockKey {
  /**
   * "row": the key comes from the database. "end": likewise, and this block is the last of its page, so that the next
   * page is read when it is taken.
   */
  readonly from: "memory" | "row" | "end";
  /** The blocks of the same database page. They are read together when the first of them is needed. */
  readonly page?: readonly BlockKey[];
}

/**
 * Walks the cells of some tile sets, beginning with the least used cell. Holds a page of blocks per tile set. A cell
 * that is used during the walk moves back. A cell that is first written during the walk is found by the next walk. A
 * search yields after each block, because it may examine many.
 */
export class EvictionOrder {
  readonly #order: CellOrder;
  readonly #blocks: BlockTable;
  /** The records by the ids of the tile sets and of their separately truncated levels. */
  readonly #records: ReadonlyMap<number, TileSetRecord>;
  readonly #isTruncated: (at: ZoomAddress) => boolean;
  readonly #keep: Keep;
  readonly #colderThan: number;
  readonly #waiting = new TinyQueue<Waiting>([], (a, b) => a.key - b.key);
  readonly #taken: ColdCell[] = [];
  /** The blocks whose rows in the database were out of date when the walk began. */
  readonly #newer = new Set<string>();
  #hasBegun = false;

  constructor(parts: {
    readonly order: CellOrder;
    readonly blocks: BlockTable;
    readonly records: readonly TileSetRecord[];
    /** Returns whether the blocks at an address were truncated. They may still have rows. */
    readonly isTruncated: (at: ZoomAddress) => boolean;
    readonly keep: Keep;
    /** Only cells with a lower access frequency than this are evicted. */
    readonly colderThan: number;
  }) {
    this.#order = parts.order;
    this.#blocks = parts.blocks;
    this.#records = new Map(parts.records.flatMap((record) => idsOf(record).map((id) => [id, record])));
    this.#isTruncated = parts.isTruncated;
    this.#keep = parts.keep;
    this.#colderThan = parts.colderThan;
  }

  /** Collects the blocks whose rows are out of date, and the first page of each tile set. */
  *#begin(): Generator<undefined> {
    const unwritten = [...this.#blocks.unwritten()].map(({ at }) => at).filter((at) => this.#records.has(at.tileSetId));
    // Collects all of them before the first row is read, because a flush during the search brings the rows up to date.
    for (const at of unwritten) this.#newer.add(blockKey(at));
    for (const at of unwritten) {
      this.#wait(this.#blocks.at(at));
      yield;
    }
    for (const id of this.#records.keys()) {
      this.#page(id, undefined);
      yield;
    }
    this.#hasBegun = true;
  }

  #page(tileSetId: number, after: BlockKey | undefined): void {
    const page = this.#blocks.rows.coldest(this.#order, tileSetId, after, PAGE);
    for (const [i, at] of page.entries()) {
      const isEnd = i === PAGE - 1;
      if (isEnd || !this.#isTruncated(at)) this.#waiting.push({ ...at, from: isEnd ? "end" : "row", page });
    }
  }

  #wait(block: Block): void {
    const coldest = block.coldest(this.#order, this.#isEvictable(block));
    if (coldest === undefined) return;
    this.#waiting.push({ ...block.at, key: coldest.key, from: "memory" });
  }

  #isEvictable(block: Block): (cell: number) => boolean {
    const tileSet = this.#records.get(block.at.tileSetId)?.tileSet;
    return (cell) =>
      block.writers[cell] === 0 &&
      tileSet !== undefined &&
      (block.frequency[cell] ?? 0) < this.#colderThan &&
      !this.#taken.some((taken) => taken.cell === cell && blockKey(taken.at) === block.key) &&
      this.#keep(tileSet, block.cellRect(cell), sizeOf(block, cell)) === "none";
  }

  /**
   * Returns the least used cell that may be evicted. Undefined if no such cell remains, or if the search has reached
   * its limit. Only one search of an order may run at a time.
   */
  *next(): Generator<undefined, ColdCell | undefined> {
    if (!this.#hasBegun) yield* this.#begin();
    let vain = 0;
    for (let at = this.#waiting.peek(); at !== undefined; at = this.#waiting.peek()) {
      if (vain > MOST_LOOKS || (this.#order === "LFU" && at.key >= this.#colderThan)) return undefined;
      this.#waiting.pop();
      const record = this.#records.get(at.tileSetId);
      if (at.from === "end") this.#page(at.tileSetId, at);
      yield;
      if (record === undefined || this.#isTruncated(at)) continue;
      if (at.from !== "memory" && this.#newer.has(blockKey(at))) continue;
      if (this.#keep(record.tileSet, blockRect(at), NO_TILES) === "all") continue;
      if (at.page !== undefined && !this.#blocks.has(at))
        this.#blocks.prefetch(at.page.filter((mate) => mate.z === at.z && mate.key >= at.key));
      const block = this.#blocks.at(at);
      const coldest = block.coldest(this.#order, this.#isEvictable(block));
      if (coldest === undefined) {
        vain++;
        continue;
      }
      const { cell } = coldest;
      const taken = { at: block.at, cell, tiles: block.cellTiles[cell] ?? 0, ...sizeOf(block, cell) };
      // The cell was used since, or a less used cell of the block must stay. The block is queued again under its new
      // key.
      const later = coldest.key > at.key;
      if (!later) {
        this.#taken.push(taken);
        if (this.#taken.length > CELLS_IN_HAND) this.#taken.shift();
      }
      this.#wait(block);
      if (!later) return taken;
    }
    return undefined;
  }
}

const sizeOf = (block: Block, cell: number): TilesSize => ({
  bytes: block.cellBytes[cell] ?? 0,
  allocated: block.cellAllocated[cell] ?? 0,
});
