import { type Readiness, STARTING } from "../../http/readiness.ts";
import { errorMessage } from "../../lib/error-code.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";
import type { RenderDispatcher } from "../../render/dispatch/render-dispatcher.ts";
import type { BeginOutcome, ServingProcesses, StartRefusal } from "../process/process-methods.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";

export interface WatchedParts {
  readonly coordinator: CoordinatorLink;
  readonly renders: Pick<RenderDispatcher, "expireBefore">;
  readonly serving: Pick<ServingProcesses, "ready">;
  readonly clock: Clock;
  readonly log: Logger;
}

const LOOK_MS = 1_000;
/** The server is not ready if the coordinator has not answered for this time. */
const SILENT_MS = 10_000;

/**
 * Starts the coordinator, repeatedly if a full disk prevents it, and checks every second whether the server can work.
 */
export class ReadinessWatch {
  readonly #parts: WatchedParts;
  #reported: Readiness = STARTING;
  #hasBegun = false;
  #isServing = false;
  #requestedMs: number | undefined;
  /** Whether a check is due because something has changed since the last one. */
  #isDue = false;
  #timer: Timer | undefined;
  #closing = false;
  /** Whether the last log line about readiness says that the server is not ready. */
  #isLogged = false;

  constructor(parts: WatchedParts) {
    this.#parts = parts;
  }

  /**
   * Makes the first attempt to begin, and starts the checks.
   * @returns the refusal, if further attempts would be refused too
   */
  async begin(): Promise<StartRefusal | undefined> {
    const outcome = await this.#begin();
    if (outcome.kind === "refused") return outcome;
    this.#timer = this.#parts.clock.every(LOOK_MS, () => void this.#look());
    this.#timer.unref();
    return undefined;
  }

  async #begin(): Promise<BeginOutcome> {
    const outcome = await this.#parts.coordinator.methods.begin();
    if (this.#closing || outcome.kind === "refused") return outcome;
    this.#hasBegun = outcome.kind === "begun";
    if (this.#hasBegun || outcome.kind !== "waiting" || outcome.serves) {
      await this.#began();
      this.#isServing = true;
    }
    await this.#update(outcome.kind === "waiting" ? outcome.reason : undefined);
    return outcome;
  }

  /** Prepares to serve tiles. Called when the coordinator has begun, or when at least stored tiles can be served. */
  async #began(): Promise<void> {
    const { coordinator, renders } = this.#parts;
    for (const [layer, beforeMs] of await coordinator.methods.softTimes()) renders.expireBefore(layer, beforeMs);
    if (this.#hasBegun) coordinator.methods.start();
  }

  /** Checks at once. Called when a store has been found unavailable or available. */
  lookNow(): void {
    this.#isDue = true;
    if (this.#timer !== undefined && this.#requestedMs === undefined) void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#requestedMs !== undefined) {
      const silentMs = this.#parts.clock.monotonicNow() - this.#requestedMs;
      if (silentMs > SILENT_MS) await this.#update("the coordinator does not answer");
      return;
    }
    this.#requestedMs = this.#parts.clock.monotonicNow();
    this.#isDue = false;
    try {
      if (this.#hasBegun) await this.#update(await this.#parts.coordinator.methods.health());
      else {
        const outcome = await this.#begin();
        if (outcome.kind === "refused") await this.#update(outcome.message);
      }
    } catch (error) {
      await this.#update(errorMessage(error));
    } finally {
      this.#requestedMs = undefined;
      if (this.#isDue && !this.#closing) void this.#look();
    }
  }

  async #update(reason: string | undefined): Promise<void> {
    if (this.#closing) return;
    const next: Readiness =
      reason === undefined
        ? { ready: true }
        : { ready: false, reason, ...(this.#isServing ? {} : { isStarting: true as const }) };
    await this.#report(next);
  }

  async #report(next: Readiness): Promise<void> {
    if (JSON.stringify(next) === JSON.stringify(this.#reported)) return;
    this.#reported = next;
    const { coordinator, serving, log } = this.#parts;
    if (!next.ready && !coordinator.isClosing) {
      this.#isLogged = true;
      log.warn("the server is not ready", { reason: next.reason });
    } else if (next.ready && this.#isLogged) {
      this.#isLogged = false;
      log.info("the server is ready again");
    }
    await serving.ready(next);
  }

  /** Ends the checks and their reports. `isReported` makes it report that the server is shutting down. */
  close(isReported: boolean): void {
    this.#closing = true;
    this.#timer?.cancel();
    if (isReported) void this.#report({ ready: false, reason: "shutting down" });
  }
}
