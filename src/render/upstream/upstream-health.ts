import { isoTime } from "../../lib/time/iso-time.ts";
import { type FailureClass, isOutage } from "../../source/source.ts";
import type { UpstreamHealthView } from "./upstream-documents.ts";

/** Whether an upstream answers. */
export type UpstreamAnswering = UpstreamHealthView["state"];

/** The latency covers the last pictures within this time, up to this number. */
export const LATENCY_WINDOW_MS = 300_000;
const MOST_SAMPLES = 512;

/** Derives the health of an upstream from its answers. */
export class UpstreamHealth {
  readonly #now: () => number;
  #sinceMs: number;
  #hasAnswered = false;
  /**
   * The time of the first failure since the last answer. The failures may become an outage. Undefined if the last
   * answer was not followed by a failure.
   */
  #failingSinceMs: number | undefined;
  #lastError: UpstreamHealthView["lastError"] = null;
  readonly #samples: { readonly atMs: number; readonly ms: number }[] = [];
  #next = 0;

  /** @param now ms since 1970 */
  constructor(now: () => number) {
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
    this.#lastError = { at: isoTime(this.#now()), class: failure, message };
  }

  view(isDown: boolean): UpstreamHealthView {
    const state = isDown ? "down" : this.#hasAnswered ? "up" : "unknown";
    const since = isoTime(isDown ? (this.#failingSinceMs ?? this.#sinceMs) : this.#sinceMs);
    return { state, since, lastError: this.#lastError, latency: this.#latency() };
  }

  #latency(): UpstreamHealthView["latency"] {
    const fromMs = this.#now() - LATENCY_WINDOW_MS;
    const durations = this.#samples.flatMap(({ atMs, ms }) => (atMs >= fromMs ? [ms] : [])).sort((a, b) => a - b);
    if (durations.length === 0) return null;
    const quantile = (share: number): number => Math.round(durations[Math.ceil(share * durations.length) - 1] ?? 0);
    const windowSeconds = LATENCY_WINDOW_MS / 1000;
    return { windowSeconds, requests: durations.length, p50Ms: quantile(0.5), p95Ms: quantile(0.95) };
  }
}
