import { TrafficHistory, type TrafficQuery, type TrafficView } from "../http/api/stats/traffic-history.ts";
import type { ServingProcesses } from "./process-methods.ts";

/** The answers are counted for the minute in which they are collected, so that they may be late by this time. */
const COLLECT_MS = 10_000;

/** Collects how the processes that serve have answered, and keeps it for a day. */
export class TrafficCollector {
  readonly #serving: Pick<ServingProcesses, "collectTraffic">;
  readonly #history = new TrafficHistory(Date.now());
  readonly #timer: NodeJS.Timeout;

  constructor(serving: Pick<ServingProcesses, "collectTraffic">) {
    this.#serving = serving;
    this.#timer = setInterval(() => void this.#collect(), COLLECT_MS);
    this.#timer.unref();
  }

  /** Never rejects: a process that has ended has no traffic. */
  async #collect(): Promise<void> {
    const traffic = await this.#serving.collectTraffic();
    this.#history.add(Date.now(), traffic);
  }

  /** Returns the traffic of a window until now. */
  async view(query: TrafficQuery): Promise<TrafficView> {
    await this.#collect();
    return this.#history.view(query, Date.now());
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
