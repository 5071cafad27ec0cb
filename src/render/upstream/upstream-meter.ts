import { Histogram, type HistogramView } from "../../lib/histogram.ts";
import type { FailureClass } from "../../source/source.ts";

/** Upper bounds of the buckets of the durations of requests, in seconds. */
const BOUNDS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** One service of an upstream. Several services may share the host, and so the connections. */
export interface MeasuredSource {
  readonly upstream: string;
  /** The address without the query, as `sourceName` returns it. */
  readonly source: string;
}

/** Failures and durations of the picture requests to one source since the start. */
export interface SourceMeasure extends MeasuredSource {
  /** Failed requests by class of failure. All other requests succeeded. */
  readonly failures: Readonly<Partial<Record<FailureClass, number>>>;
  readonly times: HistogramView;
}

interface Measure extends MeasuredSource {
  readonly failures: Partial<Record<FailureClass, number>>;
  readonly times: Histogram;
}

const keyOf = ({ upstream, source }: MeasuredSource): string => `${upstream}\n${source}`;

/** Counts requests to upstreams by source. A tile hit does not reach the meter. */
export class UpstreamMeter {
  readonly #measures = new Map<string, Measure>();

  /** Releases the counters of sources that no layer uses any more. */
  configure(sources: () => Iterable<MeasuredSource>): void {
    // At the start nothing was counted yet, so the addresses of 10,000 layers need not be parsed.
    if (this.#measures.size === 0) return;
    const configured = new Set([...sources()].map(keyOf));
    for (const key of this.#measures.keys()) if (!configured.has(key)) this.#measures.delete(key);
  }

  observe(measured: MeasuredSource, ms: number, failure: FailureClass | undefined): void {
    const key = keyOf(measured);
    let measure = this.#measures.get(key);
    if (measure === undefined) {
      measure = { ...measured, failures: {}, times: new Histogram(BOUNDS_SECONDS) };
      this.#measures.set(key, measure);
    }
    measure.times.observe(ms);
    if (failure !== undefined) measure.failures[failure] = (measure.failures[failure] ?? 0) + 1;
  }

  measures(): SourceMeasure[] {
    return [...this.#measures.values()].map((measure) => ({
      upstream: measure.upstream,
      source: measure.source,
      failures: { ...measure.failures },
      times: measure.times.view(),
    }));
  }
}
