import TinyQueue from "tinyqueue";
import type { TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { type Block, type BlockAddress, blockKey, blockRect, type CellOrder } from "./block.ts";
import type { BlockKey, BlockTable } from "./block-table.ts";
import type { TileSetRecord } from "./tile-set-table.ts";

/** Whether something must stay that holds so many bytes: asked for cells, and for whole blocks as if they held nothing. */
export type Keep = (tileSet: TileSet, rect: TileRect, bytes: number) => "all" | "some" | "none";

export interface ColdCell {
  readonly at: BlockAddress;
  readonly cell: number;
  readonly bytes: number;
}

/** Blocks that are read from the database in one go. */
const PAGE = 64;
/** Blocks that are looked into in vain before the rest is taken to be no better: a walk keeps everybody else waiting. */
const WAIT_LIMIT_TIMEOUTS = 1_000;
/** Cells that can have been taken and not yet evicted. */
export const CELLS_IN_HAND = 16;

interface Waiting extends BlockKey {
  /** "row": as the database has it; "end": so too, and the next page is asked for when it has been taken. */
  readonly from: "memory" | "row" | "end";
}

/**
 * The cells of some tile sets from the coldest on, without ever holding more than a page of blocks per tile set. What is
 * used while it is walked moves back; what is born meanwhile is hotter than what was there, and is seen by the next walk.
 */
export class EvictionOrder {
  readonly #order: CellOrder;
  readonly #blocks: BlockTable;
  readonly #records: ReadonlyMap<number, TileSetRecord>;
  readonly #keep: Keep;
  readonly #colderThan: number;
  readonly #waiting = new TinyQueue<Waiting>([], (a, b) => a.key - b.key);
  readonly #taken: ColdCell[] = [];
  /** Blocks that memory knows better than the database. */
  readonly #newer = new Set<string>();

  constructor(parts: {
    readonly order: CellOrder;
    readonly blocks: BlockTable;
    readonly records: readonly TileSetRecord[];
    readonly keep: Keep;
    /** Only cells with less heat than this. */
    readonly colderThan: number;
  }) {
    this.#order = parts.order;
    this.#blocks = parts.blocks;
    this.#records = new Map(parts.records.map((record) => [record.id, record]));
    this.#keep = parts.keep;
    this.#colderThan = parts.colderThan;
    for (const block of parts.blocks.unwritten()) {
      if (!this.#records.has(block.at.tileSetId)) continue;
      this.#newer.add(block.key);
      this.#wait(block);
    }
    for (const id of this.#records.keys()) this.#page(id, undefined);
  }

  #page(tileSetId: number, after: BlockKey | undefined): void {
    const page = this.#blocks.coldest(this.#order, tileSetId, after, PAGE);
    for (const [i, at] of page.entries()) this.#waiting.push({ ...at, from: i === PAGE - 1 ? "end" : "row" });
  }

  #wait(block: Block): void {
    const coldest = block.coldest(this.#order, this.#mayGo(block));
    if (coldest === undefined) return;
    this.#waiting.push({ ...block.at, key: coldest.key, from: "memory" });
  }

  #mayGo(block: Block): (cell: number) => boolean {
    const tileSet = this.#records.get(block.at.tileSetId)?.tileSet;
    return (cell) =>
      block.writers[cell] === 0 &&
      tileSet !== undefined &&
      (block.frequency[cell] ?? 0) < this.#colderThan &&
      !this.#taken.some((taken) => taken.cell === cell && isSame(taken.at, block.at)) &&
      this.#keep(tileSet, block.cellRect(cell), block.cellBytes[cell] ?? 0) === "none";
  }

  /** The coldest cell that may go; undefined: none is left. */
  next(): ColdCell | undefined {
    let vain = 0;
    for (let at = this.#waiting.peek(); at !== undefined; at = this.#waiting.peek()) {
      if (vain > WAIT_LIMIT_TIMEOUTS || (this.#order === "LFU" && at.key >= this.#colderThan)) return undefined;
      this.#waiting.pop();
      const record = this.#records.get(at.tileSetId);
      if (at.from === "end") this.#page(at.tileSetId, at);
      if (record === undefined || (at.from !== "memory" && this.#newer.has(blockKey(at)))) continue;
      if (this.#keep(record.tileSet, blockRect(at), 0) === "all") continue;
      const block = this.#blocks.at(at.tileSetId, at.z, at.bx, at.by);
      const coldest = block.coldest(this.#order, this.#mayGo(block));
      if (coldest === undefined) {
        vain++;
        continue;
      }
      const { cell } = coldest;
      const taken = { at: block.at, cell, bytes: block.cellBytes[cell] ?? 0 };
      // It was used since, or its coldest cell has to stay: later.
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

const isSame = (a: BlockAddress, b: BlockAddress): boolean =>
  a.tileSetId === b.tileSetId && a.z === b.z && a.bx === b.bx && a.by === b.by;
