import type { Layer } from "../../layer/layer.ts";
import { jittered, pauseAfter } from "../../lib/time/back-off.ts";
import type { Reservation } from "../../quota/reservations.ts";
import type { RenderFailure, RenderOutcome } from "../../render/render-order.ts";
import { isOutage } from "../../source/source.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { Task } from "../active/task.ts";
import type { SpaceWait, SpaceWaitParts } from "../wait/space-wait.ts";
import type { StoreWait } from "../wait/store-wait.ts";
import type { UpstreamOutage } from "../wait/upstream-outage.ts";
import { JobAborted, LAYER_REMOVED } from "../work.ts";
import type { BatchSize } from "./batch-size.ts";
import type { SeedGuards } from "./seed-guard.ts";
import { type TakenMetatile, tilesIn } from "./seed-metatile.ts";
import type { SeedRenders } from "./seed-renders.ts";
import type { SeedResults } from "./seed-results.ts";
import type { WantedTiles } from "./wanted-tiles.ts";

export interface MetatileAttemptsParts extends Pick<SpaceWaitParts, "reservations" | "stop" | "clock" | "random"> {
  readonly tiles: Pick<WantedTiles, "wanted">;
  readonly renders: Pick<SeedRenders, "render">;
  readonly results: SeedResults;
  readonly guards: SeedGuards;
  readonly batchSize: (job: ActiveJob) => BatchSize;
  readonly spaceWait: SpaceWait;
  readonly storeWait: StoreWait;
  readonly outage: UpstreamOutage;
}

/** The task of a job that works on a metatile. */
export interface SeedStep {
  readonly job: ActiveJob;
  readonly task: Task;
  readonly layer: Layer;
  readonly signal: AbortSignal;
}

/** The outcome of a rendered metatile, and the reservation under which its tiles were stored. */
export interface Rendered {
  readonly wanted: Uint8Array | null;
  readonly outcome: RenderOutcome;
  readonly reservation: Reservation;
}

/**
 * How often a metatile has failed, and whether the next failure counts as the metatile's failure instead of an outage.
 */
interface Attempts {
  readonly failed: number;
  readonly isLast: boolean;
}

const NO_ATTEMPTS: Attempts = { failed: 0, isLast: false };
/** The longest Retry-After that a job obeys. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * Renders a metatile until it is counted or given back: retries failures, and waits while the store, disk space or the
 * upstream is unavailable.
 */
export class MetatileAttempts {
  readonly #parts: MetatileAttemptsParts;
  /** The attempts of metatiles that the rate limit has postponed between two attempts. */
  readonly #putOff = new WeakMap<ActiveJob, Map<bigint, Attempts>>();

  constructor(parts: MetatileAttemptsParts) {
    this.#parts = parts;
  }

  /**
   * @param first the outcome of a render that has already run
   * @throws JobAborted at a limit, JobPaused if the seed guard finds the tiles suspicious
   */
  async run(step: SeedStep, metatile: TakenMetatile, first?: Rendered): Promise<void> {
    const { job, signal } = step;
    let attempts = this.#putOff.get(job)?.get(metatile.n) ?? NO_ATTEMPTS;
    this.#putOff.get(job)?.delete(metatile.n);
    for (let known = first; known !== undefined || !this.#parts.stop.isDue(signal); known = undefined) {
      const rendered = known ?? (await this.#renderOnce(step, metatile, attempts));
      if (rendered === undefined) return;
      const failure = await this.#handled(step, metatile, rendered);
      if (failure === "finished") return;
      if (failure === "again") continue;
      const next = await this.#afterFailure(step, metatile, failure, attempts);
      if (next === "stop") return;
      if (next === "give up") {
        this.#parts.results.failed(job, step.task, { metatile, wanted: rendered.wanted }, failure);
        return;
      }
      attempts = next;
    }
  }

  /**
   * Counts a metatile, or waits for the store, for space or for the layer. Returns the failure if the metatile has
   * failed.
   * @throws JobAborted if the layer has been removed, or at a limit
   */
  async #handled(
    { job, task, layer, signal }: SeedStep,
    metatile: TakenMetatile,
    { wanted, outcome, reservation }: Rendered,
  ): Promise<"finished" | "again" | RenderFailure> {
    const { results, guards, outage, storeWait, spaceWait } = this.#parts;
    if (signal.aborted) {
      // The tiles were stored before the abort arrived. The metatiles of a killed task go back to the job, so this
      // metatile counts only if no other task has taken it since.
      if (outcome.kind === "stored" && (task.claim.includes(metatile.n) || job.metatiles.takeBack(metatile.n)))
        results.stored(job, task, { metatile, wanted }, outcome);
      return "finished";
    }
    switch (outcome.kind) {
      case "stored":
        outage.rendered(job, metatile.n);
        storeWait.stored(job);
        results.stored(job, task, { metatile, wanted }, outcome);
        // The marks of missing tiles are all identical, which does not indicate a broken upstream.
        if (outcome.hasNoTile !== true) guards.check(job, layer, outcome.written ?? []);
        return "finished";
      case "layer_removed":
        // The request to abort the job may arrive later. A task that continued would count the metatile as done.
        throw new JobAborted(LAYER_REMOVED);
      case "cancelled":
      case "stale":
        return "again";
      case "full":
        await spaceWait.afterRefusal(job, reservation.refused ?? { kind: "disk_full", reason: outcome.reason }, signal);
        return "again";
      case "store_away":
        await storeWait.wait(job, outcome.reason, signal);
        return "again";
      case "failed":
        if (outcome.failure !== "no_tile") return outcome;
        results.skipped(job, task, metatile);
        return "finished";
    }
  }

  /** Waits before the next attempt. Returns the attempts so far, or that there is no further attempt. */
  async #afterFailure(
    { job, layer, signal }: SeedStep,
    metatile: TakenMetatile,
    failure: RenderFailure,
    { failed: before, isLast }: Attempts,
  ): Promise<Attempts | "give up" | "stop"> {
    const { stop, outage } = this.#parts;
    const { retryCount, retryWaitMs, ownFailurePolicy } = job.request;
    const failed = before + 1;
    // If a request has failure fields, the job makes exactly the retries that these fields name.
    const isFinal = isLast || (failure.isPermanent === true && !ownFailurePolicy);
    const triesLeft = isFinal ? 0 : retryCount + 1 - failed;
    if (triesLeft > 0) {
      job.tally.addRetry();
      await this.#pause(
        pauseAfter(failed, { firstMs: retryWaitMs, longestMs: Number.POSITIVE_INFINITY }),
        failure,
        signal,
      );
    }
    if (isOutage(failure.failure) && !ownFailurePolicy && !isLast && triesLeft <= 1) {
      // A probe of a metatile that was rendered before shows whether this metatile is bad or the upstream is down. It
      // runs before the last try: if it ran after the last try, and the upstream recovered in between, this metatile
      // would be counted as failed.
      const state = await outage.wait(job, layer, metatile, failure.message, signal);
      return stop.isDue(signal) ? "stop" : { failed: 0, isLast: state === "alive" };
    }
    return triesLeft > 0 ? { failed, isLast } : "give up";
  }

  /** Waits before a retry, at least as long as its Retry-After, within bounds. */
  async #pause(ms: number, { retryAfterMs = 0 }: RenderFailure, signal: AbortSignal): Promise<void> {
    const { stop, random } = this.#parts;
    await stop.sleep(Math.max(jittered(ms, random.fraction()), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)), signal);
  }

  /**
   * Renders a metatile once. Undefined if no tile was wanted, the task must stop, or the rate limit postponed the
   * metatile.
   */
  async #renderOnce(
    { job, task, layer, signal }: SeedStep,
    metatile: TakenMetatile,
    attempts: Attempts,
  ): Promise<Rendered | undefined> {
    const { tiles, results, reservations, spaceWait, stop, clock, renders, batchSize } = this.#parts;
    const wanted = tiles.wanted(job, layer, metatile, metatile.isCounted);
    if (wanted === "none") {
      results.skipped(job, task, metatile);
      return undefined;
    }
    const reservation = reservations.begin(job.request.layer);
    try {
      await spaceWait.forOneTile(job, reservation, signal);
      if (stop.isDue(signal)) return undefined;
      const nowMs = clock.monotonicNow();
      if (!job.mayRender(task, nowMs)) {
        this.#postpone(job, task, metatile.n, attempts);
        return undefined;
      }
      job.rateLimiter.begin(tilesIn(metatile.rect, wanted), job.terms.rateLimit, nowMs);
      // Nothing is reserved yet: the renderer requests space when it knows the size of the encoded tiles.
      const leave = { id: reservation.id, ...reservation.size };
      const outcome = await renders.render({ job, layer, metatiles: [{ metatile, wanted }], leave }, signal);
      batchSize(job).adapt([outcome]);
      return { wanted, outcome, reservation };
    } finally {
      reservation.release();
    }
  }

  /**
   * Gives a metatile back because the rate limit is reached. The next task that takes the metatile continues its
   * attempts.
   */
  #postpone(job: ActiveJob, task: Task, n: bigint, attempts: Attempts): void {
    if (attempts !== NO_ATTEMPTS) {
      const putOff = this.#putOff.get(job) ?? new Map<bigint, Attempts>();
      this.#putOff.set(job, putOff.set(n, attempts));
    }
    job.giveBack(task, [n]);
  }
}
