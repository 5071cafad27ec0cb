import { WaitingLine } from "../lib/waiting-line.ts";

/** How much the latest render says of what one takes: about the last ten count. */
const WEIGHT_OF_LATEST = 0.1;
/** What a render is taken to take of a processor before one has, ms. */
const FIRST_GUESS_MS = 10;
/** One that took so many times as long tells of something else too: a sweep that has ended, a source that was loaded. */
const OUTLIER = 4;
/** Before the queue looks again whether users still read, ms. */
const LONGEST_WAIT_MS = 250;
/** Timers know no less. */
const SHORTEST_WAIT_MS = 1;

export interface RenderThrottleParts {
  /** Of the processors, for the renders of all jobs while users read; 1: one of them. */
  readonly share: number;
  /** Users read tiles. */
  readonly usersActive: () => boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/**
 * Spaces the renders of jobs while users read, by the processor time that renders take: what a render begins with, its
 * connection, it does not hold while it waits here. One whose upstream is slow enough never waits.
 */
export class RenderThrottle {
  readonly #parts: RenderThrottleParts;
  readonly #line = new WaitingLine<void>();
  #renderMs = FIRST_GUESS_MS;
  /** Until when the renders that have begun are worth the share. */
  #paidUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: RenderThrottleParts) {
    this.#parts = parts;
  }

  /** Resolves when the next render of a job may begin. @throws the signal's reason when it fires while waiting */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#line.length === 0 && this.#mayBegin()) return;
    const turn = this.#line.wait(signal);
    this.#wait();
    await turn;
  }

  /** Renders begin one by one now, as users read. */
  get isThrottling(): boolean {
    return this.#parts.usersActive();
  }

  /** Renders that wait. */
  get waiting(): number {
    return this.#line.length;
  }

  /** A job's render has taken so much of a processor. */
  took(processorMs: number): void {
    const ms = Math.min(processorMs, Math.max(FIRST_GUESS_MS, OUTLIER * this.#renderMs));
    this.#renderMs += WEIGHT_OF_LATEST * (ms - this.#renderMs);
  }

  #mayBegin(): boolean {
    const { share, usersActive, now } = this.#parts;
    if (!usersActive()) return true;
    const nowMs = now();
    if (this.#paidUntilMs - nowMs >= SHORTEST_WAIT_MS) return false;
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs) + this.#renderMs / share;
    return true;
  }

  #wait(): void {
    if (this.#timer !== undefined || this.#line.length === 0) return;
    const waitMs = Math.max(SHORTEST_WAIT_MS, this.#paidUntilMs - this.#parts.now());
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        while (this.#line.length > 0 && this.#mayBegin()) this.#line.answerFirst();
        this.#wait();
      },
      Math.min(waitMs, LONGEST_WAIT_MS),
    );
  }
}
