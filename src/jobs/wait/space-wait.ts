import type { ServiceParts } from "../../ledger/service-parts.ts";
import { type BackOff, jittered, pauseAfterWait } from "../../lib/time/back-off.ts";
import { turn } from "../../lib/time/sleep.ts";
import type { JobOptions } from "../../plan/job/job-options.ts";
import type { Reservation } from "../../quota/reservations.ts";
import { NO_SIZE, type SpaceRefusal } from "../../render/admission.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { JobStop } from "../job-stop.ts";
import type { SeedReservations } from "../seed/seed-reservations.ts";
import { JobAborted } from "../work.ts";

export interface SpaceWaitParts extends Pick<ServiceParts, "clock" | "random"> {
  readonly reservations: SeedReservations;
  readonly stop: JobStop;
  readonly options: () => Pick<JobOptions, "outageLimitSeconds">;
}

/** The pauses of a job that waits for the store, for disk space or for an upstream. */
export const JOB_BACK_OFF: BackOff = { firstMs: 500, longestMs: 15_000 };

/** Waits until there is space for the tiles of a job. */
export class SpaceWait {
  readonly #parts: SpaceWaitParts;
  /** Since when there has been no space for the tiles of a job, ms of the monotonic clock. */
  readonly #sinceMs = new WeakMap<ActiveJob, number>();

  constructor(parts: SpaceWaitParts) {
    this.#parts = parts;
  }

  /**
   * Waits until there is space for at least one tile.
   * @throws JobAborted if there never will be space
   */
  async forOneTile(job: ActiveJob, reservation: Reservation, signal: AbortSignal): Promise<void> {
    while (!this.#parts.stop.isDue(signal)) {
      const admission = await this.#parts.reservations.reserve(reservation, NO_SIZE);
      if (admission.kind === "store") {
        this.#sinceMs.delete(job);
        return;
      }
      await this.afterRefusal(job, admission, signal);
    }
  }

  /**
   * Waits before the job requests space again.
   * @throws JobAborted if there never will be space
   */
  async afterRefusal(job: ActiveJob, refusal: SpaceRefusal, signal: AbortSignal): Promise<void> {
    switch (refusal.kind) {
      case "busy":
        await turn(this.#parts.clock);
        return;
      case "full":
        throw new JobAborted(refusal.reason);
      case "disk_full":
        await this.#waitForDiskSpace(job, { for: "room", ...refusal }, signal);
        return;
      case "store_away":
        await this.#waitForDiskSpace(job, { for: "the store", ...refusal }, signal);
    }
  }

  async #waitForDiskSpace(
    job: ActiveJob,
    { for: missing, reason }: { readonly for: "room" | "the store"; readonly reason: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { stop, clock, options, random } = this.#parts;
    const nowMs = clock.monotonicNow();
    const sinceMs = this.#sinceMs.get(job) ?? nowMs;
    this.#sinceMs.set(job, sinceMs);
    const { outageLimitSeconds } = options();
    if (nowMs - sinceMs > outageLimitSeconds * 1000)
      throw new JobAborted(
        `${missing === "room" ? "there has been no room" : "the store has been away"} for ${outageLimitSeconds} seconds: ${reason}`,
      );
    const waiting = `waiting for ${missing}: ${reason}`;
    job.beginWait(waiting);
    await stop.sleep(jittered(pauseAfterWait(nowMs - sinceMs, JOB_BACK_OFF), random.fraction()), signal);
    job.endWait(waiting);
  }
}
