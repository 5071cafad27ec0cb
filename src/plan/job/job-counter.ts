import type { TileRect } from "../../grid/grid-set.ts";
import { indexInSteps } from "../../grid/selection.ts";
import type { TileSelection } from "../../grid/tile-selection.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { atOnce, Slices } from "../../lib/process/slices.ts";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { countTiles } from "../count-tiles.ts";
import { combinationsOf } from "../parameters/combination.ts";
import { JobCounts } from "./job-counts.ts";
import type { JobRequest } from "./job-request.ts";

export interface JobCounterParts {
  readonly ledger: Pick<Ledger, "countStored" | "clock">;
  /** Waits until the cells that a crash left marked are recounted. */
  readonly recounted: () => Promise<void>;
  /** Returns whether all tiles of a layer have been counted. */
  readonly isCounted: (layer: LayerName) => boolean;
}

/** Counts the totals of jobs: ranges by arithmetic, stored tiles from the ledger, never from the store. */
export class JobCounter {
  readonly #parts: JobCounterParts;

  constructor(parts: JobCounterParts) {
    this.#parts = parts;
  }

  /**
   * Returns the totals of a job.
   * @throws the reason of the slices' signal
   */
  async count(request: JobRequest, slices = new Slices(this.#parts.ledger.clock)): Promise<Result<JobCounts, Refusal>> {
    if (request.onlyExisting !== true) return ok(await countTiles(request, slices));
    await this.#parts.recounted();
    if (!this.#parts.isCounted(request.layer)) return refuse(notCounted(request.layer));
    const counts = new JobCounts();
    await slices.run(this.#countStored(request, counts));
    return ok(counts);
  }

  /** Returns the number of stored tiles in a small part of a job's range. */
  storedIn(tileSet: TileSet, rect: TileRect, selection: TileSelection | undefined): bigint {
    return atOnce(this.#parts.ledger.countStored(tileSet, rect, selection));
  }

  *#countStored(
    { ranges, layer, format, selection, ...request }: JobRequest,
    counts: JobCounts,
  ): Generator<undefined, void> {
    if (format === null) return;
    const index = selection === undefined ? undefined : yield* indexInSteps(selection);
    for (const { parametersId } of combinationsOf(request) ?? []) {
      for (const { gridSet, rects } of ranges) {
        const tileSet = { layer, gridSet, format, parametersId };
        for (const rect of rects) {
          const total = yield* this.#parts.ledger.countStored(tileSet, rect, index);
          counts.add(rect.z, { total });
        }
      }
    }
  }
}

const notCounted = (layer: LayerName): Refusal =>
  conflict(
    `The stored tiles of ${layer} are still being counted: onlyExisting has to wait until its usage is complete.`,
  );
