import { Agent, request } from "node:http";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";

export interface Latencies {
  /** Latencies of the answers, in ms from sending the request to the last byte. */
  readonly ms: number[];
  /** Answers that were not 200 HIT where a hit was expected. */
  misses: number;
}

/**
 * Sends requests at a fixed rate and never waits for an answer before the next request, so that a stalled server shows
 * in the latency of every request that was sent during the stall. The rate is low: the reader needs a few percent of a
 * core.
 */
export class FixedRateReader {
  readonly #agents = new Map<string, Agent>();
  readonly #delay = monitorEventLoopDelay({ resolution: 1 });
  readonly #timer: NodeJS.Timeout;
  readonly #targets: ReadonlyMap<string, () => { port: number; path: string }>;
  #phase = new Map<string, Latencies>();

  /** Sends `perSecond` requests per second to each target. */
  constructor(targets: ReadonlyMap<string, () => { port: number; path: string }>, perSecond: number) {
    this.#targets = targets;
    for (const name of targets.keys()) this.#agents.set(name, new Agent({ keepAlive: true, maxSockets: 256 }));
    this.#delay.enable();
    const t0 = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - t0) * perSecond) / 1000);
      for (; sent < due; sent++) for (const name of this.#targets.keys()) this.#send(name);
    }, 1);
  }

  #send(name: string): void {
    const target = this.#targets.get(name)?.();
    const agent = this.#agents.get(name);
    if (target === undefined || agent === undefined) return;
    const into = this.#latencies(name);
    const t0 = performance.now();
    request({ ...target, host: "127.0.0.1", agent }, (response) => {
      const hit = response.statusCode === 200 && response.headers["geowebcache-cache-result"] === "HIT";
      response.resume();
      response.on("end", () => {
        into.ms.push(performance.now() - t0);
        if (!hit) into.misses++;
      });
    })
      .on("error", () => into.misses++)
      .end();
  }

  #latencies(name: string): Latencies {
    const known = this.#phase.get(name);
    if (known !== undefined) return known;
    const fresh: Latencies = { ms: [], misses: 0 };
    this.#phase.set(name, fresh);
    return fresh;
  }

  /** Returns the latencies since the last call, and the reader's own delay (99th percentile, ms). */
  take(): { readonly byTarget: ReadonlyMap<string, Latencies>; readonly ownDelayMs: number } {
    const byTarget = this.#phase;
    this.#phase = new Map();
    const ownDelayMs = this.#delay.percentile(99) / 1e6;
    this.#delay.reset();
    return { byTarget, ownDelayMs };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delay.disable();
    for (const agent of this.#agents.values()) agent.destroy();
  }
}
