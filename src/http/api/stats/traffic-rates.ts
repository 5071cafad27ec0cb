import { addTraffic, noTraffic, type TrafficByLayer, type TrafficCounts } from "../../tiles/tile-traffic.ts";

/** The times over which rates are computed, in seconds, as in GeoWebCache's page of statistics. */
const WINDOWS_SECONDS = [3, 15, 60] as const;
/** The interval between samples of traffic, equal to the shortest time of a rate. */
export const SAMPLE_MS = 3_000;
const MOST_SAMPLES = 20;

/** The traffic between two samples. Times are in ms, of the monotonic clock. */
interface Sample {
  readonly lengthMs: number;
  readonly requests: number;
  readonly bytes: number;
}

/** The traffic of a recent time. `lengthMs` is its actual length, which is shorter soon after the start. */
export interface RecentTraffic extends Sample {
  readonly seconds: number;
}

/** The highest rate of one sample. `atMs` is the end of the sample, ms since 1970. */
export interface Peak {
  readonly perSecond: number;
  readonly atMs: number;
}

export interface TrafficRatesView {
  /** When the server began to count, ms since 1970. */
  readonly startedMs: number;
  readonly total: Readonly<TrafficCounts>;
  readonly recent: readonly RecentTraffic[];
  /** The highest number of requests per second. Undefined before the first request. */
  readonly peakRequests: Peak | undefined;
  readonly peakBytes: Peak | undefined;
}

/** Sums the traffic since the start of the server, and computes rates per second. */
export class TrafficRates {
  readonly #startedMs: number;
  readonly #total = noTraffic();
  /** The last samples, the oldest first. */
  #samples: readonly Sample[] = [];
  #pending = { requests: 0, bytes: 0 };
  #sampledMs: number;
  #peakRequests: Peak | undefined;
  #peakBytes: Peak | undefined;

  /** @param monotonicMs the present time of the monotonic clock */
  constructor(startedMs: number, monotonicMs: number) {
    this.#startedMs = startedMs;
    this.#sampledMs = monotonicMs;
  }

  /** Adds traffic that has just ended. */
  add(traffic: TrafficByLayer): void {
    for (const counts of traffic.values()) {
      addTraffic(this.#total, counts);
      this.#pending.requests += counts.hits + counts.misses + counts.failed;
      this.#pending.bytes += counts.bytes;
    }
  }

  /** Ends a sample. Times are in ms: of the wall clock since 1970, and of the monotonic clock. */
  sample(nowMs: number, monotonicMs: number): void {
    const lengthMs = monotonicMs - this.#sampledMs;
    if (lengthMs <= 0) return;
    const { requests, bytes } = this.#pending;
    this.#pending = { requests: 0, bytes: 0 };
    this.#sampledMs = monotonicMs;
    this.#samples = [...this.#samples, { lengthMs, requests, bytes }].slice(-MOST_SAMPLES);
    const peak = (before: Peak | undefined, count: number): Peak | undefined => {
      const perSecond = (count * 1000) / lengthMs;
      return perSecond > (before?.perSecond ?? 0) ? { perSecond, atMs: nowMs } : before;
    };
    this.#peakRequests = peak(this.#peakRequests, requests);
    this.#peakBytes = peak(this.#peakBytes, bytes);
  }

  view(): TrafficRatesView {
    return {
      startedMs: this.#startedMs,
      total: this.#total,
      recent: WINDOWS_SECONDS.map((seconds) => {
        const samples = this.#samples.slice(-Math.round((seconds * 1000) / SAMPLE_MS));
        const sum = (value: (sample: Sample) => number): number => samples.reduce((all, one) => all + value(one), 0);
        return {
          seconds,
          lengthMs: sum((one) => one.lengthMs),
          requests: sum((one) => one.requests),
          bytes: sum((one) => one.bytes),
        };
      }),
      peakRequests: this.#peakRequests,
      peakBytes: this.#peakBytes,
    };
  }
}
