import { TrafficHistory, type TrafficQuery, type TrafficView } from "../../http/api/stats/traffic-history.ts";
import { SAMPLE_MS, TrafficRates, type TrafficRatesView } from "../../http/api/stats/traffic-rates.ts";
import type { Timer } from "../../lib/time/clock.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import type { ServingProcesses } from "../process/process-methods.ts";

/**
 * Collects the traffic of the serving processes, and stores it in memory for a day. Counts are late by at most one
 * sample.
 */
export class TrafficCollector {
  readonly #serving: Pick<ServingProcesses, "collectTraffic">;
  readonly #history = new TrafficHistory(machineClock.now());
  readonly #rates = new TrafficRates(machineClock.now(), machineClock.monotonicNow());
  readonly #timer: Timer;

  constructor(serving: Pick<ServingProcesses, "collectTraffic">) {
    this.#serving = serving;
    this.#timer = machineClock.every(SAMPLE_MS, () => void this.#sample());
    this.#timer.unref();
  }

  /** Never rejects. A process that has ended has no traffic. */
  async #collect(): Promise<void> {
    const traffic = await this.#serving.collectTraffic();
    this.#history.add(machineClock.now(), traffic);
    this.#rates.add(traffic);
  }

  async #sample(): Promise<void> {
    await this.#collect();
    this.#rates.sample(machineClock.now(), machineClock.monotonicNow());
  }

  /** Returns the traffic of a window that ends now. */
  async view(query: TrafficQuery): Promise<TrafficView> {
    await this.#collect();
    return this.#history.view(query, machineClock.now());
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
