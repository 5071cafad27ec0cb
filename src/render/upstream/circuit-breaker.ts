import { type BackOff, pauseAfterWait } from "../../lib/time/back-off.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { UpstreamAnswering } from "./upstream-health.ts";

/** An upstream counts as down after this many failures in a row, over at least this time. */
export const DOWN_AFTER_FAILURES = 5;
const DOWN_AFTER_MS = 1_000;
/** The back-off between probes while the upstream is down. After each pause one user's request is sent as a probe. */
const PROBE_BACK_OFF: BackOff = { firstMs: 1_000, longestMs: 15_000 };
/** If a probe has no result, the next probe is delayed by this time. */
const LONGEST_PROBE_MS = 60_000;

export interface CircuitBreakerParts {
  readonly clock: Clock;
  /** Called when the upstream counts as down, and after each failure while it is down. */
  readonly whenDown: () => void;
  /** Called when the upstream has answered for the first time, when it counts as down, and when it answers again. */
  readonly changed: (state: UpstreamAnswering, before: UpstreamAnswering) => void;
}

/**
 * Decides whether an upstream is down, and which requests probe it then.
 *
 *     closed (up): all requests pass
 *        │ 5 failures in a row, over at least 1 s                   ▲ any answer, which also resets the back-off
 *        ▼                                                          │
 *     open (down): requests are refused ── pause over: one probe ───┘
 *        ▲                                        │ failure: the next pause is longer
 *        └────────────────────────────────────────┘
 */
export class CircuitBreaker {
  readonly #parts: CircuitBreakerParts;
  #failuresInARow = 0;
  #firstFailureMs = 0;
  #pauseMs = PROBE_BACK_OFF.firstMs;
  #nextPauseMs = PROBE_BACK_OFF.firstMs;
  #nextProbeMs = 0;
  #reported: UpstreamAnswering = "unknown";

  constructor(parts: CircuitBreakerParts) {
    this.#parts = parts;
  }

  get isDown(): boolean {
    return (
      this.#failuresInARow >= DOWN_AFTER_FAILURES &&
      this.#parts.clock.monotonicNow() - this.#firstFailureMs >= DOWN_AFTER_MS
    );
  }

  /** The time until the next probe in ms, while the upstream is down. */
  get retryAfterMs(): number {
    return Math.min(this.#nextProbeMs - this.#parts.clock.monotonicNow(), this.#pauseMs);
  }

  /** Returns whether a request may be sent. While the upstream is down, only a probe that is due may be. */
  admits(): boolean {
    if (!this.isDown) return true;
    const now = this.#parts.clock.monotonicNow();
    if (now < this.#nextProbeMs) return false;
    // The next probe must wait until this one fails: while the upstream hangs, one waiting user is enough.
    this.#nextProbeMs = now + LONGEST_PROBE_MS;
    this.#pauseMs = this.#nextPauseMs;
    this.#nextPauseMs = pauseAfterWait(this.#nextPauseMs * 2, PROBE_BACK_OFF);
    return true;
  }

  /** Ends an outage after an answer of any kind. The next outage begins with the first pause again. */
  answered(): void {
    this.#failuresInARow = 0;
    this.#reportChange();
    this.#pauseMs = PROBE_BACK_OFF.firstMs;
    this.#nextPauseMs = PROBE_BACK_OFF.firstMs;
    this.#nextProbeMs = 0;
  }

  /** Records a failure that may belong to an outage. */
  failed(): void {
    const now = this.#parts.clock.monotonicNow();
    if (this.#failuresInARow === 0) this.#firstFailureMs = now;
    this.#failuresInARow++;
    if (this.isDown) {
      this.#nextProbeMs = now + this.#pauseMs;
      this.#open();
    } else if (this.#failuresInARow === DOWN_AFTER_FAILURES) this.#openInTime();
  }

  /**
   * Records that a request has no result or was not sent. The request may have been the probe, so another probe is
   * allowed after the pause.
   */
  unanswered(): void {
    this.#nextProbeMs = Math.min(this.#nextProbeMs, this.#parts.clock.monotonicNow() + this.#pauseMs);
  }

  /**
   * Reports the outage once the failures have lasted long enough, unless an answer has ended the failures. A timer may
   * fire early.
   */
  #openInTime(): void {
    if (this.#failuresInARow < DOWN_AFTER_FAILURES) return;
    const leftMs = this.#firstFailureMs + DOWN_AFTER_MS - this.#parts.clock.monotonicNow();
    if (leftMs <= 0) this.#open();
    else this.#parts.clock.after(Math.ceil(leftMs), () => this.#openInTime()).unref();
  }

  #open(): void {
    this.#reportChange();
    this.#parts.whenDown();
  }

  #reportChange(): void {
    const state = this.isDown ? "down" : "up";
    const before = this.#reported;
    if (state === before) return;
    this.#reported = state;
    this.#parts.changed(state, before);
  }
}
