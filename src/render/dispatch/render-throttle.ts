import { FairLine, SharedTurn } from "../../lib/process/fair-line.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";

/** The weight of the latest render in the moving average, which covers about the last ten renders. */
const WEIGHT_OF_LATEST = 0.1;
/** The assumed processor time of a render, in ms, until one has been measured. */
const FIRST_GUESS_MS = 10;
/**
 * A measurement above this multiple of the average is capped, because it includes other work, such as a sweep or the
 * loading of a source.
 */
const OUTLIER = 4;
/** The longest time in ms until the throttle checks again whether users still read tiles. */
const LONGEST_WAIT_MS = 250;
/** The shortest time in ms that a timer can measure. */
const SHORTEST_WAIT_MS = 1;

export interface RenderThrottleParts {
  /** The number of processors that the renders of all jobs may use together while users read tiles. */
  readonly share: () => number;
  /** Returns whether users are reading tiles. */
  readonly usersActive: () => boolean;
  readonly clock: Clock;
}

/**
 * Spaces the renders of jobs while users read tiles, by the processor time that renders take. A render that waits here
 * holds no connection yet. Renders from a slow upstream never wait, because the upstream spaces them enough.
 */
export class RenderThrottle {
  readonly #parts: RenderThrottleParts;
  readonly #line = new FairLine<void>();
  #renderMs = FIRST_GUESS_MS;
  /** Until this time the share is used up by renders that have already begun. */
  #paidUntilMs = 0;
  #timer: Timer | undefined;

  constructor(parts: RenderThrottleParts) {
    this.#parts = parts;
  }

  /**
   * Waits until the next render of a job may begin.
   * @throws the signal's reason if it fires during the wait
   */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#line.length === 0 && this.#mayBegin()) return;
    const turn = this.#line.wait(new SharedTurn(), signal);
    this.#wait();
    await turn;
  }

  /** Whether job renders begin one by one, because users read tiles. */
  get isThrottling(): boolean {
    return this.#parts.usersActive();
  }

  /** The number of waiting renders. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Records the processor time of a job's render. */
  took(processorMs: number): void {
    const ms = Math.min(processorMs, Math.max(FIRST_GUESS_MS, OUTLIER * this.#renderMs));
    this.#renderMs += WEIGHT_OF_LATEST * (ms - this.#renderMs);
  }

  #mayBegin(): boolean {
    const { share, usersActive, clock } = this.#parts;
    if (!usersActive()) return true;
    const nowMs = clock.monotonicNow();
    if (this.#paidUntilMs - nowMs >= SHORTEST_WAIT_MS) return false;
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs) + this.#renderMs / share();
    return true;
  }

  #wait(): void {
    if (this.#timer !== undefined || this.#line.length === 0) return;
    const waitMs = Math.max(SHORTEST_WAIT_MS, this.#paidUntilMs - this.#parts.clock.monotonicNow());
    this.#timer = this.#parts.clock.after(Math.min(waitMs, LONGEST_WAIT_MS), () => {
      this.#timer = undefined;
      while (this.#line.length > 0 && this.#mayBegin()) this.#line.answerFirst();
      this.#wait();
    });
  }
}
