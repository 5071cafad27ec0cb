import type { TileRect } from "../grid/grid-set.ts";
import { BLOCK_SIDE, type TileSet } from "../layer/tile-set.ts";
import { int } from "../state/database.ts";
import type { StoredPyramid } from "../store/inventory-store.ts";
import { type Block, type BlockAddress, blockKey, blockRect, CELLS, cellOf } from "./block.ts";
import { cellId, cellPosition } from "./cells.ts";
import type { LedgerInternals } from "./ledger-internals.ts";
import { pyramidKey, pyramidOf, type TileSetRecord } from "./tile-set-table.ts";
import type { TruncatedRecords } from "./truncated-records.ts";

interface TileXY {
  readonly x: number;
  readonly y: number;
}

/** Tiles that the store lists, by format. */
type Listed = ReadonlyMap<string, readonly TileXY[]>;

/** A cell whose tiles or bytes in the ledger differ from those in the store. */
export interface CellDifference {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  readonly ledger: { readonly tiles: number; readonly bytes: number };
  readonly store: { readonly tiles: number; readonly bytes: number };
}

/**
 * Counts tiles that came into the store without the ledger, and compares the ledger with the store: for adoption and
 * verification.
 */
export class CacheCounts {
  readonly #in: LedgerInternals;
  readonly #records: TruncatedRecords;

  constructor(internals: LedgerInternals, records: TruncatedRecords) {
    this.#in = internals;
    this.#records = records;
  }

  /**
   * Returns the pyramids of a layer that the store holds and that have not been counted in whole. Grid sets of recorded
   * tile sets keep their names even if the layer no longer has them: the store may be unable to tell a name from a
   * directory.
   */
  unknownPyramids(layer: string, gridSets: readonly string[]): StoredPyramid[] {
    const records = [...this.#in.tileSets.all()].filter(({ tileSet }) => tileSet.layer === layer);
    const known = [...records.map(({ tileSet }) => tileSet.gridSet), ...gridSets];
    const pyramids = this.#in.store.pyramids(layer, known);
    this.#truncateOtherNames(layer, records, pyramids);
    return pyramids.filter((p) => this.#in.tileSets.isComplete(p) !== true);
  }

  /**
   * Truncates records whose directories belong to a pyramid of another name now. The tiles are counted under that name.
   */
  #truncateOtherNames(layer: string, records: readonly TileSetRecord[], pyramids: readonly StoredPyramid[]): void {
    const names = new Set(pyramids.map(pyramidKey));
    const others = records.filter(({ tileSet }) => !names.has(pyramidKey(tileSet)));
    const levels = this.#in.store.levelsOf(
      layer,
      others.map(({ tileSet }) => tileSet),
    );
    for (const [n, record] of others.entries())
      if (levels[n]?.length !== 0 && this.#in.tileSets.find(record.tileSet) === record)
        this.#records.truncatePyramid(pyramidOf(record.tileSet));
  }

  /**
   * Counts the blocks of a region of an unknown pyramid. Counts the cells that have tiles in the store's listing or in
   * the ledger, and takes the other cells to be empty. Writers record what they write meanwhile. Yields after each
   * counted cell; returns the tiles counted.
   */
  *adopt(pyramid: StoredPyramid, rect: TileRect, listed: Listed): Generator<undefined, number> {
    const { tileSets, blocks, doubted } = this.#in;
    let counted = 0;
    for (const format of this.#formats(pyramid, listed)) {
      const tileSet = { ...pyramid, format };
      for (const [at, cells] of this.#cellsOf(tileSet, rect, listed.get(format) ?? [])) {
        for (let cell = 0; cell < CELLS; cell++) {
          // Looked up again after each yield: a truncation changes the record, and the table may have evicted the block.
          const record = tileSets.record(tileSet);
          const block = blocks.at(record.id, at.z, at.bx, at.by);
          if (block.known[cell] === 1) continue;
          blocks.changed(block);
          if (cells.has(cell) || block.cellTiles[cell] !== 0) {
            doubted.count(record, block, cell);
            counted += block.cellTiles[cell] ?? 0;
            yield;
          } else if (block.writers[cell] === 0) block.known[cell] = 1;
          else doubted.countLater(block.at);
        }
      }
    }
    return counted;
  }

  /** Returns the formats of which a pyramid has a record or listed tiles. */
  #formats(pyramid: StoredPyramid, listed: Listed): ReadonlySet<string> {
    return new Set([...listed.keys(), ...this.#in.tileSets.of(pyramid).map(({ tileSet }) => tileSet.format)]);
  }

  /** Returns the blocks with listed tiles or a row in a rectangle, and the cells of the listed tiles. */
  #cellsOf(
    tileSet: TileSet,
    rect: TileRect,
    listed: readonly TileXY[],
  ): readonly (readonly [BlockAddress, Set<number>])[] {
    const record = this.#in.tileSets.record(tileSet);
    const found = new Map<string, readonly [BlockAddress, Set<number>]>();
    const cellsOf = (at: BlockAddress): Set<number> => {
      const key = blockKey(at);
      const known = found.get(key) ?? ([at, new Set<number>()] as const);
      found.set(key, known);
      return known[1];
    };
    for (const { x, y } of listed)
      cellsOf({
        tileSetId: record.id,
        z: rect.z,
        bx: Math.floor(x / BLOCK_SIDE),
        by: Math.floor(y / BLOCK_SIDE),
      }).add(cellOf(x, y));
    for (const block of this.#in.cells.blocksIn(record, rect)) cellsOf(block.at);
    return [...found.values()];
  }

  /**
   * Returns the pyramids of a layer that have been counted in whole: those in the store, and those that have records
   * only.
   */
  countedPyramids(layer: string, gridSets: readonly string[]): StoredPyramid[] {
    const recorded = [...this.#in.tileSets.all()].map(({ tileSet }) => tileSet).filter((t) => t.layer === layer);
    const known = [...recorded.map(({ gridSet }) => gridSet), ...gridSets];
    const all = [...this.#in.store.pyramids(layer, known), ...recorded.map(pyramidOf)];
    return [...new Map(all.map((p) => [pyramidKey(p), p])).values()].filter(
      (p) => this.#in.tileSets.isComplete(p) === true,
    );
  }

  /**
   * Counts the cells of a block again, because other programs may have changed its tiles. A block with marks was being
   * written when this server was killed. In such a block `changed` counts only the cells whose listing differs from the
   * ledger, as the marked cells are counted anyway. `all` counts every cell: marks may be missing too. Yields after each cell.
   */
  *recountBlock(
    pyramid: StoredPyramid,
    rect: TileRect,
    listed: Listed,
    which: "changed" | "all",
  ): Generator<undefined, void> {
    const { tileSets, cells, blocks, doubted } = this.#in;
    for (const format of this.#formats(pyramid, listed)) {
      const record = tileSets.record({ ...pyramid, format });
      const found = new Map<string, { block: Block; cell: number; listed: number; isOther: boolean }>();
      const at = (block: Block, cell: number) => {
        const id = cellId(block, cell);
        const seen = found.get(id) ?? { block, cell, listed: 0, isOther: false };
        found.set(id, seen);
        return seen;
      };
      for (const { x, y } of listed.get(format) ?? []) {
        const block = cells.blockAt(record, x, y, rect.z);
        const seen = at(block, cellOf(x, y));
        seen.listed++;
        if (!block.has(x, y)) seen.isOther = true;
      }
      for (const block of cells.blocksIn(record, rect))
        for (let cell = 0; cell < CELLS; cell++) if (block.cellTiles[cell] !== 0) at(block, cell);
      const all = [...found.values()];
      const wroteHere = which === "changed" && all.some(({ block }) => block.marked.includes(1));
      const places = all
        .filter(({ block, cell, listed: n, isOther }) => !wroteHere || isOther || n !== block.cellTiles[cell])
        .map(({ block, cell }) => cellPosition(record.tileSet, block, cell));
      for (const area of places) {
        const now = cells.find(area);
        if (now === undefined) break;
        blocks.changed(now.block);
        doubted.countAgain(now.record, now.block, area.cell);
        yield;
      }
    }
  }

  /** Yields the cells with tiles in the blocks that a rectangle touches. */
  *cellsWithTiles(
    pyramid: StoredPyramid,
    rect: TileRect,
  ): Generator<{ readonly tileSet: TileSet; readonly cell: TileRect }> {
    for (const record of this.#in.tileSets.of(pyramid))
      for (const block of this.#in.cells.blocksIn(record, rect))
        for (let cell = 0; cell < CELLS; cell++)
          if (block.cellTiles[cell] !== 0) yield { tileSet: record.tileSet, cell: block.cellRect(cell) };
  }

  /** Records that every tile that the store holds of a pyramid has been counted. */
  adopted(pyramid: StoredPyramid): void {
    this.#in.db.transaction(() => {
      this.#in.tileSets.complete(pyramid);
      this.#records.writeAll();
    });
  }

  /**
   * Compares the cells of a region in the ledger and the store. Skips unknown cells and cells that a writer has open.
   * Yields after each cell: the difference, or undefined if there is none.
   */
  *differences(pyramid: StoredPyramid, rect: TileRect, listed: Listed): Generator<CellDifference | undefined, void> {
    for (const format of this.#formats(pyramid, listed)) {
      const { tileSet } = this.#in.tileSets.record({ ...pyramid, format });
      for (const [{ z, bx, by }, cells] of this.#cellsOf(tileSet, rect, listed.get(format) ?? []))
        for (let cell = 0; cell < CELLS; cell++) {
          const found = this.#in.cells.find({ tileSet, z, bx, by, cell });
          if (found === undefined) continue;
          const { block } = found;
          const isSelected = cells.has(cell) || block.cellTiles[cell] !== 0;
          if (isSelected && block.known[cell] === 1 && block.writers[cell] === 0)
            yield this.#difference(tileSet, block, cell);
        }
    }
  }

  #difference(tileSet: TileSet, block: Block, cell: number): CellDifference | undefined {
    const rect = block.cellRect(cell);
    const found = this.#in.store.recount(tileSet, rect, false);
    const store = { tiles: found.length, bytes: found.reduce((sum, tile) => sum + tile.bytes, 0) };
    const ledger = { tiles: block.cellTiles[cell] ?? 0, bytes: block.cellBytes[cell] ?? 0 };
    const isSame =
      store.tiles === ledger.tiles && store.bytes === ledger.bytes && found.every(({ x, y }) => block.has(x, y));
    return isSame ? undefined : { tileSet, rect, ledger, store };
  }

  /** Returns the levels for which the ledger has sums. A level occurs once per format. */
  levels(pyramid: StoredPyramid): number[] {
    return this.#in.tileSets.of(pyramid).flatMap(({ sums }) => [...sums.keys()]);
  }

  /** Yields the rectangles of the blocks that have rows at a level. */
  *blockRects(pyramid: StoredPyramid, z: number): Generator<TileRect> {
    const page = this.#in.db.prepare(
      "SELECT bx, by FROM block WHERE tile_set = ? AND z = ? AND (bx, by) > (?, ?) ORDER BY bx, by LIMIT 256",
    );
    for (const record of this.#in.tileSets.of(pyramid)) {
      let rows = page.all(record.id, z, -1, -1);
      while (rows.length > 0) {
        let [bx, by] = [-1, -1];
        for (const row of rows) {
          [bx, by] = [int(row, "bx"), int(row, "by")];
          yield blockRect({ z, bx, by });
        }
        rows = page.all(record.id, z, bx, by);
      }
    }
  }
}
