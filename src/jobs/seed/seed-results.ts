import type { TileX, TileY } from "../../grid/grid-set.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import { isWanted, type RenderFailure, type RenderOutcome } from "../../render/render-order.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { Task } from "../active/task.ts";
import { failureLimitReason } from "../failure-limits.ts";
import type { FailedTileStore } from "../record/failed-tile-store.ts";
import { type FailedTile, MOST_FAILED_TILES } from "../record/failed-tile-store.ts";
import { JobAborted } from "../work.ts";
import type { TakenMetatile, WantedMetatile } from "./seed-metatile.ts";

type Stored = Extract<RenderOutcome, { readonly kind: "stored" }>;

export interface SeedResultsParts {
  readonly state: Pick<StateWriter, "writeAll">;
  readonly jobs: { readonly failures: Pick<FailedTileStore, "add"> };
  /** Logs failed tiles of a layer. */
  readonly failedTiles: (layer: LayerName, failure: RenderFailure, tiles: number) => void;
}

/** Counts the metatiles that a job has finished, and stores which tiles have failed. */
export class SeedResults {
  readonly #parts: SeedResultsParts;

  constructor(parts: SeedResultsParts) {
    this.#parts = parts;
  }

  /**
   * Counts a metatile as stored: its wanted tiles as stored or unchanged, all other counted tiles as skipped. If the
   * upstream has no tile, all tiles count as skipped.
   */
  stored(job: ActiveJob, task: Task, { metatile, wanted }: WantedMetatile, outcome: Stored): void {
    if (outcome.hasNoTile === true) {
      this.skipped(job, task, metatile);
      return;
    }
    const { unchanged: same, bytes } = outcome;
    const { all, worked } = countTiles(metatile, wanted);
    // Only a reseed counts unchanged tiles. A seed renders missing and expired tiles, and an expired tile is renewed
    // even if its picture is the same.
    const isReseed = job.request.type === "reseed";
    const isWorked = ({ x, y }: { readonly x: TileX; readonly y: TileY }): boolean =>
      metatile.isCounted(x, y) && isWanted(wanted, metatile.rect, x, y);
    const unchanged = isReseed ? BigInt(same.filter(isWorked).length) : 0n;
    const counts = { skipped: all - worked, unchanged, stored: worked - unchanged, bytes: BigInt(bytes) };
    job.finish(task, metatile.n, metatile.rect.z, counts, all);
  }

  /** Counts all tiles of a metatile as skipped, because no tile was wanted, or because the upstream has no tile. */
  skipped(job: ActiveJob, task: Task, metatile: TakenMetatile): void {
    const { all } = countTiles(metatile, null);
    job.finish(task, metatile.n, metatile.rect.z, { skipped: all }, all);
  }

  /**
   * Counts the wanted tiles of a metatile as failed, and stores them.
   * @throws JobAborted if the job has reached a failure limit
   */
  failed(job: ActiveJob, task: Task, { metatile, wanted }: WantedMetatile, failure: RenderFailure): void {
    const { combination, rect, counted, isCounted } = metatile;
    const before = job.tally.sum.failed;
    const { all, worked } = countTiles(metatile, wanted);
    job.finish(task, metatile.n, rect.z, { skipped: all - worked, failed: worked }, all);
    const tiles: FailedTile[] = [];
    for (let y = counted.minY; y <= counted.maxY; y++) {
      for (let x = counted.minX; x <= counted.maxX; x++) {
        if (isCounted(x, y) && isWanted(wanted, rect, x, y))
          tiles.push({ z: rect.z, x, y, combination, class: failure.failure, message: failure.message });
      }
    }
    const { x, y } = tiles[0] ?? { x: counted.minX, y: counted.minY };
    job.tally.addError(failure.failure, failure.message, Number(worked), [x, y, counted.z]);
    if (before < BigInt(MOST_FAILED_TILES))
      this.#parts.state.writeAll(() => this.#parts.jobs.failures.add(job.id, tiles));
    this.#parts.failedTiles(job.request.layer, failure, Number(worked));
    const reason = failureLimitReason(job.request, job.tally.sum, "going on");
    if (reason !== undefined) throw new JobAborted(`${reason}, last: ${failure.message}`);
  }

  /**
   * Checks the failure limits when the last task has found no more work.
   * @throws JobAborted
   */
  close(job: ActiveJob, task: Task): void {
    // Some tiles that existed when the job was accepted have been deleted or renewed by another writer since.
    if (job.request.onlyExisting === true) job.skipRest(task);
    const reason = failureLimitReason(job.request, job.tally.sum, "all done");
    if (reason !== undefined) throw new JobAborted(reason);
  }
}

/** Returns the number of tiles of a metatile that the job counts, and the number of wanted tiles among them. */
function countTiles(
  { rect, counted, isCounted }: TakenMetatile,
  wanted: Uint8Array | null,
): { readonly all: bigint; readonly worked: bigint } {
  let all = 0n;
  let worked = 0n;
  for (let y = counted.minY; y <= counted.maxY; y++) {
    for (let x = counted.minX; x <= counted.maxX; x++) {
      if (!isCounted(x, y)) continue;
      all++;
      if (isWanted(wanted, rect, x, y)) worked++;
    }
  }
  return { all, worked };
}
