import type { ConnectionOptions } from "../../layer/source-options.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";
import { LatencyLimit } from "./latency-limit.ts";

/** Busy answers within this time after a busy answer do not halve the window again. */
const ONE_DECREASE_MS = 1_000;
/** The longest cool-down of jobs after a Retry-After. */
const LONGEST_COOL_DOWN_MS = 60_000;

/**
 * Decides how many connections of an upstream users and jobs may use.
 *
 * When the upstream reports that it is busy (429, or 503 with Retry-After), the window is halved, and then grows by one
 * for each round of answers (as the congestion window of TCP in RFC 5681). Jobs cool down for the time that the
 * upstream requests. When answers are slow because of this server's load, jobs use fewer connections and leave the
 * remaining ones to users.
 */
export class ConnectionShare {
  #configured: number;
  #configuredForJobs: number;
  /** From 1 to the configured number of connections. Each answer increases its fraction. */
  #window: number;
  readonly #latency: LatencyLimit;
  #lastBusyMs = Number.NEGATIVE_INFINITY;
  #cooledMs = 0;
  #coolDown: Timer | undefined;
  readonly #clock: Clock;
  readonly #cooled: () => void;

  /** @param cooled called when the cool-down of jobs is over */
  constructor({ connections, jobConnections = connections }: ConnectionOptions, clock: Clock, cooled: () => void) {
    this.#configured = connections;
    this.#configuredForJobs = jobConnections;
    this.#window = connections;
    this.#latency = new LatencyLimit(connections);
    this.#clock = clock;
    this.#cooled = cooled;
  }

  /** Changes the configured numbers. Returns false if they are the same: then the learnt values are preserved. */
  setConnections({ connections, jobConnections = connections }: ConnectionOptions): boolean {
    if (connections === this.#configured && jobConnections === this.#configuredForJobs) return false;
    this.#configuredForJobs = jobConnections;
    this.#window = this.#window === this.#configured ? connections : Math.min(this.#window, connections);
    this.#configured = connections;
    this.#latency.setConnections(connections);
    return true;
  }

  /** The connections that the configuration allows. */
  get configured(): number {
    return this.#configured;
  }

  /** A job gets a connection only while fewer connections than this are in use, by users and jobs together. */
  get sharedWithJobs(): number {
    return Math.min(Math.floor(this.#window), this.#latency.connections);
  }

  /** The remaining time of the cool-down of jobs, ms. */
  get coolDownMs(): number {
    return Math.max(0, this.#cooledMs - this.#clock.monotonicNow());
  }

  /** Returns whether a user may take a connection when `inUse` connections are in use. */
  admitsUser(inUse: number): boolean {
    return inUse < Math.floor(this.#window);
  }

  /** Returns whether a job may take a connection. Jobs use `inUseByJobs` of the connections in use. */
  admitsJob(inUse: number, inUseByJobs: number): boolean {
    return inUse < this.sharedWithJobs && inUseByJobs < this.#configuredForJobs && this.coolDownMs === 0;
  }

  /**
   * Records a good answer.
   * @param upstreamMs the time that a picture took; undefined: the answer was not a picture
   * @param inUse the number of connections in use, including the connection of the answer
   */
  succeeded(upstreamMs: number | undefined, inUse: number): void {
    if (upstreamMs !== undefined) this.#latency.answered(upstreamMs, inUse);
    if (this.#window < this.#configured)
      this.#window = Math.min(this.#configured, this.#window + 1 / Math.floor(this.#window));
  }

  /**
   * Records that the upstream is busy.
   * @param retryAfterMs the Retry-After of the upstream
   */
  busy(retryAfterMs: number | undefined): void {
    const now = this.#clock.monotonicNow();
    if (now - this.#lastBusyMs >= ONE_DECREASE_MS) this.#window = Math.max(1, this.#window / 2);
    this.#lastBusyMs = now;
    if (retryAfterMs === undefined) return;
    this.#cooledMs = Math.max(this.#cooledMs, now + Math.min(retryAfterMs, LONGEST_COOL_DOWN_MS));
    this.#waitForCoolDown();
  }

  /** Ends the timer of the cool-down. */
  close(): void {
    this.#coolDown?.cancel();
  }

  /** A timer may fire early, so it is set again for the remaining time. */
  #waitForCoolDown(): void {
    this.#coolDown?.cancel();
    const leftMs = this.coolDownMs;
    if (leftMs === 0) {
      this.#cooled();
      return;
    }
    this.#coolDown = this.#clock.after(Math.ceil(leftMs), () => this.#waitForCoolDown());
    this.#coolDown.unref();
  }
}
