import type { TileIndex, TileRect, TileX, TileY, Zoom } from "../../grid/grid-set.ts";
import type { FormatName, LayerName, TileSet } from "../../layer/tile-set.ts";
import type { StoredPyramid } from "../../store/inventory-store.ts";
import { type Block, cellOf } from "../blocks/block.ts";
import type { LedgerInternals } from "../ledger-internals.ts";
import { type CellPosition, cellId, cellPosition } from "./cells.ts";
import { WriteWatch } from "./write-watch.ts";

/** The cells that one writer has opened and not yet closed. Their blocks stay in memory until then. */
export interface OpenCells {
  /**
   * Whether a mark is new or a truncation of the layer is not complete. If so, the writer must not write before
   * `writeMarks` has been committed and the truncation is complete.
   */
  readonly mustCommit: boolean;
  readonly cells: readonly CellPosition[];
  /** The layer that may get tiles. Absent if the writer only removes tiles. */
  readonly layer?: LayerName;
}

/** A tile that a writer reports. */
export interface TileReport {
  readonly x: TileX;
  readonly y: TileY;
  readonly z: Zoom;
  readonly bytes: number;
  /** The bytes of the replaced tile. Undefined if no tile was replaced. */
  readonly replaced: number | undefined;
  /**
   * Present if the store already had the same bytes: the writer left the tile as it was, or renewed its time. Absent if
   * it wrote the tile.
   */
  readonly unchanged?: "left" | "renewed";
}

/**
 * The cells that writers have open. A writer opens cells, waits until their marks are committed, writes, reports each
 * tile, and closes the cells.
 */
export class CellWriters {
  readonly #in: LedgerInternals;
  /** The layers whose tiles are being deleted one by one. */
  readonly watch: Omit<WriteWatch, "notice">;
  readonly #watch: WriteWatch;
  /** The number of writers with open cells, by layer. Contains no zeros. */
  readonly #writers = new Map<string, number>();
  #onReplaced: (tileSet: TileSet, tile: TileReport) => void = () => {};
  #observer: ((cells: readonly CellPosition[]) => void) | undefined;
  /** The functions that `follow` has registered. */
  readonly #followers = new Set<(cells: readonly CellPosition[]) => void>();
  /** The layers with an incomplete truncation. */
  readonly #barred = new Set<string>();
  /** By layer, functions that end writers which have opened their cells and wait for the layer to be unblocked. */
  readonly #interrupts = new Map<string, Set<() => void>>();

  constructor(internals: LedgerInternals) {
    this.#in = internals;
    this.#watch = new WriteWatch(internals);
    this.watch = this.#watch;
  }

  /**
   * Sets the function that is called with the cells that writers open or close, or that are evicted. Undefined removes
   * it.
   */
  observe(observer: ((cells: readonly CellPosition[]) => void) | undefined): void {
    this.#observer = observer;
  }

  /** Sets the function that is called when a stored tile was replaced by other bytes. */
  onReplaced(report: (tileSet: TileSet, tile: TileReport) => void): void {
    this.#onReplaced = report;
  }

  /** Registers a function that is called with the same cells as the observer. Returns the function that removes it. */
  follow(follower: (cells: readonly CellPosition[]) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Reports cells to the observers that have changed without being opened. */
  changed(cells: readonly CellPosition[]): void {
    this.#observer?.(cells);
    for (const follower of this.#followers) follower(cells);
  }

  /** Opens the cells that overlap a rectangle of tiles, for a writer that stores tiles there. */
  open(tileSet: TileSet, rect: TileRect): OpenCells {
    const cells = [...this.#in.cells.in(this.#in.tileSets.record(tileSet), rect)];
    for (const { block, cell } of cells) this.#watch.notice(tileSet, block, cell);
    const opened = this.#openCells(cells.map(({ block, cell }) => ({ tileSet, block, cell })));
    const { layer } = tileSet;
    const open = { ...opened, layer, mustCommit: opened.mustCommit || this.#barred.has(layer) };
    this.#writers.set(open.layer, (this.#writers.get(open.layer) ?? 0) + 1);
    return open;
  }

  /** Opens the cells of several rectangles. If opening one fails, opens none. */
  openAll(places: readonly { readonly tileSet: TileSet; readonly rect: TileRect }[]): readonly OpenCells[] {
    const opened: OpenCells[] = [];
    try {
      for (const { tileSet, rect } of places) opened.push(this.open(tileSet, rect));
      return opened;
    } catch (error) {
      for (const open of opened) this.close(open);
      throw error;
    }
  }

  /**
   * Returns whether a writer may be about to store a tile of a layer. Every writer opens its cells before it stores.
   */
  isWritten(layer: LayerName): boolean {
    return this.#writers.has(layer);
  }

  /**
   * Bars a layer, because a truncation or an undo in it was interrupted. A writer that opens cells later must wait for
   * its completion. Ends the writers that already wait with open cells.
   */
  bar(layer: LayerName): void {
    this.#barred.add(layer);
    for (const interrupt of [...(this.#interrupts.get(layer) ?? [])]) interrupt();
  }

  unbar(layer: LayerName): void {
    this.#barred.delete(layer);
  }

  /** Returns whether a layer is barred, so that its records and its tiles may differ. */
  isBarred(layer: LayerName): boolean {
    return this.#barred.has(layer);
  }

  /** Registers a function that is called when a layer is barred. Returns the function that removes it. */
  onBar(layer: LayerName, interrupt: () => void): () => void {
    const all = this.#interrupts.get(layer) ?? new Set();
    this.#interrupts.set(layer, all.add(interrupt));
    return () => {
      all.delete(interrupt);
      if (all.size === 0 && this.#interrupts.get(layer) === all) this.#interrupts.delete(layer);
    };
  }

  /** Opens the cells of tiles before the tiles are removed. A tile set without a record needs no mark. */
  openTiles(
    pyramid: StoredPyramid,
    tiles: readonly { readonly format: FormatName; readonly x: TileX; readonly y: TileY; readonly z: Zoom }[],
  ): OpenCells {
    const cells = new Map<string, { readonly tileSet: TileSet; readonly block: Block; readonly cell: number }>();
    for (const { format, x, y, z } of tiles) {
      const record = this.#in.tileSets.find({ ...pyramid, format });
      if (record === undefined) continue;
      const block = this.#in.cells.blockAt(record, x, y, z);
      const cell = cellOf(x, y);
      cells.set(cellId(block, cell), { tileSet: record.tileSet, block, cell });
    }
    return this.#openCells([...cells.values()]);
  }

  #openCells(cells: readonly { readonly tileSet: TileSet; readonly block: Block; readonly cell: number }[]): OpenCells {
    let mustCommit = false;
    for (const { block, cell } of cells) {
      if (block.writers[cell] === 0) block.openedMs[cell] = this.#in.clock.now();
      block.writers[cell] = (block.writers[cell] ?? 0) + 1;
      if (this.#in.marks.mark(block, cell)) mustCommit = true;
    }
    const positions = cells.map(({ tileSet, block, cell }) => cellPosition(tileSet, block, cell));
    this.changed(positions);
    return { mustCommit, cells: positions };
  }

  close(open: OpenCells): void {
    const { layer } = open;
    if (layer !== undefined) {
      const others = (this.#writers.get(layer) ?? 1) - 1;
      if (others > 0) this.#writers.set(layer, others);
      else this.#writers.delete(layer);
    }
    for (const position of open.cells) {
      const { cell } = position;
      const block = this.#in.cells.find(position)?.block;
      if (block === undefined) continue;
      block.writers[cell] = Math.max(0, (block.writers[cell] ?? 0) - 1);
      block.lastClosedMs = this.#in.clock.monotonicNow();
      // A cell in doubt is not counted while a writer has it open. The last writer has just closed this cell.
      if (block.writers[cell] === 0 && block.known[cell] !== 1) this.#in.doubted.countLater(block.at);
    }
    this.changed(open.cells);
  }

  /** Returns whether a second writer has one of the cells open. */
  isShared(open: OpenCells): boolean {
    return open.cells.some((position) => (this.#in.cells.find(position)?.block.writers[position.cell] ?? 0) > 1);
  }

  /** Marks the cells of a dead writer as in doubt, because the writer may have written tiles without reporting them. */
  lost(open: OpenCells): void {
    for (const position of open.cells) {
      const found = this.#in.cells.find(position);
      if (found === undefined) continue;
      this.#in.doubted.doubt(found.block, position.cell);
      this.#in.marks.keep(found.block, position.cell);
    }
  }

  /** Records that a writer has written a tile, or has found the same tile stored. */
  wrote(tileSet: TileSet, tile: TileReport): void {
    const record = this.#in.tileSets.record(tileSet);
    const { x, y, z } = tile;
    const block = this.#in.cells.blockAt(record, x, y, z);
    const cell = cellOf(x, y);
    this.#watch.notice(tileSet, block, cell);
    const had = block.has(x, y);
    if (had !== (tile.replaced !== undefined)) this.#in.doubted.doubt(block, cell);
    if (!had) block.set(x, y);
    if (tile.replaced !== undefined && tile.unchanged === undefined) this.#onReplaced(tileSet, tile);
    const before = had ? (tile.replaced ?? 0) : 0;
    const nowMs = this.#in.clock.now();
    block.written(cell, nowMs);
    // The writer wrote the tile after it opened the cell.
    const sinceMs = block.writers[cell] === 0 ? nowMs : (block.openedMs[cell] ?? 0);
    if (tile.unchanged !== "left") block.aged(x, y, !had, { sinceMs: Math.min(sinceMs, nowMs), untilMs: nowMs });
    this.#in.cells.add(record, block, cell, {
      tiles: had ? 0 : 1,
      bytes: tile.bytes - before,
      allocated: this.#in.cells.allocated(tileSet, tile.bytes) - this.#in.cells.allocated(tileSet, before),
    });
  }

  /** Records that a stored tile got an earlier time, ms since 1970. */
  aged(tileSet: TileSet, { x, y, z }: TileIndex, ms: number): void {
    const record = this.#in.tileSets.find(tileSet);
    if (record === undefined) return;
    const block = this.#in.cells.blockAt(record, x, y, z);
    if (block.has(x, y)) block.aged(x, y, false, { sinceMs: ms, untilMs: this.#in.clock.now() });
    this.#in.blocks.changed(block);
  }

  /** Records that a tile was removed from the store. */
  removed(tileSet: TileSet, tile: { x: TileX; y: TileY; z: Zoom; bytes: number }): void {
    const record = this.#in.tileSets.find(tileSet);
    if (record === undefined) return;
    const block = this.#in.cells.blockAt(record, tile.x, tile.y, tile.z);
    if (!block.has(tile.x, tile.y)) return;
    const cell = cellOf(tile.x, tile.y);
    block.clear(tile.x, tile.y);
    const bytes = Math.min(block.cellBytes[cell] ?? 0, tile.bytes);
    const allocated = Math.min(block.cellAllocated[cell] ?? 0, this.#in.cells.allocated(tileSet, tile.bytes));
    this.#in.cells.add(record, block, cell, { tiles: -1, bytes: -bytes, allocated: -allocated });
  }
}
