import { WaitingLine } from "../lib/waiting-line.ts";

/** How much the latest draw says of what one takes: about the last ten count. */
const WEIGHT_OF_LATEST = 0.1;
/** What a draw is taken to take of a processor before one has, ms. */
const FIRST_GUESS_MS = 10;
/** One that took so many times as long tells of something else too: a sweep that has ended, a source that was loaded. */
const OUTLIER = 4;
/** Before the queue looks again whether users still read, ms. */
const LONGEST_WAIT_MS = 250;
/** Timers know no less. */
const SHORTEST_WAIT_MS = 1;

export interface DrawPaceParts {
  /** Of the processors, for the draws of all jobs while users read; 1: one of them. */
  readonly share: number;
  /** Users read tiles. */
  readonly usersActive: () => boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/**
 * Spaces the draws of jobs while users read, by the processor time that draws take: what a draw begins with, its
 * connection, it does not hold while it waits here. One whose upstream is slow enough never waits.
 */
export class DrawPace {
  readonly #parts: DrawPaceParts;
  readonly #line = new WaitingLine<void>();
  #drawMs = FIRST_GUESS_MS;
  /** Until when the draws that have begun are worth the share. */
  #paidUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DrawPaceParts) {
    this.#parts = parts;
  }

  /** Resolves when the next draw of a job may begin. @throws the signal's reason when it fires while waiting */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#line.length === 0 && this.#mayBegin()) return;
    const turn = this.#line.wait(signal);
    this.#wait();
    await turn;
  }

  /** Draws begin one by one now, as users read. */
  get isSpacing(): boolean {
    return this.#parts.usersActive();
  }

  /** Draws that wait. */
  get waiting(): number {
    return this.#line.length;
  }

  /** A job's draw has taken so much of a processor. */
  took(processorMs: number): void {
    const ms = Math.min(processorMs, Math.max(FIRST_GUESS_MS, OUTLIER * this.#drawMs));
    this.#drawMs += WEIGHT_OF_LATEST * (ms - this.#drawMs);
  }

  #mayBegin(): boolean {
    const { share, usersActive, now } = this.#parts;
    if (!usersActive()) return true;
    const nowMs = now();
    if (this.#paidUntilMs - nowMs >= SHORTEST_WAIT_MS) return false;
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs) + this.#drawMs / share;
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
