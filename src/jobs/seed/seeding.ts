import { rectCount } from "../../grid/grid-set.ts";
import type { Layer } from "../../layer/layer.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ServiceParts } from "../../ledger/service-parts.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import { Slices } from "../../lib/process/slices.ts";
import { sleep, turn } from "../../lib/time/sleep.ts";
import type { JobOptions } from "../../plan/job/job-options.ts";
import type { RenderControl } from "../../render/render-control.ts";
import type { InventoryStore } from "../../store/inventory-store.ts";
import type { TileStore } from "../../store/tile-store.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { Task } from "../active/task.ts";
import { JobStop } from "../job-stop.ts";
import { SpaceWait } from "../wait/space-wait.ts";
import { StoreWait } from "../wait/store-wait.ts";
import { UpstreamOutage } from "../wait/upstream-outage.ts";
import { JobAborted, LAYER_REMOVED, type Work } from "../work.ts";
import { BatchSize, MOST_TILES_IN_BATCH } from "./batch-size.ts";
import { MetatileAttempts, type SeedStep } from "./metatile-attempts.ts";
import { SeedGuards } from "./seed-guard.ts";
import { metatileOf, type WantedMetatile } from "./seed-metatile.ts";
import { SeedRenders } from "./seed-renders.ts";
import { expectedSize, type SeedReservations } from "./seed-reservations.ts";
import { SeedResults, type SeedResultsParts } from "./seed-results.ts";
import { WantedTiles, type WantedTilesParts } from "./wanted-tiles.ts";

export interface SeedingParts
  extends WantedTilesParts,
    Pick<ServiceParts, "catalogue" | "clock" | "random" | "closing"> {
  readonly state: Pick<StateWriter, "writeAll" | "marksCommitted">;
  readonly ledger: Ledger;
  readonly store: TileStore & Pick<InventoryStore, "timesOf">;
  readonly renders: RenderControl;
  readonly jobs: SeedResultsParts["jobs"];
  readonly options: () => JobOptions;
  readonly reservations: SeedReservations;
  readonly failedTiles: SeedResultsParts["failedTiles"];
  /** Returns the current time, or the latest time that the wall clock has shown if it was set back; ms since 1970. */
  readonly latestMs: () => number;
}

/** The number of metatiles without wanted tiles after which a step yields to the event loop. */
const LOOKS_PER_TURN = 512;
/** The coarsest resolution of file times in ms. */
const FILE_CLOCK_MS = 10;

/**
 * Carries out seeds and reseeds: takes metatiles, finds their missing tiles, and renders them one by one or in batches.
 */
export class Seeding implements Work {
  readonly #parts: SeedingParts;
  readonly #tiles: WantedTiles;
  readonly #stop: JobStop;
  readonly #renders: SeedRenders;
  readonly #results: SeedResults;
  readonly #spaceWait: SpaceWait;
  readonly #attempts: MetatileAttempts;
  readonly #batchSizes = new WeakMap<ActiveJob, BatchSize>();
  /** Promises by reseed, which resolve when no tile of an earlier render can be stored any more. */
  readonly #generationStarts = new WeakMap<ActiveJob, Promise<void>>();

  constructor(parts: SeedingParts) {
    this.#parts = parts;
    const stop = new JobStop(parts.clock, parts.closing);
    const tiles = new WantedTiles(parts);
    const renders = new SeedRenders({ ...parts, writers: parts.ledger.writers, tiles });
    const results = new SeedResults(parts);
    const spaceWait = new SpaceWait({ ...parts, stop });
    this.#attempts = new MetatileAttempts({
      ...parts,
      stop,
      tiles,
      renders,
      results,
      spaceWait,
      guards: new SeedGuards(),
      storeWait: new StoreWait({ ...parts, stop }),
      outage: new UpstreamOutage({ ...parts, stop, renders }),
      batchSize: (job) => this.#batchSize(job),
    });
    this.#tiles = tiles;
    this.#stop = stop;
    this.#renders = renders;
    this.#results = results;
    this.#spaceWait = spaceWait;
  }

  #batchSize(job: ActiveJob): BatchSize {
    const size = this.#batchSizes.get(job) ?? new BatchSize();
    this.#batchSizes.set(job, size);
    return size;
  }

  async step(job: ActiveJob, task: Task, signal: AbortSignal, crowded: () => boolean): Promise<boolean> {
    const layer = this.#parts.catalogue().layers.get(job.request.layer);
    if (layer === undefined) throw new JobAborted(LAYER_REMOVED);
    await this.#startGenerationOnce(job);
    const step = { job, task, layer, signal };
    let rendered = 0;
    for (let left = job.metatiles.shareOf(job.tasks.length); left > 0; ) {
      if (!job.mayWork(task, this.#parts.clock.monotonicNow())) return true;
      const most = crowded() || isOneByOne(job, layer) ? 1 : Math.min(left, this.#batchSize(job).metatiles);
      const { batch, skipped } = await this.#take(step, most);
      const [first] = batch;
      if (first === undefined) {
        if (skipped === LOOKS_PER_TURN) await turn(this.#parts.clock);
        if (rendered > 0 || skipped > 0) return true;
        if (job.tasks.length === 1) this.#results.close(job, task);
        return false;
      }
      if (batch.length > 1) await this.#renderBatch(step, batch);
      else await this.#attempts.run(step, first.metatile);
      rendered += batch.length;
      left -= batch.length;
      if (this.#stop.isDue(signal) || crowded()) return true;
    }
    return true;
  }

  /**
   * Raises the generation of the layer once for each reseed, so that every tile younger than the job's start shows the
   * current map. Does nothing for a seed, and after a change of the data, which has
   * outdated the earlier renders of its tiles.
   */
  async #startGenerationOnce(job: ActiveJob): Promise<void> {
    if (job.request.type !== "reseed" || job.request.afterChange === true) return;
    const started = this.#generationStarts.get(job) ?? this.#raiseGeneration(job);
    this.#generationStarts.set(job, started);
    await started;
  }

  async #raiseGeneration(job: ActiveJob): Promise<void> {
    const isFirst = !job.wasInterrupted;
    await this.#parts.renders.startGeneration(job.request.layer);
    if (!isFirst) return;
    // Uses the latest time that the wall clock has shown: if the clock was set back, older tiles would otherwise look
    // younger than the job.
    job.moveStart(this.#parts.latestMs());
    // File times have a coarse resolution: without the wait, a tile stored next could look older than the job.
    await sleep(this.#parts.clock, FILE_CLOCK_MS);
  }

  /**
   * Takes metatiles until there are enough for one batch. `skipped` is the number of metatiles without wanted tiles. An
   * empty batch means that `LOOKS_PER_TURN` metatiles were checked or that no metatile is left.
   */
  async #take(
    { job, task, layer, signal }: SeedStep,
    most: number,
  ): Promise<{ readonly batch: WantedMetatile[]; readonly skipped: number }> {
    const slices = new Slices(this.#parts.clock);
    const batch: WantedMetatile[] = [];
    let skipped = 0;
    for (let tiles = 0; batch.length < most && tiles < MOST_TILES_IN_BATCH && skipped < LOOKS_PER_TURN; ) {
      const n = job.take(task);
      if (n === undefined) break;
      const position = metatileOf(job, layer, n);
      const metatile = { ...position, isCounted: await slices.run(this.#tiles.counted(job, position)) };
      // A kill may have given the metatile back.
      signal.throwIfAborted();
      const wanted = this.#tiles.wanted(job, layer, metatile, metatile.isCounted);
      if (wanted === "none") {
        this.#results.skipped(job, task, metatile);
        skipped++;
      } else {
        batch.push({ metatile, wanted });
        tiles += Number(rectCount(position.rect));
      }
    }
    return { batch, skipped };
  }

  /**
   * Renders the metatiles as one batch and handles each outcome. Metatiles that the batch did not reach go back to the
   * job.
   */
  async #renderBatch(step: SeedStep, batch: readonly WantedMetatile[]): Promise<void> {
    const { job, task, layer, signal } = step;
    const { reservations } = this.#parts;
    const reservation = reservations.begin(job.request.layer);
    try {
      const isReserved = reservations.tryReserve(reservation, expectedSize(job, layer, batch, reservations.allocated));
      if (!isReserved) await this.#spaceWait.forOneTile(job, reservation, signal);
      // Without space for the whole batch, renders one metatile, because the next one may not fit.
      const metatiles = isReserved ? batch : batch.slice(0, 1);
      const leave = { id: reservation.id, ...reservation.size };
      const outcomes = this.#stop.isDue(signal)
        ? []
        : await this.#renders.renderBatch({ job, layer, metatiles, leave }, signal);
      // Releases the unused part of the reservation before the next metatile requests space.
      reservation.release();
      job.giveBack(
        task,
        batch.slice(outcomes.length).map(({ metatile }) => metatile.n),
      );
      this.#batchSize(job).adapt(outcomes);
      for (const [i, { metatile, wanted }] of batch.slice(0, outcomes.length).entries()) {
        const outcome = outcomes[i];
        if (outcome !== undefined) await this.#attempts.run(step, metatile, { wanted, outcome, reservation });
      }
    } finally {
      reservation.release();
    }
  }
}

/**
 * Returns whether each metatile must be counted by the rate limit or checked by the seed guard before the next one is
 * rendered.
 */
const isOneByOne = ({ terms, isTrusted }: ActiveJob, { seedGuard }: Layer): boolean =>
  terms.rateLimit !== null || (seedGuard !== undefined && !isTrusted);
