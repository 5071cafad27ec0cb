import { rectCount, type TileIndex, type TileRect, type TileX, type TileY, type Zoom } from "../../grid/grid-set.ts";
import type { JobStore } from "../../jobs/record/job-store.ts";
import type { StoredJob } from "../../jobs/record/stored-job.ts";
import { valueAt } from "../../layer/by-zoom.ts";
import { coverageAt } from "../../layer/grid-subset.ts";
import { findSubset } from "../../layer/layer.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import { mayBeMarked } from "../../layer/update-source.ts";
import { Slices } from "../../lib/process/slices.ts";
import { combinationsOf } from "../../plan/parameters/combination.ts";
import type { EvictedCells } from "../../quota/evicted-cells.ts";
import { STALE_BEFORE_MS } from "../../store/stale-time.ts";
import type { BuildContext, CountedParts } from "../coordinator-parts.ts";
import type { CoverageView, LevelView } from "./coverage-documents.ts";
import { CoverageSquares } from "./coverage-squares.ts";
import { TileAges } from "./tile-ages.ts";

export interface CoverageServiceParts extends CountedParts, Pick<BuildContext, "store" | "renders" | "clock"> {
  readonly jobs: Pick<JobStore, "list" | "failures">;
  readonly evictedCells: Pick<EvictedCells, "in" | "evictedAt">;
  /** Returns for each layer the time before which tiles were truncated softly, ms since 1970. */
  readonly softTimes: () => ReadonlyMap<LayerName, number>;
}

export interface CoverageRequest {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  /**
   * Selects the failed tiles of this job. Undefined for failed tiles of the layer's latest jobs that are not stored.
   */
  readonly job: number | undefined;
}

/** The number of the layer's latest jobs whose failed tiles are shown. */
const JOBS_WITH_FAILURES = 50;
const FAILED_PAGE = 1_000;

/** Shows which tiles of a tile set are stored, stale, failed, being rendered or evicted. */
export class CoverageService {
  readonly #parts: CoverageServiceParts;

  constructor(parts: CoverageServiceParts) {
    this.#parts = parts;
  }

  /** Returns the state of each tile, or of each cell, of a rectangle. @throws the reason of the signal */
  async coverage({ tileSet, rect, job }: CoverageRequest, signal: AbortSignal): Promise<CoverageView> {
    const { renders, recounted, evictedCells } = this.#parts;
    const inFlight = await renders.inFlight(tileSet);
    await recounted();
    const slices = new Slices(this.#parts.clock, signal);
    const squares = new CoverageSquares(rect);
    for (const cell of evictedCells.in(tileSet, squares.rect)) {
      if (squares.step > 1) squares.mark(cell.rect.minX, cell.rect.minY, "evicted");
      else for (const { x, y } of cell.tiles()) squares.mark(x, y, "evicted");
    }
    await this.#markStored(tileSet, squares, slices);
    await this.#eachFailed(tileSet, job, slices, ({ x, y, z }) => {
      if (z === rect.z) squares.mark(x, y, "failed");
    });
    for (const metatile of inFlight) if (metatile.z === rect.z) squares.markAll(metatile, "drawing");
    const { x0, y0, width, height, step } = squares;
    return { z: rect.z, x0, y0, width, height, step, ...squares.runs() };
  }

  /**
   * Returns when the quota evicted a tile, ms since 1970. Undefined if it did not in the last hour, or has forgotten
   * it.
   */
  async evictedAt(tileSet: TileSet, tile: TileIndex): Promise<number | undefined> {
    return this.#parts.evictedCells.evictedAt(tileSet, tile);
  }

  /** Returns the number of tiles of each state by level. @throws the reason of the signal */
  async coverageLevels(tileSet: TileSet, signal: AbortSignal): Promise<readonly LevelView[]> {
    const { ledger, store, recounted, catalogue } = this.#parts;
    const layer = catalogue().layers.get(tileSet.layer);
    const subset = layer && findSubset(layer, tileSet.gridSet);
    if (subset === undefined) return [];
    await recounted();
    const slices = new Slices(this.#parts.clock, signal);
    const ages = new TileAges({ store, tileSet });
    const failed = new Map<number, Set<string>>();
    await this.#eachFailed(tileSet, undefined, slices, ({ x, y, z }) => {
      const tiles = failed.get(z) ?? new Set<string>();
      failed.set(z, tiles.add(`${x}/${y}`));
    });
    const levels: LevelView[] = [];
    for (let z = subset.zoomStart; z <= subset.zoomStop; z++) {
      const rect = coverageAt(subset, z);
      if (rect === undefined) continue;
      const stale = await this.#countStale(tileSet, rect, ages, slices);
      const known = ledger.tileSetsOf(tileSet).find((one) => one.tileSet.format === tileSet.format);
      const stored = known?.sums.get(z)?.tiles ?? 0n;
      const kept = stored > (stale ?? 0n) ? stored - (stale ?? 0n) : 0n;
      levels.push({ z, total: rectCount(rect), kept, stale, failed: BigInt(failed.get(z)?.size ?? 0) });
    }
    return levels;
  }

  /** Returns the time before which tiles of a zoom are stale, ms since 1970. 0 if no tile is stale. */
  #staleBefore(name: LayerName, z: Zoom): number {
    const { softTimes, clock, catalogue } = this.#parts;
    const layer = catalogue().layers.get(name);
    const seconds = layer === undefined ? 0 : valueAt(layer.expireCacheSeconds, z);
    return Math.max(
      softTimes().get(name) ?? 0,
      seconds > 0 ? clock.now() - seconds * 1000 : 0,
      layer !== undefined && mayBeMarked(layer) ? STALE_BEFORE_MS : 0,
    );
  }

  /** Marks the squares that have stored tiles. */
  async #markStored(tileSet: TileSet, squares: CoverageSquares, slices: Slices): Promise<void> {
    const { ledger, store } = this.#parts;
    const staleBefore = this.#staleBefore(tileSet.layer, squares.rect.z);
    const ages = new TileAges({ store, tileSet });
    for (const cells of ledger.storedCells(tileSet, squares.rect))
      for (const cell of cells) {
        if (squares.step > 1) {
          const { minX, minY } = cell.rect;
          squares.mark(minX, minY, ages.hasBefore(cell, staleBefore) ? "stale" : "kept");
        } else {
          for (const tile of cell.tilesInRect())
            squares.mark(tile.x, tile.y, ages.isBefore(cell, tile, staleBefore) ? "stale" : "kept");
        }
        if (slices.isOver) await slices.next();
      }
  }

  /** Counts the stale tiles of a level. Null if the level has more cells than one answer may count. */
  async #countStale(tileSet: TileSet, rect: TileRect, ages: TileAges, slices: Slices): Promise<bigint | null> {
    const staleBefore = this.#staleBefore(tileSet.layer, rect.z);
    if (staleBefore === 0) return 0n;
    let stale = 0n;
    for (const cells of this.#parts.ledger.storedCells(tileSet, rect))
      for (const cell of cells) {
        const count = ages.countBefore(cell, staleBefore);
        if (count === undefined) return null;
        stale += BigInt(count);
        if (slices.isOver) await slices.next();
      }
    return stale;
  }

  /** Visits the failed tiles of one job, or the failed tiles of the layer's latest jobs that are not stored. */
  async #eachFailed(
    tileSet: TileSet,
    job: number | undefined,
    slices: Slices,
    visit: (tile: { readonly x: TileX; readonly y: TileY; readonly z: Zoom }) => void,
  ): Promise<void> {
    const { jobs, ledger } = this.#parts;
    const selected = jobs.list(
      job === undefined ? { layer: tileSet.layer, limit: JOBS_WITH_FAILURES } : { ids: [job], limit: 1 },
    );
    for (const { id, request } of selected) {
      const numbers = combinationNumbers(request, tileSet);
      if (numbers === undefined) continue;
      for (let after: number | null = 0; after !== null; ) {
        const page = jobs.failures.page(id, { after, limit: FAILED_PAGE });
        for (const { x, y, z, combination } of page.tiles) {
          if (!numbers.has(combination)) continue;
          if (job !== undefined || !ledger.has(tileSet, { x, y, z })) visit({ x, y, z });
        }
        after = page.next;
        if (slices.isOver) await slices.next();
      }
    }
  }
}

/**
 * Returns the numbers of a tile set's combinations in a job's request. Undefined if the job does not have the tile set.
 */
function combinationNumbers(request: StoredJob["request"], tileSet: TileSet): ReadonlySet<number> | undefined {
  if (request.gridSet !== tileSet.gridSet || request.format !== tileSet.format) return undefined;
  const combinations = combinationsOf(request) ?? [];
  const numbers = combinations.flatMap(({ parametersId }, i) => (parametersId === tileSet.parametersId ? [i] : []));
  return numbers.length === 0 ? undefined : new Set(numbers);
}
