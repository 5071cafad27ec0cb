import { rectCount, type TileRect } from "../grid/grid-set.ts";
import type { JobStore } from "../jobs/job-store.ts";
import type { StoredJob } from "../jobs/stored-job.ts";
import { valueAt } from "../layer/by-zoom.ts";
import { coverageAt, type GridSubset, type Layer } from "../layer/layer.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { StoredCell } from "../ledger/stored-cells.ts";
import { Slices } from "../lib/slices.ts";
import { combinationsOf } from "../plan/combination.ts";
import { ifAvailable } from "../store/tile-store.ts";
import type { BuildContext, CountedParts } from "./coordinator-parts.ts";
import { CoverageSquares, type Runs, type SquareState } from "./coverage-squares.ts";

export interface CoverageServiceParts extends CountedParts, Pick<BuildContext, "store" | "gate" | "now"> {
  readonly jobs: Pick<JobStore, "find" | "list" | "failedTilePage">;
  /** Returns by layer the time before which tiles were truncated softly. */
  readonly softTimes: () => ReadonlyMap<string, number>;
}

export interface CoverageRequest {
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  /** Only the failed tiles of this job. Undefined: those of the layer's latest jobs, as far as they are not stored. */
  readonly job: number | undefined;
}

export interface CoverageView extends Readonly<Record<SquareState, Runs>> {
  readonly z: number;
  readonly x0: number;
  readonly y0: number;
  readonly width: number;
  readonly height: number;
  readonly step: number;
}

export interface LevelView {
  readonly z: number;
  readonly total: bigint;
  readonly kept: bigint;
  readonly stale: bigint;
  readonly failed: bigint;
}

/** The number of the layer's latest jobs whose failed tiles are shown. */
const JOBS_WITH_FAILURES = 50;
const FAILED_PAGE = 1_000;
/** The most tiles whose age is read from the store for one answer. Beyond it, a cell is as old as its oldest tile. */
const MOST_STATS = 65_536;

/** Shows which tiles of a tile set are stored, stale, failed or being rendered. */
export class CoverageService {
  readonly #parts: CoverageServiceParts;

  constructor(parts: CoverageServiceParts) {
    this.#parts = parts;
  }

  /** Returns the state of each tile, or each cell, of a rectangle. @throws the reason of the signal */
  async coverage({ tileSet, rect, job }: CoverageRequest, signal: AbortSignal): Promise<CoverageView> {
    const { gate, recounted } = this.#parts;
    const drawing = await gate.inFlight(tileSet);
    await recounted();
    const slices = new Slices(signal);
    const squares = new CoverageSquares(rect);
    await this.#eachStored(tileSet, rect, slices, {
      tile: (x, y, isStale) => squares.mark(x, y, isStale ? "stale" : "kept"),
      cell: (cell, isStale) => {
        const state = isStale ? "stale" : "kept";
        const { minX, minY } = cell.rect;
        if (squares.step > 1) squares.mark(minX, minY, state);
        else eachTile(cell, (x, y) => squares.mark(x, y, state));
      },
    });
    await this.#eachFailed(tileSet, job, slices, ({ x, y, z }) => {
      if (z === rect.z) squares.mark(x, y, "failed");
    });
    for (const metatile of drawing) if (metatile.z === rect.z) squares.markAll(metatile, "drawing");
    const { x0, y0, width, height, step } = squares;
    return { z: rect.z, x0, y0, width, height, step, ...squares.runs() };
  }

  /** Returns the tiles of each state by level. @throws the reason of the signal */
  async coverageLevels(tileSet: TileSet, signal: AbortSignal): Promise<readonly LevelView[]> {
    const { ledger, recounted } = this.#parts;
    const subset = this.#subsetOf(tileSet);
    if (subset === undefined) return [];
    await recounted();
    const slices = new Slices(signal);
    const failed = new Map<number, Set<string>>();
    await this.#eachFailed(tileSet, undefined, slices, ({ x, y, z }) => {
      const tiles = failed.get(z) ?? new Set<string>();
      failed.set(z, tiles.add(`${x}/${y}`));
    });
    const levels: LevelView[] = [];
    for (let z = subset.zoomStart; z <= subset.zoomStop; z++) {
      const rect = coverageAt(subset, z);
      if (rect === undefined) continue;
      let stale = 0n;
      if (this.#staleBefore(tileSet.layer, z) > 0)
        await this.#eachStored(tileSet, rect, slices, {
          tile: (_x, _y, isStale) => {
            if (isStale) stale++;
          },
          cell: ({ tiles }, isStale) => {
            if (isStale) stale += BigInt(tiles);
          },
        });
      const known = ledger.tileSetsOf(tileSet).find((one) => one.tileSet.format === tileSet.format);
      const stored = known?.sums.get(z)?.tiles ?? 0n;
      const kept = stored > stale ? stored - stale : 0n;
      levels.push({ z, total: rectCount(rect), kept, stale, failed: BigInt(failed.get(z)?.size ?? 0) });
    }
    return levels;
  }

  #subsetOf({ layer, gridSet }: TileSet): GridSubset | undefined {
    return this.#layer(layer)?.gridSubsets.find((subset) => subset.gridSet.id === gridSet);
  }

  #layer(name: string): Layer | undefined {
    return this.#parts.catalogue().layers.get(name);
  }

  /** Returns the time before which tiles of a level are stale, ms since 1970; 0: none are. */
  #staleBefore(name: string, z: number): number {
    const { softTimes, now } = this.#parts;
    const layer = this.#layer(name);
    const seconds = layer === undefined ? 0 : valueAt(layer.expireCacheSeconds, z);
    return Math.max(softTimes().get(name) ?? 0, seconds > 0 ? now() - seconds * 1000 : 0);
  }

  /**
   * Visits the stored tiles of a rectangle: cells that are fresh as a whole, and the tiles of other cells one by one.
   * After `MOST_STATS` tiles of which the age was read, a cell is stale as a whole.
   */
  async #eachStored(
    tileSet: TileSet,
    rect: TileRect,
    slices: Slices,
    visit: {
      readonly tile: (x: number, y: number, isStale: boolean) => void;
      readonly cell: (cell: StoredCell, isStale: boolean) => void;
    },
  ): Promise<void> {
    const { ledger, store } = this.#parts;
    const staleBefore = this.#staleBefore(tileSet.layer, rect.z);
    let stats = 0;
    for (const cells of ledger.storedCells(tileSet, rect)) {
      for (const cell of cells) {
        const mayBeStale = cell.oldestMs < staleBefore;
        if (!mayBeStale || stats > MOST_STATS) visit.cell(cell, mayBeStale);
        else
          eachTile(cell, (x, y) => {
            stats++;
            const found = ifAvailable(() => store.stat({ tileSet, x, y, z: rect.z }));
            visit.tile(x, y, (found?.modifiedMs ?? cell.oldestMs) < staleBefore);
          });
      }
      if (slices.isOver) await slices.next();
    }
  }

  /** Visits the failed tiles of one job, or those of the layer's latest jobs that are not stored. */
  async #eachFailed(
    tileSet: TileSet,
    job: number | undefined,
    slices: Slices,
    visit: (tile: { readonly x: number; readonly y: number; readonly z: number }) => void,
  ): Promise<void> {
    const { jobs, ledger } = this.#parts;
    const one = job === undefined ? undefined : jobs.find(job);
    const latest =
      job === undefined
        ? jobs.list({ layer: tileSet.layer, limit: JOBS_WITH_FAILURES })
        : one === undefined
          ? []
          : [one];
    for (const { id, request } of latest) {
      const numbers = combinationNumbers(request, tileSet);
      if (numbers === undefined) continue;
      for (let after: number | null = 0; after !== null; ) {
        const page = jobs.failedTilePage(id, after, FAILED_PAGE);
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

/** Visits the stored tiles of a cell that lie in its rectangle. */
function eachTile({ rect: { minX, minY, maxX, maxY }, has }: StoredCell, visit: (x: number, y: number) => void): void {
  for (let y = minY; y <= maxY; y++) for (let x = minX; x <= maxX; x++) if (has(x, y)) visit(x, y);
}

/** Returns the numbers of a tile set's combinations in a job's request; undefined: the job has another tile set. */
function combinationNumbers(request: StoredJob["request"], tileSet: TileSet): ReadonlySet<number> | undefined {
  if (request.gridSet !== tileSet.gridSet || request.format !== tileSet.format) return undefined;
  const combinations = combinationsOf(request) ?? [];
  const numbers = combinations.flatMap(({ parametersId }, i) => (parametersId === tileSet.parametersId ? [i] : []));
  return numbers.length === 0 ? undefined : new Set(numbers);
}
