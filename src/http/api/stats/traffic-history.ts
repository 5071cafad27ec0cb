import type { LayerName } from "../../../layer/tile-set.ts";
import { addTraffic, noTraffic, type TrafficByLayer, type TrafficCounts } from "../../tiles/tile-traffic.ts";

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;

/** The windows over which traffic can be summed: the length and number of their steps. */
const WINDOWS = {
  PT5M: { stepMs: MINUTE_MS, steps: 5 },
  PT1H: { stepMs: MINUTE_MS, steps: 60 },
  PT24H: { stepMs: QUARTER_MS, steps: 96 },
} as const;
export type TrafficWindow = keyof typeof WINDOWS;
export const TRAFFIC_WINDOWS = ["PT5M", "PT1H", "PT24H"] as const satisfies readonly TrafficWindow[];

export interface TrafficQuery {
  readonly window: TrafficWindow;
  /** Undefined for all layers. */
  readonly layer: LayerName | undefined;
}

/** The traffic of a window. All times are ms since 1970. */
export interface TrafficView {
  /** The beginning of the first step, or the start of the server if that is later. */
  readonly sinceMs: number;
  readonly total: TrafficCounts;
  /** The layers that had requests in the window. */
  readonly layers: TrafficByLayer;
  readonly series: readonly { readonly atMs: number; readonly traffic: TrafficCounts }[];
}

/**
 * The most layers that one step counts separately: enough for any view, and few enough for the memory. The total counts
 * all layers.
 */
const MOST_LAYERS = 500;

interface Step {
  readonly total: TrafficCounts;
  readonly layers: Map<string, TrafficCounts>;
}

/** The traffic of the last minutes and the last quarters of an hour. */
export class TrafficHistory {
  readonly #startedMs: number;
  readonly #minutes = new TrafficSteps(MINUTE_MS, WINDOWS.PT1H.steps);
  readonly #quarters = new TrafficSteps(QUARTER_MS, WINDOWS.PT24H.steps);

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  /** Adds traffic that has just ended. */
  add(nowMs: number, traffic: TrafficByLayer): void {
    if (traffic.size === 0) return;
    this.#minutes.add(nowMs, traffic);
    this.#quarters.add(nowMs, traffic);
  }

  view({ window, layer }: TrafficQuery, nowMs: number): TrafficView {
    const { stepMs, steps } = WINDOWS[window];
    const kept = stepMs === MINUTE_MS ? this.#minutes : this.#quarters;
    // If the clock was set back, the traffic since then must still be shown.
    const startedMs = Math.min(this.#startedMs, nowMs);
    const firstMs = (Math.floor(nowMs / stepMs) - steps + 1) * stepMs;
    const total = noTraffic();
    const layers = new Map<string, TrafficCounts>();
    const series: { readonly atMs: number; readonly traffic: TrafficCounts }[] = [];
    for (let atMs = firstMs; atMs <= nowMs; atMs += stepMs) {
      if (atMs + stepMs <= startedMs) continue;
      const step = kept.at(atMs);
      const traffic = noTraffic();
      const counted = layer === undefined ? step?.total : step?.layers.get(layer);
      if (counted !== undefined) addTraffic(traffic, counted);
      addTraffic(total, traffic);
      series.push({ atMs, traffic });
      for (const [name, counts] of step?.layers ?? []) {
        if (layer !== undefined && name !== layer) continue;
        const sum = layers.get(name) ?? noTraffic();
        addTraffic(sum, counts);
        layers.set(name, sum);
      }
    }
    return { sinceMs: Math.max(firstMs, startedMs), total, layers, series };
  }
}

/** Sums traffic in steps of one length, and stores the last steps. */
class TrafficSteps {
  readonly #stepMs: number;
  readonly #most: number;
  readonly #steps = new Map<number, Step>();

  constructor(stepMs: number, most: number) {
    this.#stepMs = stepMs;
    this.#most = most;
  }

  add(nowMs: number, traffic: TrafficByLayer): void {
    const number = Math.floor(nowMs / this.#stepMs);
    let step = this.#steps.get(number);
    if (step === undefined) {
      step = { total: noTraffic(), layers: new Map() };
      this.#steps.set(number, step);
      // Later steps are of a time before the clock was set back.
      for (const other of this.#steps.keys())
        if (other <= number - this.#most || other > number) this.#steps.delete(other);
    }
    for (const [layer, counts] of traffic) {
      addTraffic(step.total, counts);
      const known = step.layers.get(layer);
      if (known === undefined && step.layers.size >= MOST_LAYERS) continue;
      const sum = known ?? noTraffic();
      addTraffic(sum, counts);
      step.layers.set(layer, sum);
    }
  }

  /** Returns the step that begins at a time. Undefined without traffic in it. */
  at(beginMs: number): Step | undefined {
    return this.#steps.get(Math.floor(beginMs / this.#stepMs));
  }
}
