import { asTileRect, type TileRect, type TileX, type TileY, type Zoom } from "../../grid/grid-set.ts";
import { type LayerName, type TileSet, tileSetKey } from "../../layer/tile-set.ts";
import { blockOf, cellOf, cellRectOf } from "../../ledger/blocks/block.ts";
import type { CellPosition } from "../../ledger/cells/cells.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { pagesOf } from "../../lib/pages.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { pause, sleep } from "../../lib/time/sleep.ts";
import type { FoundTile } from "../../store/inventory-store.ts";
import { writtenTime } from "../../store/stale-time.ts";
import type { Store } from "../../store/store.ts";
import { StoreError } from "../../store/tile-store.ts";
import type { LedgerTruncations } from "../../truncation/truncations.ts";
import type { CopyProgress, CopyState } from "./store-copy.ts";

export interface LayerCopyParts {
  readonly layer: LayerName;
  readonly from: Store;
  readonly to: Store;
  readonly ledger: Pick<Ledger, "tileSets" | "storedCells" | "writers" | "sums">;
  readonly truncations: Pick<LedgerTruncations, "withoutTruncation">;
  /** Returns whether all tiles of the layer have been counted. */
  readonly isCounted: () => boolean;
  /** The number of truncations and undos so far. After each of them all tiles are compared again. */
  readonly renames: () => number;
  /** Returns whether the disk of the target has its reserve. */
  readonly hasSpace: () => Promise<boolean>;
  /**
   * The time at which an earlier server began this copy, ms since 1970; absent for a new copy. Tiles written
   * since then are copied again: a tile with the same size and a time within the same second may differ.
   */
  readonly resumedFromMs?: number;
  readonly clock: Clock;
  /** The pause after a fault of a store, ms. */
  readonly retryMs: number;
}

/** A writer may replace a tile within the resolution of a store's times, ms. */
const CLOCK_STEP_MS = 2_000;
/** The clock of a remote store may differ from this machine's by this time. */
const CLOCK_ERROR_MS = 300_000;
const COUNTED_MS = 250;
/** Cells that are compared before the free space of the target is checked. */
const CELLS_PER_LOOK = 64;

/** A rectangle that contains all tiles of each zoom. */
const EVERYWHERE = { minX: 0, minY: 0, maxX: 2 ** 31 - 1, maxY: 2 ** 31 - 1 };

interface DirtyCell {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  /** Tiles written since then, ms since 1970, are copied even if the target has a tile of the same size and time. */
  readonly sinceMs: number;
}

/**
 * Makes a store hold the same tiles of a layer as another store, and follows each change while both are in use.
 * Compares one cell after the other: copies a tile that differs with its time and reads it back, and removes a tile
 * that the source lacks. Cells that writers open or close during the copy are compared again. Saves no progress: after
 * a restart the copy compares again, and recognises most copied tiles by their sizes and times.
 */
export class LayerCopy {
  readonly #parts: LayerCopyParts;
  readonly #dirty = new Map<string, DirtyCell>();
  readonly #described = new Set<string>();
  #state: CopyState = "copying";
  #reason: string | null = null;
  #wasComplete = false;
  #wake: () => void = () => {};
  #tiles = 0;
  #bytes = 0;
  #copied = 0;
  #copiedBytes = 0;
  #removed = 0;
  #cells = 0;
  #renames = 0;

  constructor(parts: LayerCopyParts) {
    this.#parts = parts;
  }

  progress(): CopyProgress {
    return {
      state: this.#state,
      reason: this.#reason,
      total: Number(this.#parts.ledger.sums.of(this.#parts.layer).tiles),
      tiles: this.#tiles,
      bytes: this.#bytes,
      copied: this.#copied,
      copiedBytes: this.#copiedBytes,
      removed: this.#removed,
    };
  }

  /** Copies all tiles, and then follows changes until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    const unfollow = this.#parts.ledger.writers.follow((cells) => this.#changed(cells));
    const wake = (): void => this.#wake();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) await this.#tryOnce(signal);
    } finally {
      signal.removeEventListener("abort", wake);
      unfollow();
    }
  }

  /** Compares the cells that have changed. The caller lets no new writer begin. */
  async catchUp(signal: AbortSignal): Promise<void> {
    do {
      await this.#compareDirty(signal);
      // `run` may be comparing a cell that it has removed from the list, and an import may be running. Waits for both.
      await this.#parts.truncations.withoutTruncation(this.#parts.layer, async () => {});
    } while (this.#dirty.size > 0);
  }

  /** Whether the target may have tiles that the source replaced before this server resumed the copy. */
  get isDoubtful(): boolean {
    return this.#parts.resumedFromMs !== undefined && !this.#wasComplete;
  }

  /** Whether all tiles have been compared since the last truncation. */
  get isComplete(): boolean {
    return this.#state === "complete" && this.#parts.renames() === this.#renames;
  }

  async #tryOnce(signal: AbortSignal): Promise<void> {
    try {
      this.#renames = this.#parts.renames();
      await this.#compareAll(signal);
      for (;;) {
        await this.#compareDirty(signal);
        if (this.#parts.renames() !== this.#renames) return;
        this.#state = "complete";
        this.#reason = null;
        this.#wasComplete = true;
        if (this.#dirty.size === 0) await this.#changes(signal);
        if (signal.aborted) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof StoreError)) throw error;
      this.#state = "waiting";
      this.#reason = error.message;
      await pause(this.#parts.clock, this.#parts.retryMs, signal);
      this.#state = "copying";
    }
  }

  #changed(cells: readonly CellPosition[]): void {
    for (const { tileSet, z, bx, by, cell } of cells) {
      if (tileSet.layer !== this.#parts.layer) continue;
      const key = `${tileSetKey(tileSet)}\n${z}/${bx}/${by}/${cell}`;
      if (this.#dirty.has(key)) continue;
      this.#dirty.set(key, { tileSet, rect: cellRectOf({ z, bx, by }, cell), sinceMs: this.#parts.clock.now() });
    }
    this.#wake();
  }

  /** Waits for a change of the layer's tiles, or for a timer, because truncations do not open cells. */
  #changes(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#parts.clock.after(COUNTED_MS, () => this.#wake());
      this.#wake = () => {
        timer.cancel();
        this.#wake = () => {};
        resolve();
      };
      if (signal.aborted || this.#dirty.size > 0) this.#wake();
    });
  }

  async #compareAll(signal: AbortSignal): Promise<void> {
    const { layer, ledger, to, isCounted } = this.#parts;
    if (this.#wasComplete) this.#state = "copying";
    while (!isCounted()) await sleep(this.#parts.clock, COUNTED_MS, signal);
    [this.#tiles, this.#bytes] = [0, 0];
    const slices = new Slices(this.#parts.clock, signal);
    const { resumedFromMs } = this.#parts;
    const changedSinceMs =
      resumedFromMs === undefined || this.#wasComplete ? Number.POSITIVE_INFINITY : resumedFromMs - CLOCK_ERROR_MS;
    const known = [...ledger.tileSets()].filter(({ tileSet }) => tileSet.layer === layer);
    for (const { tileSet, sums } of known)
      for (const z of sums.keys())
        for (const page of ledger.storedCells(tileSet, asTileRect({ ...EVERYWHERE, z })))
          for (const { rect } of page) await this.#compare(tileSet, rect, changedSinceMs, slices, signal);
    const gridSets = known.map(({ tileSet }) => tileSet.gridSet);
    for (const pyramid of to.pyramids(layer, gridSets))
      for (const z of to.levels(pyramid))
        for await (const region of to.regions(pyramid, z, undefined))
          for (const [format, tiles] of region.tiles) {
            const cells = new Set(tiles.map(({ x, y }) => `${blockOf(x)}/${blockOf(y)}/${cellOf(x, y)}`));
            for (const cell of cells) {
              const [bx = 0, by = 0, n = 0] = cell.split("/").map(Number);
              await this.#compare({ ...pyramid, format }, cellRectOf({ z, bx, by }, n), "removals", slices, signal);
            }
          }
  }

  async #compareDirty(signal: AbortSignal): Promise<void> {
    const slices = new Slices(this.#parts.clock, signal);
    for (let [next] = this.#dirty; next !== undefined; [next] = this.#dirty) {
      const [key, { tileSet, rect, sinceMs }] = next;
      // The cell is removed before it is compared, so that a change during the comparison adds it again.
      this.#dirty.delete(key);
      try {
        await this.#compare(tileSet, rect, sinceMs, slices, signal);
      } catch (error) {
        if (!this.#dirty.has(key)) this.#dirty.set(key, { tileSet, rect, sinceMs });
        throw error;
      }
    }
  }

  /**
   * Makes a cell of the target equal to the source while no truncation of the layer runs.
   * @param changedSinceMs tiles written since then, ms since 1970, are copied in any case; "removals" only removes
   * tiles that the source lacks
   */
  #compare(
    tileSet: TileSet,
    rect: TileRect,
    changedSinceMs: number | "removals",
    slices: Slices,
    signal: AbortSignal,
  ): Promise<void> {
    const { layer, from, to, truncations } = this.#parts;
    return truncations.withoutTruncation(layer, async () => {
      if (slices.isOver) await slices.next();
      signal.throwIfAborted();
      const there = new Map(to.recount(tileSet, rect, false).map((tile) => [nameOf(tile), tile]));
      const wanted: FoundTile[] = [];
      for (const tile of from.recount(tileSet, rect, false)) {
        const copy = there.get(nameOf(tile));
        there.delete(nameOf(tile));
        if (changedSinceMs === "removals") continue;
        this.#tiles++;
        this.#bytes += tile.bytes;
        if (copy === undefined || !isCopy(copy, tile) || tile.modifiedMs >= changedSinceMs - CLOCK_STEP_MS)
          wanted.push(tile);
      }
      for (const { x, y } of there.values()) {
        to.delete({ tileSet, x, y, z: rect.z });
        this.#removed++;
      }
      if (wanted.length === 0) return;
      await this.#expectSpace();
      await this.#describe(tileSet);
      const atOnce = Math.max(from.putsAtOnce(layer), to.putsAtOnce(layer));
      for (const some of pagesOf(wanted, atOnce)) {
        if (slices.isOver) await slices.next();
        await Promise.all(some.map(({ x, y }) => this.#copy(tileSet, x, y, rect.z, signal)));
      }
    });
  }

  /**
   * Copies a tile and reads the copy back. If a writer replaces the tile, it has opened the cell, which is then
   * compared again.
   */
  async #copy(tileSet: TileSet, x: TileX, y: TileY, z: Zoom, signal: AbortSignal): Promise<void> {
    const { from, to } = this.#parts;
    const at = { tileSet, x, y, z };
    const tile = await from.get(at);
    if (tile === undefined) return;
    const put = await to.put(at, tile.bytes, { guard: () => true, modifiedMs: tile.modifiedMs }, signal);
    signal.throwIfAborted();
    const copy = put.stored ? await to.get(at) : undefined;
    if (copy === undefined || Buffer.compare(copy.bytes, tile.bytes) !== 0)
      throw new StoreError("unavailable", `the copy of ${to.keyOf(at)} is not what was written`, undefined);
    this.#copied++;
    this.#copiedBytes += tile.bytes.byteLength;
  }

  async #expectSpace(): Promise<void> {
    if (this.#cells++ % CELLS_PER_LOOK === 0 && !(await this.#parts.hasSpace())) {
      this.#cells = 0;
      throw new StoreError("full", "the disk of the target has no space beyond its reserve", undefined);
    }
  }

  /** Copies the parameter values of a parameters id. */
  async #describe({ layer, parametersId }: TileSet): Promise<void> {
    if (parametersId === "" || this.#described.has(parametersId)) return;
    const values = this.#parts.from.parametersOf(layer, parametersId);
    if (values === undefined) return;
    const { to } = this.#parts;
    await to.check(layer);
    await to.describeParameters(layer, parametersId, values);
    this.#described.add(parametersId);
  }
}

const nameOf = ({ x, y }: FoundTile): string => `${x}/${y}`;

/**
 * Returns whether a tile of the target can be a copy. A remote store has the time of the copying, in whole seconds. A
 * tile that is marked as stale after its copy was made is copied again.
 */
const isCopy = (copy: FoundTile, tile: FoundTile): boolean =>
  copy.bytes === tile.bytes &&
  copy.modifiedMs >= Math.floor(tile.modifiedMs / 1000) * 1000 &&
  (!writtenTime(tile.modifiedMs).isStale || writtenTime(copy.modifiedMs).isStale);
