import { FairLine, SharedTurn } from "../../lib/process/fair-line.ts";

/** Weight of the latest render in the moving average, which reflects about the last ten renders. */
const WEIGHT_OF_LATEST = 0.1;
/** Assumed processor time of a render before one has been measured, ms. */
const FIRST_GUESS_MS = 10;
/**
 * A measurement above this multiple of the average is capped: it includes other work, such as a sweep or the loading of
 * a source.
 */
const OUTLIER = 4;
/** The longest time until the throttle checks again whether users still read tiles, ms. */
const LONGEST_WAIT_MS = 250;
/** The shortest time that a timer can measure, ms. */
const SHORTEST_WAIT_MS = 1;

export interface RenderThrottleParts {
  /** The number of processors that the renders of all jobs may use together while users read tiles. */
  readonly share: () => number;
  /** Returns whether users read tiles at the moment. */
  readonly usersActive: () => boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/**
 * Spaces the renders of jobs while users read tiles, by the processor time that renders take. A render that waits here
 * holds no connection yet. Renders from an upstream that is slow enough never wait.
 */
export class RenderThrottle {
  readonly #parts: RenderThrottleParts;
  readonly #line = new FairLine<void>();
  #renderMs = FIRST_GUESS_MS;
  /** The renders that have begun use up the share until this time. */
  #paidUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: RenderThrottleParts) {
    this.#parts = parts;
  }

  /**
   * Waits until the next render of a job may begin.
   * @throws the signal's reason when it fires while waiting
   */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#line.length === 0 && this.#mayBegin()) return;
    const turn = this.#line.wait(new SharedTurn(), signal);
    this.#wait();
    await turn;
  }

  /** Whether the renders of jobs begin one by one, because users read tiles. */
  get isThrottling(): boolean {
    return this.#parts.usersActive();
  }

  /** The number of renders that wait. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Records the processor time of a job's render. */
  took(processorMs: number): void {
    const ms = Math.min(processorMs, Math.max(FIRST_GUESS_MS, OUTLIER * this.#renderMs));
    this.#renderMs += WEIGHT_OF_LATEST * (ms - this.#renderMs);
  }

  #mayBegin(): boolean {
    const { share, usersActive, now } = this.#parts;
    if (!usersActive()) return true;
    const nowMs = now();
    if (this.#paidUntilMs - nowMs >= SHORTEST_WAIT_MS) return false;
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs) + this.#renderMs / share();
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
