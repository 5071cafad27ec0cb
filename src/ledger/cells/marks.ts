import { asZoom } from "../../grid/grid-set.ts";
import { pagesOf } from "../../lib/pages.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { type Database, int, type Row, type Statement, text } from "../../state/database.ts";
import { inPositions, POSITIONS_AT_ONCE, positionValues } from "../../state/dialect.ts";
import { replacing } from "../../state/statements.ts";
import {
  type Block,
  type BlockAddress,
  blockAddressOfRow,
  blockKey,
  CELLS,
  maskCells,
  maskText,
} from "../blocks/block.ts";
import type { BlockTable } from "../blocks/block-table.ts";
import { cellId } from "./cells.ts";

/**
 * A mark outlives its flush by this time, because after a power loss the disk may be that far behind
 * (`docs/reference/wire-format.md`, Durability).
 */
const SETTLING_MS = 120_000;
/**
 * The time for which no writer must have had a cell open before a flush removes its mark. With a shorter time, the cell
 * would often be marked again.
 */
const IDLE_MS = 1_000;

/** A mark to write. `ended`: the cells whose mark has just ended. Undefined if no mark has ended. */
interface ChangedMark {
  readonly block: Block;
  readonly ended: Uint8Array | undefined;
}

/**
 * The marks name, block by block, the cells whose numbers in the database may differ from the store. A mark is
 * committed before the first write to its cell. After a kill only the marked cells are counted again.
 */
export class Marks {
  readonly #db: Database;
  readonly #blocks: BlockTable;
  readonly #clock: Clock;
  /** Blocks with marks that are not in the database yet. The table does not evict a block with a mark. */
  readonly #fresh = new Map<string, BlockAddress>();
  /** Blocks with a mark in the database. */
  readonly #held = new Map<string, BlockAddress>();
  /** Cells whose mark lasts until the next start. */
  readonly #lasting = new Set<string>();
  readonly #sql: Record<"get" | "some" | "put" | "move" | "deleteEnded", Statement>;

  constructor(db: Database, blocks: BlockTable, clock: Clock) {
    this.#db = db;
    this.#blocks = blocks;
    this.#clock = clock;
    this.#sql = {
      put: db.prepare(
        `INSERT INTO mark VALUES (?, ?, ?, ?, ?, ?, ?)
         ${replacing(["tile_set", "z", "bx", "by"], ["active", "settling", "settled_ms"])}`,
      ),
      get: db.prepare(
        "SELECT bx, by, settling, settled_ms FROM mark WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?",
      ),
      some: db.prepare(
        `SELECT bx, by, settling, settled_ms FROM mark WHERE tile_set = ? AND z = ? AND ${inPositions("bx", "by")}`,
      ),
      move: db.prepare("UPDATE mark SET tile_set = ? WHERE tile_set = ? AND z = ? AND bx = ? AND by = ?"),
      deleteEnded: db.prepare(
        "DELETE FROM mark WHERE active = '0000000000000000' AND (settled_ms < ? OR settled_ms > ?)",
      ),
    };
  }

  /**
   * Yields the cells that were marked when the last process ended, and after a reboot also the cells whose mark ended
   * recently.
   */
  static *left(
    db: Database,
    rebooted: boolean,
  ): Generator<{ readonly at: BlockAddress; readonly cells: ReadonlySet<number> }> {
    for (const row of db.prepare("SELECT * FROM mark").all()) {
      const cells = new Set([...maskCells(text(row, "active")), ...(rebooted ? maskCells(text(row, "settling")) : [])]);
      const at = blockAddressOfRow(row);
      if (cells.size > 0) yield { at, cells };
    }
  }

  /** Marks a cell. Returns whether the mark must be committed before the cell is written. */
  mark(block: Block, cell: number): boolean {
    if (block.marked[cell] !== 1) {
      block.marked[cell] = 1;
      this.#fresh.set(block.key, block.at);
    }
    // A mark of a different writer may still wait for its commit.
    return this.#fresh.has(block.key);
  }

  /**
   * Keeps the mark of a cell until the next start, which removes the temporary files in the cell. A writer that was
   * killed may have left one.
   */
  keep(block: Block, cell: number): void {
    this.#lasting.add(cellId(block, cell));
  }

  /** Restores a mark that is in the database. */
  restore(block: Block, cell: number): void {
    block.marked[cell] = 1;
    this.#held.set(block.key, block.at);
  }

  /**
   * Moves the committed marks of a block to the same block of a different tile set. Runs inside the caller's
   * transaction.
   */
  move({ tileSetId, z, bx, by }: BlockAddress, toTileSetId: number): void {
    this.#sql.move.run(toTileSetId, tileSetId, z, bx, by);
  }

  get any(): boolean {
    return this.#fresh.size > 0 || this.#held.size > 0;
  }

  /** Writes only the new marks, for which a writer waits. Runs inside the caller's transaction. */
  writeFresh(): void {
    const fresh = [...this.#fresh];
    this.#db.onRollback(() => {
      for (const [key, at] of fresh) this.#fresh.set(key, at);
    });
    this.#writeAll(fresh.map(([, at]) => ({ block: this.#blocks.at(at), ended: undefined })));
    this.#fresh.clear();
  }

  /**
   * Writes marks and preserves their settling cells. Reads all rows before the first change, because each separate read
   * takes a while.
   */
  #writeAll(marks: readonly ChangedMark[]): void {
    const old = this.#rowsOf(marks.map(({ block }) => block.at));
    for (const { block, ended } of marks) this.#write(block, ended, old.get(block.key));
  }

  /** Returns the rows of marks, by the keys of their blocks. */
  #rowsOf(all: readonly BlockAddress[]): ReadonlyMap<string, Row> {
    const zooms = new Map<string, BlockAddress[]>();
    for (const at of all) {
      const zoom = zooms.get(`${at.tileSetId}/${at.z}`);
      if (zoom === undefined) zooms.set(`${at.tileSetId}/${at.z}`, [at]);
      else zoom.push(at);
    }
    const rows = new Map<string, Row>();
    for (const zoom of zooms.values())
      for (const page of pagesOf(zoom, POSITIONS_AT_ONCE)) {
        const [{ tileSetId, z, bx, by } = { tileSetId: 0, z: asZoom(0), bx: 0, by: 0 }] = page;
        const found =
          page.length === 1
            ? this.#sql.get.all(tileSetId, z, bx, by)
            : this.#sql.some.all(tileSetId, z, ...positionValues(page.map((at) => [at.bx, at.by])));
        for (const row of found) rows.set(blockKey({ tileSetId, z, bx: int(row, "bx"), by: int(row, "by") }), row);
      }
    return rows;
  }

  /** Returns the machine's time: the wall clock may be set forward right before a loss of power. */
  #nowMs(): number {
    return Math.floor(this.#clock.machineNow());
  }

  #write(block: Block, ended: Uint8Array | undefined, old: Row | undefined): void {
    const { tileSetId, z, bx, by } = block.at;
    const now = this.#nowMs();
    const settling = ended ?? new Uint8Array(CELLS);
    if (old !== undefined && int(old, "settled_ms") > now - SETTLING_MS) {
      for (const cell of maskCells(text(old, "settling"))) settling[cell] = 1;
    }
    this.#sql.put.run(tileSetId, z, bx, by, maskText(block.marked, 1), maskText(settling, 1), now);
    if (block.marked.includes(1)) this.#held.set(block.key, block.at);
    else this.#held.delete(block.key);
  }

  /**
   * Ends the marks of cells that no writer has open. Runs inside the transaction that writes the numbers of the cells.
   */
  endIdle(): void {
    const now = this.#nowMs();
    const monotonicMs = this.#clock.monotonicNow();
    const changed: ChangedMark[] = [];
    for (const at of [...this.#held.values()]) {
      const block = this.#blocks.at(at);
      if (monotonicMs - block.lastClosedMs < IDLE_MS) continue;
      const ended = new Uint8Array(CELLS);
      let unmarked = false;
      for (let cell = 0; cell < CELLS; cell++) {
        if (block.marked[cell] !== 1 || block.writers[cell] !== 0 || block.known[cell] !== 1) continue;
        if (this.#lasting.has(cellId(block, cell))) continue;
        block.marked[cell] = 0;
        ended[cell] = 1;
        unmarked = true;
      }
      if (!unmarked) continue;
      const cells = [...ended.keys()].filter((cell) => ended[cell] === 1);
      this.#db.onRollback(() => {
        for (const cell of cells) this.restore(block, cell);
      });
      changed.push({ block, ended });
    }
    this.#writeAll(changed);
    this.writeFresh();
    // A later time is one of an earlier boot, whose cells were recalled at the start.
    this.#sql.deleteEnded.run(now - SETTLING_MS, this.#nowMs());
  }

  /** Removes the marks of blocks whose rows have been deleted. */
  remove(blocks: Iterable<Block>): void {
    for (const block of blocks) {
      this.#fresh.delete(block.key);
      this.#held.delete(block.key);
    }
  }
}
