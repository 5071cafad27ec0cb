import type { TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Database } from "../state/database.ts";
import type { InventoryStore } from "../store/inventory-store.ts";
import type { TileStore } from "../store/tile-store.ts";
import { type Block, type BlockAddress, blockRect } from "./blocks/block.ts";
import { BLOCKS_IN_MEMORY, BlockTable } from "./blocks/block-table.ts";
import { Cells } from "./cells/cells.ts";
import { DoubtedCells } from "./cells/doubted-cells.ts";
import { Marks } from "./cells/marks.ts";
import type { LostWrites } from "./lost-writes.ts";
import { emptySum } from "./tile-sets/tile-set-record.ts";
import { TileSetTable } from "./tile-sets/tile-set-table.ts";
import { TruncatedTileSets } from "./tile-sets/truncated-tile-sets.ts";

/** The members of the store that the ledger uses. */
export type LedgerStore = InventoryStore & Pick<TileStore, "allocated" | "deleteAll">;

export interface LedgerParts {
  readonly db: Database;
  readonly store: LedgerStore;
  /** The boot of the machine. Undefined if unknown: the ledger then treats each start as the first after a reboot. */
  readonly boot: string | undefined;
  readonly clock: Clock;
  /**
   * While lost writes may arrive, cells in doubt are counted whenever they are needed. Absent if there can be no lost
   * writes.
   */
  readonly lostWrites?: LostWrites | undefined;
  /** The number of blocks in memory, without blocks that are being written. */
  readonly blocksInMemory?: number;
  /** Called when the row of a block is corrupt. The ledger counts the cells of the block from the store. */
  readonly corrupt?: (tileSet: TileSet, rect: TileRect, reason: string) => void;
}

/** The parts and options that the files of the ledger share. Not used by other modules. */
export interface LedgerInternals {
  readonly db: Database;
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly tileSets: TileSetTable;
  readonly truncatedTileSets: TruncatedTileSets;
  readonly blocks: BlockTable;
  readonly marks: Marks;
  readonly cells: Cells;
  readonly doubted: DoubtedCells;
  /** Returns the number of corrupt rows found since the start. */
  readonly corruptBlocks: () => number;
}

/** Builds the objects that the parts of the ledger share. */
export function buildLedgerInternals(parts: LedgerParts): LedgerInternals {
  const { db, store, clock, lostWrites, blocksInMemory = BLOCKS_IN_MEMORY } = parts;
  let corruptBlocks = 0;
  const tileSets = new TileSetTable(db, store);
  const blocks: BlockTable = new BlockTable(db, {
    isComplete: (id) => tileSets.byId(id)?.complete ?? false,
    capacity: blocksInMemory,
    corrupt: (block, reason) => takeOut(block, reason),
  });
  const cells = new Cells({ store, tileSets, blocks });
  const lateMs = (): number => lostWrites?.leftMs ?? 0;
  const doubted = new DoubtedCells({ store, tileSets, blocks, cells, lateMs });
  /** Subtracts a corrupt row from the sums. All cells of its block are then counted from the store. */
  const takeOut = (block: Block, reason: string): void => {
    const { tileSetId, z } = block.at;
    const record = tileSets.ofBlock(block.at);
    if (record === undefined) return;
    corruptBlocks++;
    const { tiles, bytes, allocated } = blocks.sumOf(tileSetId, z);
    const had = record.sums.get(z) ?? emptySum();
    tileSets.sums.add(record, z, {
      tiles: tiles - Number(had.tiles),
      bytes: bytes - Number(had.bytes),
      allocated: allocated - Number(had.allocated),
    });
    blocks.changed(block);
    doubted.countLater(block.at);
    parts.corrupt?.(record.tileSet, blockRect(block.at), reason);
  };
  const marks = new Marks(db, blocks, clock);
  const truncatedTileSets = new TruncatedTileSets(db, tileSets);
  return {
    db,
    store,
    clock,
    tileSets,
    truncatedTileSets,
    blocks,
    marks,
    cells,
    doubted,
    corruptBlocks: () => corruptBlocks,
  };
}

/**
 * Removes blocks whose rows are deleted from memory, with their marks and cells in doubt.
 * @returns the removed blocks that writers have open
 */
export function removeBlocks(
  { blocks, doubted, marks }: LedgerInternals,
  isGone: (at: BlockAddress) => boolean,
): readonly Block[] {
  const gone = blocks.remove(isGone);
  doubted.remove(isGone);
  marks.remove(gone);
  return gone.filter((block) => block.open);
}
