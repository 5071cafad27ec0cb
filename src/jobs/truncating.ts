import type { TileRect, Zoom } from "../grid/grid-set.ts";
import { isSelected, type TileSelection } from "../grid/tile-selection.ts";
import type { FormatName, LayerName, ParametersId } from "../layer/tile-set.ts";
import type { OpenCells } from "../ledger/cells/cell-writers.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import { Slices } from "../lib/process/slices.ts";
import { sleep, turn } from "../lib/time/sleep.ts";
import { combinationsOf } from "../plan/parameters/combination.ts";
import { coversLevel, selectsStored } from "../plan/parameters/truncate-scope.ts";
import type { Purges } from "../purge/purges.ts";
import type { RenderControl } from "../render/render-control.ts";
import type { Database } from "../state/database.ts";
import type { InventoryStore, StoredPyramid } from "../store/inventory-store.ts";
import type { TileStore } from "../store/tile-store.ts";
import type { TruncationStore } from "../store/truncation-store.ts";
import type { Reclaim } from "../truncation/reclaim.ts";
import type { TruncationTarget } from "../truncation/recorded-truncation.ts";
import type { LedgerTruncations } from "../truncation/truncations.ts";
import type { ActiveJob } from "./active/active-job.ts";
import type { Task } from "./active/task.ts";
import type { Work } from "./work.ts";

export interface TruncatingParts extends Pick<ServiceParts, "ledger" | "clock" | "catalogue"> {
  readonly state: Pick<StateWriter, "marksCommitted" | "saveJobs">;
  readonly db: Pick<Database, "onRollback" | "transaction">;
  readonly store: Pick<TruncationStore, "deleteRange"> &
    Pick<InventoryStore, "pyramids" | "levels"> &
    Pick<TileStore, "parametersOf">;
  readonly ledgerTruncations: LedgerTruncations;
  readonly renders: Pick<RenderControl, "clearLayer">;
  readonly reclaim: Pick<Reclaim, "sweep">;
  readonly purges: Pick<Purges, "during" | "areaChanged" | "isOn">;
}

/** A level of a pyramid that a truncate works on. */
interface Level {
  readonly pyramid: StoredPyramid;
  readonly rect: TileRect;
  /** Whether the truncate covers the whole level. */
  readonly whole: boolean;
}

/**
 * The number of whole levels that are renamed between two turns of the event loop. Each takes some 0.1 ms, with
 * PostgreSQL 0.5 ms.
 */
const LEVELS_AT_ONCE = 32;

/**
 * Carries out truncates: removes whole levels by renames, and all other tiles by listing the store. The first step
 * starts a new generation, so that a render that began before it is not stored. The cost depends on the number of
 * stored tiles, not on the size of the range.
 */
export class Truncating implements Work {
  readonly #parts: TruncatingParts;

  constructor(parts: TruncatingParts) {
    this.#parts = parts;
  }

  step(job: ActiveJob, task: Task, signal: AbortSignal): Promise<boolean> {
    const { purges, db } = this.#parts;
    const { layer, ranges } = job.request;
    return purges.during(layer, async () => {
      try {
        return await this.#truncate(job, task, signal);
      } finally {
        // Also if the truncate was aborted: some of its tiles are gone. After a kill the job, which is not done yet,
        // comes here again.
        if (purges.isOn) db.transaction(() => purges.areaChanged(layer, ranges, "hard"));
      }
    });
  }

  async #truncate(job: ActiveJob, task: Task, signal: AbortSignal): Promise<boolean> {
    const { ledger, ledgerTruncations, reclaim, state } = this.#parts;
    const { layer, format } = job.request;
    const { selection } = job;
    if (job.wasInterrupted) await this.#recounted(signal);
    // Counts before the layer is blocked, because counting takes time in proportion to the number of blocks.
    const counted = await this.#count(job, signal);
    // Starts a new generation first, so that the levels listed after it contain all tiles of renders that began before
    // it.
    await ledgerTruncations.truncate(layer, () => []);
    const slices = new Slices(this.#parts.clock, signal);
    const levels = await slices.run(this.#levels(job));
    this.#book(job, task, levels, counted);
    const byListing = await this.#renamed(job, task, levels, slices);
    reclaim.sweep();
    if (byListing.length > 0) await this.#lateWritesEnded(layer, signal);
    const watch = ledger.writers.watch.begin(layer);
    let open: OpenCells | undefined;
    try {
      for (const { pyramid, rect } of byListing) {
        signal.throwIfAborted();
        await this.#parts.store.deleteRange(
          {
            ...pyramid,
            ...(format === null ? {} : { format }),
            ...(selection === undefined ? {} : { chosen: (x, y) => isSelected(selection, rect.z, x, y) }),
          },
          rect,
          {
            willDelete: async (tiles) => {
              if (open !== undefined) ledger.writers.close(open);
              open = ledger.writers.openTiles(pyramid, tiles);
              if (open.mustCommit) await state.marksCommitted(layer);
            },
            onDeleted: (tile) => {
              ledger.writers.removed({ ...pyramid, format: tile.format }, tile);
              job.bookDeleted(task, tile.z, 1n);
            },
          },
          signal,
        );
      }
    } finally {
      if (open !== undefined) ledger.writers.close(open);
      try {
        watch.end();
      } finally {
        // Clears the memory tiers even if the database is unavailable and the cells cannot be counted.
        if (byListing.length > 0) await this.#parts.renders.clearLayer(layer);
      }
    }
    job.tally.coverDeleted();
    // Eviction may have removed tiles after the truncate had counted them.
    job.skipRest(task);
    return false;
  }

  /**
   * Renames whole levels away, a few at a time, because a layer may have thousands of combinations of parameters.
   * Returns the levels whose tiles must be listed.
   */
  async #renamed(job: ActiveJob, task: Task, levels: readonly Level[], slices: Slices): Promise<readonly Level[]> {
    const { ledgerTruncations, state, db } = this.#parts;
    const { layer, format } = job.request;
    const whole = levels.filter(({ whole }) => whole);
    const byListing = levels.filter(({ whole }) => !whole);
    // Runs at least once: a kill must not lose the total before the first tile is deleted.
    for (let from = 0; from === 0 || from < whole.length; from += LEVELS_AT_ONCE) {
      const some = whole.slice(from, from + LEVELS_AT_ONCE);
      let counts: readonly { readonly z: Zoom; readonly tiles: bigint }[] = [];
      const plan = (): TruncationTarget[] => {
        // Checked only now, because a render may have stored the first tile of another format.
        const byRename = some.filter((level) => this.#isOnlyFormat(level, format));
        byListing.push(...some.filter((level) => !byRename.includes(level)));
        counts = byRename.map((level) => ({ z: level.rect.z, tiles: this.#sum(level, null) }));
        return byRename.map(({ pyramid, rect }) => ({ kind: "zooms", pyramid, zooms: [rect.z] }));
      };
      await ledgerTruncations.truncate(layer, plan, () => {
        for (const { z, tiles } of counts) job.bookDeleted(task, z, tiles);
        // The step is repeated when the database is available again.
        db.onRollback(() => {
          for (const { z, tiles } of counts) job.bookDeleted(task, z, -tiles);
        });
        state.saveJobs();
        return undefined;
      });
      await slices.next();
    }
    return byListing;
  }

  /**
   * Waits until no write of an earlier lost writer can reach the layer, because its tile would appear after the
   * deletion. Renames need no such wait, because the tile gets the old name.
   */
  async #lateWritesEnded(layer: LayerName, signal: AbortSignal): Promise<void> {
    const ms = this.#parts.ledger.doubted.lateMsIn(layer);
    if (ms > 0) await sleep(this.#parts.clock, ms, signal);
  }

  /** Recounts the cells that a kill left marked, so that the ledger contains exactly the stored tiles. */
  async #recounted(signal: AbortSignal): Promise<void> {
    while (this.#parts.ledger.doubted.countSome(16)) {
      signal.throwIfAborted();
      await turn(this.#parts.clock);
    }
  }

  /**
   * Counts the stored tiles of levels that the truncate covers only partly. Runs in slices, so that the coordinator can
   * do other work in between.
   */
  async #count(job: ActiveJob, signal: AbortSignal): Promise<ReadonlyMap<string, bigint>> {
    const slices = new Slices(this.#parts.clock);
    const counted = new Map<string, bigint>();
    for (const level of await slices.run(this.#levels(job))) {
      if (level.whole) continue;
      signal.throwIfAborted();
      counted.set(levelKey(level), await slices.run(this.#countStored(level, job.request.format, job.selection)));
    }
    return counted;
  }

  /**
   * Adds the number of stored tiles to the total of the job. After a restart, tiles of the total that are gone count as
   * deleted, because the kill may have lost their count. Tiles of a level that was created after `counted` are counted
   * when they are deleted.
   */
  #book(job: ActiveJob, task: Task, levels: readonly Level[], counted: ReadonlyMap<string, bigint>): void {
    const { request, tally } = job;
    const isFirst = tally.sum.total === 0n && tally.sum.deleted === 0n;
    const left = new Map(tally.zooms.map(({ z }) => [z, 0n]));
    for (const level of levels) {
      const { z } = level.rect;
      const stored = level.whole ? this.#sum(level, request.format) : (counted.get(levelKey(level)) ?? 0n);
      left.set(z, (left.get(z) ?? 0n) + stored);
    }
    for (const [z, stored] of left) {
      const { total, deleted } = tally.of(z);
      const gone = total - deleted - stored;
      if (isFirst) job.tally.add(z, { total: stored });
      else if (gone > 0n) job.bookDeleted(task, z, gone);
    }
  }

  /** Returns the stored levels in the range of a job. Yields regularly. */
  *#levels(job: ActiveJob): Generator<undefined, Level[]> {
    const { store, catalogue, ledger } = this.#parts;
    const { layer: name, ranges, bounds } = job.request;
    const hasSelection = job.selection !== undefined;
    const layer = catalogue().layers.get(name);
    const known = ranges.map((r) => r.gridSet);
    const stored = (): readonly ParametersId[] => [
      ...new Set([
        ...store.pyramids(name, known).map((p) => p.parametersId),
        ...[...ledger.tileSets()].filter((t) => t.tileSet.layer === name).map((t) => t.tileSet.parametersId),
      ]),
    ];
    const named = combinationsOf(job.request)?.map(({ parametersId }) => parametersId);
    const ids = named ?? stored().filter(selectsStored(job.request, layer, store));
    const levels: Level[] = [];
    for (const { gridSet, rects } of ranges)
      for (const id of ids) {
        const pyramid = { layer: name, gridSet, parametersId: id };
        const existing = new Set(store.levels(pyramid));
        for (const rect of rects)
          if (existing.has(rect.z))
            levels.push({ pyramid, rect, whole: coversLevel({ bounds, hasSelection }, layer, gridSet, rect) });
        yield;
      }
    return levels;
  }

  /** Returns the number of stored tiles of a level, of one format or of all formats, from the sums of the ledger. */
  #sum({ pyramid, rect }: Level, format: FormatName | null): bigint {
    let sum = 0n;
    for (const { tileSet, sums } of this.#parts.ledger.tileSetsOf(pyramid))
      if (format === null || tileSet.format === format) sum += sums.get(rect.z)?.tiles ?? 0n;
    return sum;
  }

  /** Counts the stored tiles in the part of a level that the truncate covers. */
  *#countStored(
    { pyramid, rect }: Level,
    format: FormatName | null,
    selection?: TileSelection,
  ): Generator<undefined, bigint> {
    const { ledger } = this.#parts;
    let sum = 0n;
    for (const { tileSet } of ledger.tileSetsOf(pyramid))
      if (format === null || tileSet.format === format) sum += yield* ledger.countStored(tileSet, rect, selection);
    return sum;
  }

  /**
   * Returns whether a level can be renamed away. The formats of a pyramid share directories, so no other format may
   * have a tile in the level.
   */
  #isOnlyFormat({ pyramid, rect }: Level, format: FormatName | null): boolean {
    if (format === null) return true;
    const tileSets = this.#parts.ledger.tileSetsOf(pyramid);
    for (const { tileSet, complete, sums } of tileSets) {
      if (!complete || (tileSet.format !== format && (sums.get(rect.z)?.tiles ?? 0n) > 0n)) return false;
    }
    // A pyramid without a record in the ledger may contain any format.
    return tileSets.length > 0;
  }
}

const levelKey = ({ pyramid, rect }: Level): string => JSON.stringify([pyramid.gridSet, pyramid.parametersId, rect]);
