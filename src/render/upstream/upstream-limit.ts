import type { ConnectionOptions } from "../../layer/layer.ts";
import { FairLine, SharedTurn } from "../../lib/process/fair-line.ts";
import { type BackOff, pauseAfterWait } from "../../lib/time/back-off.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";
import { waitSeconds } from "../../lib/time/wait-seconds.ts";
import { type FailureClass, isOutage } from "../../source/source.ts";
import { LatencyLimit } from "./latency-limit.ts";
import { type UpstreamAnswering, UpstreamHealth } from "./upstream-health.ts";

/**
 * The most users that wait for a connection. If more users wait, a user of the client with the most waiting users is
 * refused.
 */
const USERS_WAITING = 1_000;
/** An upstream counts as down after this many failures in a row, over at least this time. */
export const DOWN_AFTER_FAILURES = 5;
const DOWN_AFTER_MS = 1_000;
/** The pauses between probes while the upstream is down. After each pause one user's request is sent as a probe. */
const PAUSES: BackOff = { firstMs: 1_000, longestMs: 15_000 };
/** If a probe has no result, the next probe is delayed by this time. */
const LONGEST_PROBE_MS = 60_000;

/** Busy answers within this time after a busy answer do not halve the limit again. */
const SAME_WORD_MS = 1_000;
/** The longest time for which jobs stop after a Retry-After. */
const LONGEST_REST_MS = 60_000;

export interface UpstreamLimitState {
  readonly inUse: number;
  /**
   * If this many connections are in use, a job gets no further connection. Users may use the connections that jobs lose
   * because of slow answers.
   */
  readonly bearable: number;
  /** The connections that the configuration allows. */
  readonly configured: number;
  readonly usersWaiting: number;
  readonly jobsWaiting: number;
  readonly down: boolean;
  /** The remaining time in ms for which jobs stop, because the upstream requested a pause. */
  readonly restMs: number;
}

export type PermitRefusal = { readonly retryAfterSeconds: number; readonly why: "down" | "queue_full" | "queue_slow" };

const QUEUE_FULL: PermitRefusal = { retryAfterSeconds: 1, why: "queue_full" };

/**
 * Limits the requests to one upstream: a number of connections, a smaller number for jobs, users before jobs, and only
 * probes while the upstream is down. When the upstream reports that it is busy (429, or 503 with Retry-After), the
 * limit is halved, and then grows by one for each round of answers (as in RFC 5681 for TCP). Jobs stop for the time
 * that the upstream requests. When answers are slow because of this server's load, jobs use fewer connections and leave
 * the remaining ones to users.
 */
export class UpstreamLimit {
  #inUse = 0;
  #inUseByJobs = 0;
  /** The configured number of connections. */
  #limit: number;
  #jobLimit: number;
  /** The current limit, from 1 to the configured number. Each answer increases its fraction. */
  #bearable: number;
  readonly #latency: LatencyLimit;
  #lastBusyMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #rest: Timer | undefined;
  /** A waiting user is answered with undefined when a connection is free, or with a refusal. */
  readonly #users = new FairLine<PermitRefusal | undefined>();
  readonly #jobs = new FairLine<undefined>();
  readonly #clock: Clock;
  #answeredMs: number | undefined;
  #failuresInARow = 0;
  #firstFailureMs = 0;
  #pauseMs = PAUSES.firstMs;
  #nextPauseMs = PAUSES.firstMs;
  #nextProbeMs = 0;

  readonly #unused: () => void;
  readonly #changed: (state: UpstreamAnswering, before: UpstreamAnswering) => void;
  #reported: UpstreamAnswering = "unknown";
  readonly health: UpstreamHealth;

  /** `unused` is called when the last connection has been released and no request waits for a connection. */
  /**
   * @param changed called when the upstream has answered for the first time, when it counts as down, and when it
   *   answers again
   */
  constructor(
    { connections, jobConnections = connections }: ConnectionOptions,
    clock: Clock,
    unused: () => void = () => {},
    changed: (state: UpstreamAnswering, before: UpstreamAnswering) => void = () => {},
  ) {
    this.#unused = unused;
    this.#changed = changed;
    this.#limit = connections;
    this.#jobLimit = jobConnections;
    this.#bearable = connections;
    this.#latency = new LatencyLimit(connections);
    this.#clock = clock;
    this.health = new UpstreamHealth(clock.now);
  }

  /**
   * Changes the limits after a reload. Requests in progress continue. If the limits are the same, the learnt values are
   * preserved.
   */
  setConnections({ connections, jobConnections = connections }: ConnectionOptions): void {
    if (connections === this.#limit && jobConnections === this.#jobLimit) return;
    this.#jobLimit = jobConnections;
    this.#bearable = this.#bearable === this.#limit ? connections : Math.min(this.#bearable, connections);
    this.#limit = connections;
    this.#latency.setConnections(connections);
    this.#serve();
  }

  /** Returns the state for the metrics. */
  state(): UpstreamLimitState {
    return {
      inUse: this.#inUse,
      bearable: this.#bearableForJobs,
      configured: this.#limit,
      usersWaiting: this.#users.length,
      jobsWaiting: this.#jobs.length,
      down: this.#down,
      restMs: Math.max(0, this.#restUntilMs - this.#clock.monotonicNow()),
    };
  }

  /**
   * Returns why the request of a client's user must be refused at once. Undefined if it need not be refused. Accepts a
   * probe that is due, and postpones the next probe.
   */
  refuseUser(client: string): PermitRefusal | undefined {
    if (this.#users.length >= USERS_WAITING && this.#users.isGreediest(client)) return QUEUE_FULL;
    if (!this.#down) return undefined;
    const now = this.#clock.monotonicNow();
    if (now >= this.#nextProbeMs) {
      // The next probe must wait until this one fails: while the upstream hangs, one waiting user is enough.
      this.#nextProbeMs = now + LONGEST_PROBE_MS;
      this.#pauseMs = this.#nextPauseMs;
      this.#nextPauseMs = pauseAfterWait(this.#nextPauseMs * 2, PAUSES);
      return undefined;
    }
    return this.#refusal(now);
  }

  #refusal(now: number): PermitRefusal {
    return { retryAfterSeconds: waitSeconds(Math.min(this.#nextProbeMs - now, this.#pauseMs)), why: "down" };
  }

  get isDown(): boolean {
    return this.#down;
  }

  get #down(): boolean {
    return (
      this.#failuresInARow >= DOWN_AFTER_FAILURES && this.#clock.monotonicNow() - this.#firstFailureMs >= DOWN_AFTER_MS
    );
  }

  /**
   * Acquires a connection for a job. The caller releases the connection.
   * @throws the signal's reason if it fires during the wait
   */
  async acquireForJob(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasFreeForJob) this.#take("job");
    else await this.#jobs.wait(new SharedTurn(), signal);
  }

  /**
   * Acquires a connection for a user. The caller releases the connection. Clients take turns. Returns a refusal if the
   * upstream goes down during the wait, or if no connection is free within `waitLimitMs`. Also returns a refusal if too
   * many users wait and no client has more waiting users than this one. Returns undefined when the connection is
   * acquired.
   * @throws the signal's reason if it fires during the wait
   */
  async acquireForUser(turn: SharedTurn, waitLimitMs: number, signal: AbortSignal): Promise<PermitRefusal | undefined> {
    signal.throwIfAborted();
    if (this.#hasFree) {
      this.#take("user");
      return undefined;
    }
    if (this.#users.length >= USERS_WAITING) {
      // The refused request may have been the probe.
      this.unheard();
      if ([...turn.clients].every((client) => this.#users.isGreediest(client))) return QUEUE_FULL;
      this.#users.answerGreediest(QUEUE_FULL);
    }
    const waitLimit = new AbortController();
    const timer = this.#clock.after(waitLimitMs, () => waitLimit.abort());
    try {
      return await this.#users.wait(turn, AbortSignal.any([signal, waitLimit.signal]));
    } catch (error) {
      this.unheard();
      if (signal.aborted) throw error;
      return { retryAfterSeconds: 1, why: "queue_slow" };
    } finally {
      timer.cancel();
    }
  }

  release(who: "user" | "job"): void {
    this.#inUse--;
    if (who === "job") this.#inUseByJobs--;
    this.#serve();
    if (this.isUnused) this.#unused();
  }

  /** Whether no connection is in use and no request waits for a connection. */
  get isUnused(): boolean {
    return this.#inUse === 0 && this.#users.length === 0 && this.#jobs.length === 0;
  }

  /** Ends the timer of an unused upstream limit. */
  close(): void {
    this.#rest?.cancel();
  }

  #take(who: "user" | "job"): void {
    this.#inUse++;
    if (who === "job") this.#inUseByJobs++;
  }

  get #hasFree(): boolean {
    return this.#inUse < Math.floor(this.#bearable);
  }

  get #bearableForJobs(): number {
    return Math.min(Math.floor(this.#bearable), this.#latency.connections);
  }

  get #hasFreeForJob(): boolean {
    return this.#inUse < this.#bearableForJobs && this.#inUseByJobs < this.#jobLimit && !this.#resting;
  }

  get #resting(): boolean {
    return this.#clock.monotonicNow() < this.#restUntilMs;
  }

  #serve(): void {
    while (this.#hasFree) {
      if (this.#users.answerFirst(undefined)) this.#take("user");
      else if (this.#hasFreeForJob && this.#jobs.answerFirst(undefined)) this.#take("job");
      else return;
    }
  }

  /** The time in ms since the last good answer of the upstream. Undefined if there was no good answer. */
  get answeredMsAgo(): number | undefined {
    return this.#answeredMs === undefined ? undefined : this.#clock.monotonicNow() - this.#answeredMs;
  }

  /** Ends an outage after an answer of any kind. The next outage begins with the first pause again. */
  #answers(): void {
    this.#failuresInARow = 0;
    this.#reportChange();
    this.#pauseMs = PAUSES.firstMs;
    this.#nextPauseMs = PAUSES.firstMs;
    this.#nextProbeMs = 0;
  }

  #reportChange(): void {
    const state = this.#down ? "down" : "up";
    const before = this.#reported;
    if (state === before) return;
    this.#reported = state;
    this.#changed(state, before);
  }

  /**
   * Reports that a request has no result or was not sent. The request may have been the probe, so another probe is
   * allowed after the pause.
   */
  unheard(): void {
    this.#nextProbeMs = Math.min(this.#nextProbeMs, this.#clock.monotonicNow() + this.#pauseMs);
  }

  /**
   * Reports a good answer, before its connection is released.
   * @param upstreamMs the time that a picture took; undefined: the answer was not a picture
   */
  succeeded(upstreamMs: number | undefined): void {
    this.#answeredMs = this.#clock.monotonicNow();
    this.#answers();
    if (upstreamMs !== undefined) this.#latency.answered(upstreamMs, this.#inUse);
    if (this.#bearable < this.#limit)
      this.#bearable = Math.min(this.#limit, this.#bearable + 1 / Math.floor(this.#bearable));
    this.#serve();
  }

  #busy(retryAfterMs: number | undefined): void {
    const now = this.#clock.monotonicNow();
    if (now - this.#lastBusyMs >= SAME_WORD_MS) this.#bearable = Math.max(1, this.#bearable / 2);
    this.#lastBusyMs = now;
    if (retryAfterMs === undefined) return;
    this.#restUntilMs = Math.max(this.#restUntilMs, now + Math.min(retryAfterMs, LONGEST_REST_MS));
    this.#serveAfterRest();
  }

  /**
   * Lets jobs continue after the pause that the upstream requested. A timer may fire early, so it is set again for the
   * remaining time.
   */
  #serveAfterRest(): void {
    this.#rest?.cancel();
    const leftMs = this.#restUntilMs - this.#clock.monotonicNow();
    if (leftMs <= 0) {
      this.#serve();
      return;
    }
    this.#rest = this.#clock.after(Math.ceil(leftMs), () => this.#serveAfterRest());
    this.#rest.unref();
  }

  /**
   * Reports a failure.
   * @param retryAfterMs the Retry-After of the upstream
   */
  failed(failure: FailureClass, retryAfterMs: number | undefined): void {
    if (failure === "busy") this.#busy(retryAfterMs);
    if (failure === "cancelled" || failure === "store") {
      this.unheard();
      return;
    }
    if (!isOutage(failure)) {
      this.#answers();
      return;
    }
    if (this.#failuresInARow === 0) this.#firstFailureMs = this.#clock.monotonicNow();
    this.#failuresInARow++;
    if (this.#down) {
      this.#nextProbeMs = this.#clock.monotonicNow() + this.#pauseMs;
      this.#refuseWaiting();
    } else if (this.#failuresInARow === DOWN_AFTER_FAILURES) this.#refuseWhenDown();
  }

  /**
   * Refuses the waiting users once the failures have lasted long enough, unless an answer has ended the failures. A
   * timer may fire early.
   */
  #refuseWhenDown(): void {
    if (this.#failuresInARow < DOWN_AFTER_FAILURES) return;
    const leftMs = this.#firstFailureMs + DOWN_AFTER_MS - this.#clock.monotonicNow();
    if (leftMs <= 0) this.#refuseWaiting();
    else this.#clock.after(Math.ceil(leftMs), () => this.#refuseWhenDown()).unref();
  }

  /**
   * Refuses the waiting users if the upstream is down: with an upstream that hangs, each of them would run into the
   * time limit, one after the other. The first user continues to wait and finds out whether the upstream answers again.
   */
  #refuseWaiting(): void {
    if (!this.#down) return;
    this.#reportChange();
    this.#users.answerOthers(this.#refusal(this.#clock.monotonicNow()));
  }
}
