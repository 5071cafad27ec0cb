import { type FailureClass, isOutage } from "../../source/source.ts";

/** Whether an upstream answers. `unknown`: no request was sent since the start. */
export const UPSTREAM_STATES = ["up", "down", "unknown"] as const;
export type UpstreamAnswering = (typeof UPSTREAM_STATES)[number];

export interface UpstreamError {
  /** ms since 1970. */
  readonly atMs: number;
  readonly failure: FailureClass;
  /** Does not contain the address and the credentials of the upstream. */
  readonly message: string;
}

/** The durations of the last pictures. */
export interface UpstreamLatency {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export interface UpstreamHealthView {
  readonly state: UpstreamAnswering;
  /** The beginning of the state, ms since 1970. For `down`, the time of the first failure. */
  readonly sinceMs: number;
  readonly lastError: UpstreamError | undefined;
  /** The latency of pictures. Undefined if there was no picture in the last minutes. */
  readonly latency: UpstreamLatency | undefined;
}

/** The latency covers the last pictures within this time, up to this number. */
export const LATENCY_WINDOW_MS = 300_000;
const MOST_SAMPLES = 512;

/** Derives the health of an upstream from its answers. */
export class UpstreamHealth {
  readonly #now: () => number;
  #sinceMs: number;
  #hasAnswered = false;
  /** The time of the first failure since the last answer. The failures may become an outage. */
  #failingSinceMs: number | undefined;
  #lastError: UpstreamError | undefined;
  readonly #samples: { readonly atMs: number; readonly ms: number }[] = [];
  #next = 0;

  /** @param now ms since 1970 */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#sinceMs = now();
  }

  /**
   * Records an answer.
   * @param upstreamMs the time that a picture took; undefined: the answer was not a picture
   * @param wasDown whether the upstream counted as down before
   */
  answered(upstreamMs: number | undefined, wasDown: boolean): void {
    const atMs = this.#now();
    if (!this.#hasAnswered || wasDown) this.#sinceMs = atMs;
    this.#hasAnswered = true;
    this.#failingSinceMs = undefined;
    if (upstreamMs === undefined) return;
    this.#samples[this.#next] = { atMs, ms: upstreamMs };
    this.#next = (this.#next + 1) % MOST_SAMPLES;
  }

  /** Records a failure. Every failure that is not an outage also counts as an answer. */
  failed(failure: FailureClass, message: string, wasDown: boolean): void {
    // Cancellations and failures of the store say nothing about the upstream.
    if (failure === "cancelled" || failure === "store") return;
    if (isOutage(failure)) this.#failingSinceMs ??= this.#now();
    else this.answered(undefined, wasDown);
    this.#lastError = { atMs: this.#now(), failure, message };
  }

  view(isDown: boolean): UpstreamHealthView {
    const state = isDown ? "down" : this.#hasAnswered ? "up" : "unknown";
    return {
      state,
      sinceMs: isDown ? (this.#failingSinceMs ?? this.#sinceMs) : this.#sinceMs,
      lastError: this.#lastError,
      latency: this.#latency(),
    };
  }

  #latency(): UpstreamLatency | undefined {
    const fromMs = this.#now() - LATENCY_WINDOW_MS;
    const durations = this.#samples.flatMap(({ atMs, ms }) => (atMs >= fromMs ? [ms] : [])).sort((a, b) => a - b);
    if (durations.length === 0) return undefined;
    const quantile = (share: number): number => durations[Math.ceil(share * durations.length) - 1] ?? 0;
    return { requests: durations.length, p50Ms: quantile(0.5), p95Ms: quantile(0.95) };
  }
}
