import { asTileRect, intersectRects, type TileIndex, type TileRect } from "../grid/grid-set.ts";
import { cellCount, cellRect, cellsIn } from "../layer/cells.ts";
import type { LayerName, TileAddress, TileSet } from "../layer/tile-set.ts";
import type { KnownTileSet, Ledger } from "../ledger/ledger.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import { Slices } from "../lib/process/slices.ts";
import { sleep } from "../lib/time/sleep.ts";
import type { Purges } from "../purge/purges.ts";
import type { ChangedRange, RenderControl } from "../render/render-control.ts";
import type { Database } from "../state/database.ts";
import type { InventoryStore } from "../store/inventory-store.ts";
import { staleTime } from "../store/stale-time.ts";
import { StoreError, type TileStore } from "../store/tile-store.ts";
import type { LedgerTruncations } from "./truncations.ts";

/**
 * The effect of a change of the data on the stored tiles. `expire`: they are served as stale, and rendered again on use.
 * `renew`: like `expire`, for tiles that a job renders again. The job finds marked tiles by `timesOf`, which has no
 * marks in a remote store, so tiles there are removed.
 */
export type ChangeEffect = "remove" | "expire" | "renew";

export interface ChangedTilesParts extends Pick<ServiceParts, "clock"> {
  readonly ledger: Pick<Ledger, "tileSets" | "presence" | "repair" | "storedCells" | "writers" | "doubted">;
  readonly state: Pick<StateWriter, "marksCommitted">;
  readonly db: Pick<Database, "transaction">;
  readonly store: Pick<TileStore, "get" | "put" | "putsAtOnce" | "deleteAll"> & Pick<InventoryStore, "timesOf">;
  readonly ledgerTruncations: Pick<LedgerTruncations, "interrupted" | "withoutTruncation">;
  readonly renders: Pick<RenderControl, "outdate" | "evicted" | "truncated">;
  readonly purges: Pick<Purges, "during" | "areaChanged" | "isOn">;
  /** Returns whether other programs write to a layer's tiles, so that the store is read instead of the ledger. */
  readonly sharedStore: (layer: LayerName) => boolean;
}

/** The most tiles that are handled between two commits of marks. */
const MOST_AT_ONCE = 256;
/** A rectangle of at most so many cells is looked up cell by cell, and a larger one in the list of stored cells. */
const MOST_LOOKUPS = 256;

/**
 * Carries out changes of the data that concern single tiles: removes the stored tiles, or makes them stale, in all
 * formats and parameters. Only renders of these tiles are outdated. Nothing is recorded: the source of a change keeps
 * it until the promise has resolved, and reports it again after a kill. The cost follows the stored tiles.
 */
export class ChangedTiles {
  readonly #parts: ChangedTilesParts;

  constructor(parts: ChangedTilesParts) {
    this.#parts = parts;
  }

  /** Returns the ranges in which tiles may be stored that have not been counted yet. They have not been handled. */
  async apply(
    layer: LayerName,
    ranges: readonly ChangedRange[],
    how: ChangeEffect,
    signal: AbortSignal,
  ): Promise<readonly ChangedRange[]> {
    const { purges, db, store, renders, ledgerTruncations } = this.#parts;
    const effect = how === "renew" ? (store.putsAtOnce(layer) === 1 ? "expire" : "remove") : how;
    const uncounted: ChangedRange[] = [];
    await purges.during(layer, async () => {
      try {
        ledgerTruncations.interrupted.complete(layer);
        await renders.outdate(layer, ranges);
        await this.#lateWritesEnded(layer, signal);
        const slices = new Slices(this.#parts.clock, signal);
        for (const { gridSet, rects } of ranges) {
          const left = await this.#applyIn(
            [...this.#parts.ledger.tileSets()].filter(
              ({ tileSet }) => tileSet.layer === layer && tileSet.gridSet === gridSet,
            ),
            rects,
            { effect, slices, signal },
          );
          if (left.length > 0) uncounted.push({ gridSet, rects: left });
        }
        if (effect === "remove") renders.truncated(layer);
      } finally {
        // Also if the work was ended: some of its tiles are gone.
        if (purges.isOn) db.transaction(() => purges.areaChanged(layer, ranges, effect === "remove" ? "hard" : "soft"));
      }
    });
    return uncounted;
  }

  /** Waits until no write of a writer that was lost can reach the layer. */
  async #lateWritesEnded(layer: LayerName, signal: AbortSignal): Promise<void> {
    const ms = this.#parts.ledger.doubted.lateMsIn(layer);
    if (ms > 0) await sleep(this.#parts.clock, ms, signal);
  }

  async #applyIn(
    tileSets: readonly KnownTileSet[],
    rects: readonly TileRect[],
    how: { readonly effect: Exclude<ChangeEffect, "renew">; readonly slices: Slices; readonly signal: AbortSignal },
  ): Promise<readonly TileRect[]> {
    const uncounted = new Set<TileRect>();
    for (const { tileSet, complete, sums } of tileSets) {
      let found: TileIndex[] = [];
      const flush = async (): Promise<void> => {
        const tiles = found;
        found = [];
        if (tiles.length > 0) await this.#change(tileSet, tiles, how);
      };
      for (const rect of rects) {
        if (complete && (sums.get(rect.z)?.tiles ?? 0n) === 0n) continue;
        if (!complete && cellCount(rect) > MOST_LOOKUPS) {
          uncounted.add(rect);
          continue;
        }
        for (const tiles of this.#storedIn(tileSet, rect)) {
          found.push(...tiles);
          if (found.length >= MOST_AT_ONCE) await flush();
          if (how.slices.isOver) await how.slices.next();
        }
      }
      await flush();
    }
    return [...uncounted];
  }

  /** Yields the stored tiles of a rectangle, at most those of one cell at a time. */
  *#storedIn(tileSet: TileSet, rect: TileRect): Generator<readonly TileIndex[]> {
    const { ledger, sharedStore } = this.#parts;
    const { z } = rect;
    if (cellCount(rect) > MOST_LOOKUPS) {
      for (const cells of ledger.storedCells(tileSet, rect))
        for (const cell of cells) yield Array.from(cell.tilesInRect(), ({ x, y }) => ({ x, y, z }));
      return;
    }
    for (const cell of cellsIn(rect)) {
      const part = intersectRects(cellRect(cell), rect);
      if (part === undefined) continue;
      if (sharedStore(tileSet.layer)) ledger.repair(tileSet, part);
      const { has } = ledger.presence(tileSet, part);
      const tiles: TileIndex[] = [];
      for (let y = part.minY; y <= part.maxY; y++)
        for (let x = part.minX; x <= part.maxX; x++) if (has(x, y)) tiles.push({ x, y, z });
      yield tiles;
    }
  }

  /** Changes stored tiles of a tile set. Waits for a truncation or an undo of the layer. */
  async #change(
    tileSet: TileSet,
    tiles: readonly TileIndex[],
    { effect, signal }: { readonly effect: Exclude<ChangeEffect, "renew">; readonly signal: AbortSignal },
  ): Promise<void> {
    const { ledger, state, renders, ledgerTruncations } = this.#parts;
    await ledgerTruncations.withoutTruncation(tileSet.layer, async () => {
      const { format } = tileSet;
      const open = ledger.writers.openTiles(
        tileSet,
        tiles.map((tile) => ({ ...tile, format })),
      );
      try {
        if (open.mustCommit) await state.marksCommitted(tileSet.layer);
        if (effect === "remove") this.#remove(tileSet, tiles);
        else for (const tile of tiles) await this.#expire({ tileSet, ...tile }, signal);
      } finally {
        ledger.writers.close(open);
        for (const { x, y, z } of tiles)
          renders.evicted(tileSet, asTileRect({ z, minX: x, minY: y, maxX: x, maxY: y }));
      }
    });
  }

  #remove(tileSet: TileSet, tiles: readonly TileIndex[]): void {
    const { ledger, store } = this.#parts;
    const places = tiles.map((tile) => ({
      at: { tileSet, ...tile },
      bytes: store.timesOf({ tileSet, ...tile })?.bytes,
    }));
    const areGone = store.deleteAll(places.map(({ at }) => at));
    for (const [i, { at, bytes }] of places.entries())
      if (areGone[i] === true) ledger.writers.removed(tileSet, { ...at, bytes: bytes ?? 0 });
    if (areGone.includes(false)) throw new StoreError("unavailable", "a changed tile cannot be removed", undefined);
  }

  /** Marks a tile as stale. The same bytes are put with the time of the mark. */
  async #expire(at: TileAddress, signal: AbortSignal): Promise<void> {
    const { ledger, store } = this.#parts;
    const stored = await store.get(at);
    if (stored === undefined) return;
    const modifiedMs = staleTime(stored.modifiedMs);
    if (modifiedMs === stored.modifiedMs) return;
    const bytes = stored.bytes.byteLength;
    const put = await store.put(at, stored.bytes, { guard: () => true, modifiedMs }, signal);
    if (!put.stored) return;
    // A renderer or another program may have removed the tile in between: the ledger then counts its cell again.
    if (put.replaced === undefined)
      ledger.writers.wrote(at.tileSet, { ...at, bytes, replaced: undefined, unchanged: "left" });
    ledger.writers.aged(at.tileSet, at, modifiedMs);
  }
}
