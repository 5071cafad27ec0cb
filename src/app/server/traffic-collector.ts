import { TrafficHistory, type TrafficQuery, type TrafficView } from "../../http/api/stats/traffic-history.ts";
import { SAMPLE_MS, TrafficRates, type TrafficRatesView } from "../../http/api/stats/traffic-rates.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";
import type { ServingProcesses } from "../process/process-methods.ts";

/**
 * Collects the traffic of the serving processes, and stores it in memory for a day. Counts are late by at most one
 * sample.
 */
export class TrafficCollector {
  readonly #serving: Pick<ServingProcesses, "collectTraffic">;
  readonly #clock: Clock;
  readonly #history: TrafficHistory;
  readonly #rates: TrafficRates;
  readonly #timer: Timer;

  constructor(serving: Pick<ServingProcesses, "collectTraffic">, clock: Clock) {
    this.#serving = serving;
    this.#clock = clock;
    this.#history = new TrafficHistory(clock.now());
    this.#rates = new TrafficRates(clock.now(), clock.monotonicNow());
    this.#timer = clock.every(SAMPLE_MS, () => void this.#sample());
    this.#timer.unref();
  }

  /** Never rejects. A process that has ended has no traffic. */
  async #collect(): Promise<void> {
    const traffic = await this.#serving.collectTraffic();
    this.#history.add(this.#clock.now(), traffic);
    this.#rates.add(traffic);
  }

  async #sample(): Promise<void> {
    await this.#collect();
    this.#rates.sample(this.#clock.now(), this.#clock.monotonicNow());
  }

  /** Returns the traffic of a window that ends now. */
  async view(query: TrafficQuery): Promise<TrafficView> {
    await this.#collect();
    return this.#history.view(query, this.#clock.now());
  }

  /** Returns the traffic since the start, and the rates of the last samples. */
  async rates(): Promise<TrafficRatesView> {
    await this.#collect();
    return this.#rates.view();
  }

  close(): void {
    this.#timer.cancel();
  }
}
