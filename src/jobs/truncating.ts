import { setImmediate as turn } from "node:timers/promises";
import { matrixRect, rectCount, type TileRect } from "../grid/grid-set.ts";
import { isSelected, type TileSelection } from "../grid/tile-selection.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { findSubset } from "../layer/layer.ts";
import type { Ledger, OpenCells } from "../ledger/ledger.ts";
import { Slices } from "../lib/slices.ts";
import { combinationsOf } from "../plan/combination.ts";
import { chooser } from "../plan/value-choice.ts";
import type { StoredPyramid, TileStore } from "../store/tile-store.ts";
import type { LedgerTruncations, TruncationTarget } from "../truncation/truncations.ts";
import type { ActiveJob, Task } from "./active-job.ts";
import type { Work } from "./job-runner.ts";

export interface TruncationParts {
  readonly ledger: Ledger;
  /** Resolves once the marks of opened cells are on the disk. */
  readonly marksCommitted: () => Promise<void>;
  readonly store: TileStore;
  readonly ledgerTruncations: LedgerTruncations;
  readonly catalogue: () => Catalogue;
  /** Empties the memory tier of a layer. */
  readonly forget: (layer: string) => Promise<void>;
  /** Writes what jobs have counted; inside a transaction. */
  readonly saveCounts: () => void;
  /** Space can be reclaimed. */
  readonly sweep: () => void;
}

/** A level of a pyramid that a truncate works on. */
interface Level {
  readonly pyramid: StoredPyramid;
  readonly rect: TileRect;
  /** The rectangle is all that the layer offers of the level. */
  readonly whole: boolean;
}

/**
 * Truncate: whole levels go by renames, the rest by listing the store. The first step starts a new generation, so that
 * nothing rendered before it can be kept after it. What it costs follows the tiles that exist.
 */
export class Truncation implements Work {
  readonly #parts: TruncationParts;

  constructor(parts: TruncationParts) {
    this.#parts = parts;
  }

  async step(job: ActiveJob, task: Task, signal: AbortSignal): Promise<boolean> {
    const { ledger, ledgerTruncations, sweep, marksCommitted, saveCounts } = this.#parts;
    const { layer, format } = job.request;
    const { selection } = job;
    let byListing: readonly Level[] = [];
    if (job.resumed) await this.#recounted(signal);
    // Before the layer is blocked, as it takes as long as there are blocks.
    const counted = await this.#count(job, signal);
    // Even with nothing to rename: no render begun before may be kept after.
    const plan = (): TruncationTarget[] => {
      // Not sooner: what is just being rendered may be the first of its level.
      const levels = this.#levels(job);
      this.#book(job, task, levels, counted);
      job.dirty = true;
      const byRename = levels.filter((level) => level.whole && this.#aloneInPlace(level, format));
      byListing = levels.filter((level) => !byRename.includes(level));
      for (const level of byRename) {
        const gone = this.#sum(level, null);
        job.counts.add(level.rect.z, { deleted: gone });
        task.processed += gone;
      }
      return byRename.map(({ pyramid, rect }) => ({ kind: "zooms", pyramid, zooms: [rect.z] }));
    };
    await ledgerTruncations.drop(layer, plan, () => {
      saveCounts();
      return undefined;
    });
    sweep();
    const watch = ledger.watch(layer);
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
              if (open !== undefined) ledger.close(open);
              open = ledger.openTiles(pyramid, tiles);
              if (open.mustCommit) await marksCommitted();
            },
            onDeleted: (tile) => {
              ledger.removed({ ...pyramid, format: tile.format }, tile);
              job.counts.add(tile.z, { deleted: 1n });
              task.processed++;
              job.dirty = true;
            },
          },
          signal,
        );
      }
    } finally {
      if (open !== undefined) ledger.close(open);
      watch.end();
      if (byListing.length > 0) await this.#parts.forget(layer);
    }
    job.counts.coverDeleted();
    // The quota may have evicted tiles after the truncate had counted them.
    task.processed += job.counts.skipRest();
    return false;
  }

  /** What a kill left open is counted: after it the ledger knows what is left. */
  async #recounted(signal: AbortSignal): Promise<void> {
    while (this.#parts.ledger.recountSome(16)) {
      signal.throwIfAborted();
      await turn();
    }
  }

  /** How much is kept of the levels of which only a part is meant. In slices: others have their turn meanwhile. */
  async #count(job: ActiveJob, signal: AbortSignal): Promise<ReadonlyMap<string, bigint>> {
    const slices = new Slices();
    const counted = new Map<string, bigint>();
    for (const level of this.#levels(job)) {
      if (level.whole) continue;
      signal.throwIfAborted();
      counted.set(levelKey(level), await slices.run(this.#kept(level, job.request.format, job.selection)));
    }
    return counted;
  }

  /**
   * How much there is. Of what there was at the start, what is gone was deleted, though a kill may have lost the count. A level
   * that was born since `counted` was is counted as it is deleted.
   */
  #book(job: ActiveJob, task: Task, levels: readonly Level[], counted: ReadonlyMap<string, bigint>): void {
    const { request, counts } = job;
    const isFirst = counts.sum.total === 0n && counts.sum.deleted === 0n;
    const left = new Map(counts.zooms.map((z) => [z, 0n]));
    for (const level of levels) {
      const { z } = level.rect;
      const kept = level.whole ? this.#sum(level, request.format) : (counted.get(levelKey(level)) ?? 0n);
      left.set(z, (left.get(z) ?? 0n) + kept);
    }
    for (const [z, kept] of left) {
      const { total, deleted } = counts.of(z);
      const gone = total - deleted - kept;
      if (isFirst) counts.add(z, { total: kept });
      else if (gone > 0n) {
        counts.add(z, { deleted: gone });
        task.processed += gone;
      }
    }
  }

  #levels(job: ActiveJob): Level[] {
    const { store, catalogue, ledger } = this.#parts;
    const { layer: name, ranges, parametersChosen, bounds } = job.request;
    const layer = catalogue().layers.get(name);
    const known = ranges.map((r) => r.gridSet);
    const kept = (): readonly string[] => [
      ...new Set([
        ...store.pyramids(name, known).map((p) => p.parametersId),
        ...[...ledger.tileSets()].filter((t) => t.tileSet.layer === name).map((t) => t.tileSet.parametersId),
      ]),
    ];
    const isChosen =
      parametersChosen &&
      chooser(
        parametersChosen.map((set) => new Map(set)),
        layer?.parameterFilters ?? [],
      );
    const isSelected = (id: string): boolean => {
      if (isChosen === undefined) return true;
      const values = id === "" ? {} : store.parametersOf(name, id);
      return values !== undefined && isChosen(values);
    };
    const named = combinationsOf(job.request)?.map(({ parametersId }) => parametersId);
    const ids = named ?? kept().filter(isSelected);
    return ranges.flatMap(({ gridSet, rects }) =>
      ids.flatMap((id) => {
        const pyramid = { layer: name, gridSet, parametersId: id };
        const existing = new Set(store.levels(pyramid));
        return rects
          .filter((rect) => existing.has(rect.z))
          .map((rect) => ({
            pyramid,
            rect,
            whole:
              job.selection === undefined &&
              (bounds === null || coversMatrix(layer && findSubset(layer, gridSet), rect)),
          }));
      }),
    );
  }

  /** What is kept of a level, of one format or of all, as the sums say. */
  #sum({ pyramid, rect }: Level, format: string | null): bigint {
    let sum = 0n;
    for (const { tileSet, sums } of this.#parts.ledger.tileSetsOf(pyramid))
      if (format === null || tileSet.format === format) sum += sums.get(rect.z)?.tiles ?? 0n;
    return sum;
  }

  /** The same of the part of a level that is meant. */
  *#kept({ pyramid, rect }: Level, format: string | null, selection?: TileSelection): Generator<undefined, bigint> {
    const { ledger } = this.#parts;
    let sum = 0n;
    for (const { tileSet } of ledger.tileSetsOf(pyramid))
      if (format === null || tileSet.format === format) sum += yield* ledger.countStored(tileSet, rect, selection);
    return sum;
  }

  /** Formats share their directories: one format may take the directory away only when no other has a tile there. */
  #aloneInPlace({ pyramid, rect }: Level, format: string | null): boolean {
    if (format === null) return true;
    const tileSets = this.#parts.ledger.tileSetsOf(pyramid);
    for (const { tileSet, complete, sums } of tileSets) {
      if (!complete || (tileSet.format !== format && (sums.get(rect.z)?.tiles ?? 0n) > 0n)) return false;
    }
    // A pyramid that the ledger has never seen may hold anything.
    return tileSets.length > 0;
  }
}

const levelKey = ({ pyramid, rect }: Level): string => JSON.stringify([pyramid.gridSet, pyramid.parametersId, rect]);

function coversMatrix(subset: ReturnType<typeof findSubset>, rect: TileRect): boolean {
  return subset !== undefined && rectCount(matrixRect(subset.gridSet, rect.z)) === rectCount(rect);
}
