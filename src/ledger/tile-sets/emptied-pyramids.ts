import type { LayerName } from "../../layer/tile-set.ts";
import type { StoredPyramid } from "../../store/inventory-store.ts";
import { ifAvailable } from "../../store/tile-store.ts";
import { type LedgerInternals, removeBlocks } from "../ledger-internals.ts";
import { idsOf, pyramidKey, type TileSetRecord } from "./tile-set-record.ts";

/**
 * Removes the remains of pyramids without tiles: the rows of the tile sets, the directories, and the description of the
 * parameters. Clients choose the values of some parameters, so only the number of tiles limits the number of pyramids.
 *
 * A pyramid with an open cell stays, because a writer opens its cells before it writes a tile or the description. The
 * directories are removed first and the rows last: after a kill in between, the rows still exist, and the next start
 * continues. The removal is on the disk before the marks of the cells are deleted, because only these marks tell a later
 * start where a loss of power has brought tiles back.
 */
export class EmptiedPyramids {
  readonly #in: LedgerInternals;

  constructor(internals: LedgerInternals) {
    this.#in = internals;
  }

  /** The number of pyramids that `removeSome` must examine. */
  get noted(): number {
    return this.#in.tileSets.emptied.size;
  }

  /** Examines up to `limit` noted pyramids, the oldest notes first. Notes a pyramid again if it is in use. */
  removeSome(limit: number): void {
    const { tileSets } = this.#in;
    const byLayer = new Map<LayerName, StoredPyramid[]>();
    for (const [key, pyramid] of tileSets.emptied) {
      if (limit-- <= 0) break;
      tileSets.emptied.delete(key);
      if (!this.#isEmpty(pyramid)) continue;
      const ofLayer = byLayer.get(pyramid.layer);
      if (ofLayer === undefined) byLayer.set(pyramid.layer, [pyramid]);
      else ofLayer.push(pyramid);
    }
    for (const [layer, pyramids] of byLayer) this.#remove(layer, pyramids);
  }

  /**
   * Removes the description of the parameters if only the given truncated tile set, which is about to lose its last
   * row, still needs it.
   */
  willRemoveTruncated(id: number, { layer, gridSet, parametersId }: StoredPyramid): void {
    const pyramid = { layer, gridSet, parametersId };
    // A writer that begins now loses nothing: a directory with a tile is not removed, and a writer writes the
    // description after its tiles.
    if (!this.#in.truncatedTileSets.hasTruncated(layer, parametersId, id)) this.#removeFromStore(layer, [pyramid]);
    // The pyramid may have a new, empty record, which could not be removed before this tile set.
    this.#later(pyramid);
  }

  /** Returns whether a pyramid has been counted completely and has no tile. */
  #isEmpty(pyramid: StoredPyramid): boolean {
    const { tileSets } = this.#in;
    const records = tileSets.of(pyramid);
    return tileSets.pyramids.isComplete(pyramid) !== false && records.every(isEmptyRecord);
  }

  #remove(layer: LayerName, pyramids: readonly StoredPyramid[]): void {
    const { db, tileSets } = this.#in;
    const inUse = this.#inUse(pyramids);
    const free = pyramids.filter((pyramid) => {
      if (inUse(pyramid)) return this.#later(pyramid);
      // Truncated tile sets still have rows. The pyramid is noted again when they are reclaimed or restored.
      return !this.#in.truncatedTileSets.hasTruncated(layer, pyramid.parametersId);
    });
    const gone = this.#removeFromStore(layer, free);
    const records = gone.flatMap((pyramid) => tileSets.of(pyramid));
    if (gone.length === 0) return;
    try {
      db.transaction(() => this.#in.truncatedTileSets.deleteRows(gone));
    } catch (error) {
      for (const pyramid of gone) this.#later(pyramid);
      throw error;
    }
    const ids = new Set(records.flatMap(idsOf));
    for (const record of records) tileSets.remove(record);
    removeBlocks(this.#in, ({ tileSetId }) => ids.has(tileSetId));
    for (const pyramid of gone) tileSets.emptied.delete(pyramidKey(pyramid));
  }

  #later(pyramid: StoredPyramid): false {
    this.#in.tileSets.emptied.set(pyramidKey(pyramid), pyramid);
    return false;
  }

  /** Returns a test for pyramids with an open cell or a cell in doubt. */
  #inUse(pyramids: readonly StoredPyramid[]): (pyramid: StoredPyramid) => boolean {
    const { tileSets, blocks, doubted } = this.#in;
    const ids = new Set(pyramids.flatMap((pyramid) => tileSets.of(pyramid).flatMap(idsOf)));
    const used = new Set(doubted.of((id) => ids.has(id)).map(({ tileSetId }) => tileSetId));
    // Blocks with open cells are always in memory.
    for (const block of blocks.inMemory()) if (ids.has(block.at.tileSetId) && block.open) used.add(block.at.tileSetId);
    return (pyramid) => tileSets.of(pyramid).some((record) => idsOf(record).some((id) => used.has(id)));
  }

  /** Removes empty pyramids from the store. @returns the pyramids of which the store contains nothing any more */
  #removeFromStore(layer: LayerName, pyramids: readonly StoredPyramid[]): StoredPyramid[] {
    if (pyramids.length === 0) return [];
    // Undefined if the layer's part of the store is unavailable.
    const outcomes = ifAvailable(() => this.#in.store.removeEmptyPyramids(layer, pyramids));
    return pyramids.filter((pyramid, n) => {
      const outcome = outcomes?.[n] ?? "unfinished";
      if (outcome === "unfinished") return this.#later(pyramid);
      // Otherwise the store contains tiles of a different program, which the next start counts.
      return outcome === "gone";
    });
  }
}

function isEmptyRecord({ sums }: TileSetRecord): boolean {
  for (const { tiles } of sums.values()) if (tiles !== 0n) return false;
  return true;
}
