import type { FailureClass } from "../source/source.ts";

/** Upper bounds of the buckets of a histogram, in seconds, ascending. One more bucket holds longer times. */
export const LATENCY_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Number, failures and durations of the picture requests to one upstream since the start. */
export interface UpstreamMeasure {
  readonly upstream: string;
  /** Failed requests by class of failure. All other requests succeeded. */
  readonly failures: Readonly<Partial<Record<FailureClass, number>>>;
  readonly requests: number;
  readonly seconds: number;
  /** Requests in each bucket of `LATENCY_BUCKETS_SECONDS`, and in one more; not cumulative. */
  readonly buckets: readonly number[];
}

interface Measure {
  readonly failures: Partial<Record<FailureClass, number>>;
  requests: number;
  seconds: number;
  readonly buckets: number[];
}

/** Counts requests to upstreams. A tile hit does not reach the meter. */
export class UpstreamMeter {
  readonly #measures = new Map<string, Measure>();

  /** Releases the counters of upstreams that no layer has any more. */
  configure(upstreams: Iterable<string>): void {
    const configured = new Set(upstreams);
    for (const upstream of this.#measures.keys()) if (!configured.has(upstream)) this.#measures.delete(upstream);
  }

  observe(upstream: string, ms: number, failure: FailureClass | undefined): void {
    let measure = this.#measures.get(upstream);
    if (measure === undefined) {
      measure = { failures: {}, requests: 0, seconds: 0, buckets: LATENCY_BUCKETS_SECONDS.map(() => 0).concat(0) };
      this.#measures.set(upstream, measure);
    }
    const seconds = ms / 1000;
    const bucket = LATENCY_BUCKETS_SECONDS.findIndex((end) => seconds <= end);
    const at = bucket < 0 ? LATENCY_BUCKETS_SECONDS.length : bucket;
    measure.buckets[at] = (measure.buckets[at] ?? 0) + 1;
    measure.requests++;
    measure.seconds += seconds;
    if (failure !== undefined) measure.failures[failure] = (measure.failures[failure] ?? 0) + 1;
  }

  measures(): UpstreamMeasure[] {
    return [...this.#measures].map(([upstream, measure]) => ({ upstream, ...measure }));
  }
}
