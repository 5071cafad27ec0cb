import type { GridSetName, TileRect, TileX, TileY, Zoom } from "../../grid/grid-set.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import type { DirectoryTimes, StoredPyramid } from "../../store/inventory-store.ts";
import { type Block, type BlockAddress, blockKey, blockOf, blockRect, CELLS, cellOf } from "../blocks/block.ts";
import { type CellPosition, cellPosition } from "../cells/cells.ts";
import type { LedgerInternals } from "../ledger-internals.ts";
import { blocksId, pyramidKey, pyramidOf, type TileSetRecord } from "../tile-sets/tile-set-record.ts";
import type { TruncatedRecords } from "../tile-sets/truncated-records.ts";
import type { Listed } from "./region-blocks.ts";
import type { CellDifference } from "./verification-documents.ts";

/** A cell whose tiles in the ledger differ from those in the store. */
export interface DifferentCell extends CellDifference {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
}

/** A block, and its tiles in the store's listing, by cell. */
interface ListedCells {
  readonly at: BlockAddress;
  readonly cells: ReadonlyMap<number, readonly { readonly x: TileX; readonly y: TileY }[]>;
}

/**
 * Counts tiles that other programs have stored or removed, for adoption, and compares the ledger with the store, for
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
   * Returns the pyramids of a layer in the store that have not been counted completely. Truncates records whose
   * directories now belong to a pyramid of a different name: the tiles are counted under that name.
   */
  unknownPyramids(layer: LayerName, gridSets: readonly GridSetName[]): StoredPyramid[] {
    const { store, tileSets } = this.#in;
    const records = tileSets.of({ layer });
    const pyramids = this.#storedPyramids(layer, gridSets, records);
    const names = new Set(pyramids.map(pyramidKey));
    const others = records.filter(({ tileSet }) => !names.has(pyramidKey(tileSet)));
    const levels =
      others.length === 0
        ? []
        : store.levelsOf(
            layer,
            others.map(({ tileSet }) => tileSet),
          );
    for (const [n, record] of others.entries())
      if (levels[n]?.length !== 0 && tileSets.find(record.tileSet) === record)
        this.#records.truncate(pyramidOf(record.tileSet));
    const complete = tileSets.pyramids.completeIn(layer);
    return pyramids.filter((pyramid) => complete.get(pyramidKey(pyramid)) !== true);
  }

  /** Returns the pyramids of a layer that have been counted completely, in the store or in records alone. */
  countedPyramids(layer: LayerName, gridSets: readonly GridSetName[]): StoredPyramid[] {
    const records = this.#in.tileSets.of({ layer });
    const recorded = records.map(({ tileSet }) => pyramidOf(tileSet));
    const all = [...this.#storedPyramids(layer, gridSets, records), ...recorded];
    const byKey = new Map(all.map((pyramid) => [pyramidKey(pyramid), pyramid]));
    const complete = this.#in.tileSets.pyramids.completeIn(layer);
    return [...byKey].filter(([key]) => complete.get(key) === true).map(([, pyramid]) => pyramid);
  }

  /**
   * Returns the pyramids of a layer in the store. Records help to parse directories, even if the layer no longer has
   * their grid sets, because a directory's name can be ambiguous.
   */
  #storedPyramids(
    layer: LayerName,
    gridSets: readonly GridSetName[],
    records: readonly TileSetRecord[],
  ): readonly StoredPyramid[] {
    return this.#in.store.pyramids(layer, [...records.map(({ tileSet }) => tileSet.gridSet), ...gridSets]);
  }

  /**
   * Reads the records of blocks of one level before they are counted or compared one by one. Reading each record
   * separately takes much longer if the database is remote.
   * @param rects the rectangles of at most `POSITIONS_AT_ONCE` blocks
   */
  prefetch(pyramid: StoredPyramid, rects: readonly TileRect[]): void {
    const places = rects.map(({ z, minX, minY }) => ({ z, bx: blockOf(minX), by: blockOf(minY) }));
    for (const record of this.#in.tileSets.of(pyramid))
      this.#in.blocks.prefetch(places.map((at) => ({ ...at, tileSetId: blocksId(record, at.z) })));
  }

  /**
   * Counts the blocks of a region in an unknown pyramid. Counts the cells that have tiles in the store's listing or in
   * the ledger, and treats all other cells as empty. Writers record their writes during the count. Yields after each
   * counted cell.
   * @param directories the change times of the listed directories
   * @param counted called with the tiles of each counted cell
   */
  *adopt(
    pyramid: StoredPyramid,
    rect: TileRect,
    listed: Listed,
    directories?: DirectoryTimes,
    counted: (tiles: number) => void = () => {},
  ): Generator<undefined, void> {
    const { tileSets, blocks, doubted } = this.#in;
    for (const tileSet of this.#tileSetsOf(pyramid, listed)) {
      for (const { at, cells } of this.#blocksOf(tileSet, rect, listed)) {
        for (let cell = 0; cell < CELLS; cell++) {
          // Looked up again after each yield, because a truncation may have changed the record, and the table may have
          // evicted the block.
          const record = tileSets.record(tileSet);
          const block = blocks.at({ ...at, tileSetId: blocksId(record, at.z) });
          if (block.known[cell] === 1) continue;
          blocks.changed(block);
          if (cells.has(cell) || block.cellTiles[cell] !== 0) {
            const tiles = cells.get(cell) ?? [];
            doubted.count(record, block, cell, directories === undefined ? undefined : { tiles, directories });
            counted(block.cellTiles[cell] ?? 0);
            yield;
          } else if (block.writers[cell] === 0) block.known[cell] = 1;
          else doubted.countLater(block.at);
        }
      }
    }
  }

  /** Returns the tile sets of a pyramid: one per format that has a record or listed tiles. */
  #tileSetsOf(pyramid: StoredPyramid, listed: Listed): readonly TileSet[] {
    const formats = new Set([...listed.keys(), ...this.#in.tileSets.of(pyramid).map(({ tileSet }) => tileSet.format)]);
    return [...formats].map((format) => ({ ...pyramid, format }));
  }

  /** Returns the blocks of a rectangle that have listed tiles or a row, with their listed tiles. */
  #blocksOf(tileSet: TileSet, rect: TileRect, listed: Listed): readonly ListedCells[] {
    const tileSetId = blocksId(this.#in.tileSets.record(tileSet), rect.z);
    const found = new Map<
      string,
      { readonly at: BlockAddress; readonly cells: Map<number, { x: TileX; y: TileY }[]> }
    >();
    const cellsOf = (at: BlockAddress): Map<number, { x: TileX; y: TileY }[]> => {
      const key = blockKey(at);
      const known = found.get(key) ?? { at, cells: new Map() };
      found.set(key, known);
      return known.cells;
    };
    for (const { x, y } of listed.get(tileSet.format) ?? []) {
      const cells = cellsOf({ tileSetId, z: rect.z, bx: blockOf(x), by: blockOf(y) });
      const tiles = cells.get(cellOf(x, y));
      if (tiles === undefined) cells.set(cellOf(x, y), [{ x, y }]);
      else tiles.push({ x, y });
    }
    for (const block of this.#in.blocks.blocksIn(tileSetId, rect)) cellsOf(block.at);
    return [...found.values()];
  }

  /**
   * Counts the cells of a rectangle again, because other programs may have changed its tiles. If a block has marks, it
   * was being written when this server was killed. In such a block `changed` counts only the cells whose listing
   * differs from the ledger, because the marked cells are counted anyway. `all` counts every cell, because marks may be
   * missing too. Yields after each cell.
   */
  *recountBlock(
    pyramid: StoredPyramid,
    rect: TileRect,
    listed: Listed,
    which: "changed" | "all",
  ): Generator<undefined, void> {
    const { cells, blocks, doubted } = this.#in;
    for (const tileSet of this.#tileSetsOf(pyramid, listed)) {
      for (const position of this.#cellsToRecount(tileSet, rect, listed, which)) {
        const found = cells.find(position);
        if (found === undefined) break;
        blocks.changed(found.block);
        doubted.countAgain(found.record, found.block, position.cell);
        yield;
      }
    }
  }

  #cellsToRecount(tileSet: TileSet, rect: TileRect, listed: Listed, which: "changed" | "all"): readonly CellPosition[] {
    return this.#blocksOf(tileSet, rect, listed).flatMap(({ at, cells }) => {
      const block = this.#in.blocks.at(at);
      const onlyChanged = which === "changed" && block.marked.includes(1);
      const selected = [...block.cellTiles.keys()].filter((cell) => {
        const tiles = cells.get(cell) ?? [];
        const isChanged = tiles.length !== block.cellTiles[cell] || !tiles.every(({ x, y }) => block.has(x, y));
        return isChanged || (tiles.length > 0 && !onlyChanged);
      });
      return selected.map((cell) => cellPosition(tileSet, block, cell));
    });
  }

  /** Yields the cells with tiles in the blocks that overlap a rectangle. */
  *cellsWithTiles(
    pyramid: StoredPyramid,
    rect: TileRect,
  ): Generator<{ readonly tileSet: TileSet; readonly cell: TileRect }> {
    for (const record of this.#in.tileSets.of(pyramid))
      for (const block of this.#in.blocks.blocksIn(blocksId(record, rect.z), rect))
        for (let cell = 0; cell < CELLS; cell++)
          if (block.cellTiles[cell] !== 0) yield { tileSet: record.tileSet, cell: block.cellRect(cell) };
  }

  /** Records that every stored tile of a pyramid has been counted. */
  adopted(pyramid: StoredPyramid): void {
    this.#in.db.transaction(() => {
      this.#in.tileSets.complete(pyramid);
      this.#records.writeAll();
    });
  }

  /**
   * Compares the cells of a region in the ledger and in the store. Skips unknown cells and cells that a writer has
   * open. Yields after each cell: the difference, or undefined if the cell does not differ.
   */
  *differences(pyramid: StoredPyramid, rect: TileRect, listed: Listed): Generator<DifferentCell | undefined, void> {
    for (const tileSet of this.#tileSetsOf(pyramid, listed))
      for (const { at, cells } of this.#blocksOf(tileSet, rect, listed))
        for (let cell = 0; cell < CELLS; cell++) {
          const block = this.#in.cells.find({ tileSet, ...at, cell })?.block;
          if (block === undefined) continue;
          const isSelected = cells.has(cell) || block.cellTiles[cell] !== 0;
          if (isSelected && block.known[cell] === 1 && block.writers[cell] === 0)
            yield this.#difference(tileSet, block, cell);
        }
  }

  #difference(tileSet: TileSet, block: Block, cell: number): DifferentCell | undefined {
    const rect = block.cellRect(cell);
    const found = this.#in.store.recount(tileSet, rect, false);
    const { cells } = this.#in;
    const store = {
      tiles: found.length,
      bytes: found.reduce((sum, tile) => sum + tile.bytes, 0),
      bytesOnDisk: found.reduce((sum, tile) => sum + cells.allocated(tileSet, tile.bytes), 0),
    };
    const ledger = {
      tiles: block.cellTiles[cell] ?? 0,
      bytes: block.cellBytes[cell] ?? 0,
      bytesOnDisk: block.cellAllocated[cell] ?? 0,
    };
    const isSame =
      store.tiles === ledger.tiles &&
      store.bytes === ledger.bytes &&
      store.bytesOnDisk === ledger.bytesOnDisk &&
      found.every(({ x, y }) => block.has(x, y));
    return isSame ? undefined : { tileSet, rect, ledger, store };
  }

  /** Returns the levels for which the ledger has sums. A level is repeated for each format. */
  levels(pyramid: StoredPyramid): Zoom[] {
    return this.#in.tileSets.of(pyramid).flatMap(({ sums }) => [...sums.keys()]);
  }

  /** Yields the rectangles of the blocks of a level that have a row in the database. */
  *blockRects(pyramid: StoredPyramid, z: Zoom): Generator<TileRect> {
    for (const record of this.#in.tileSets.of(pyramid))
      for (const at of this.#in.blocks.rows.addressesOf(blocksId(record, z), z)) yield blockRect(at);
  }
}
