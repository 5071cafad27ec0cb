import type { ConnectionOptions } from "../../layer/source-options.ts";
import { FairLine, SharedTurn } from "../../lib/process/fair-line.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { waitSeconds } from "../../lib/time/wait-seconds.ts";
import { type FailureClass, isOutage } from "../../source/source.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { ConnectionShare } from "./connection-share.ts";
import { type UpstreamAnswering, UpstreamHealth } from "./upstream-health.ts";

/**
 * The most users that wait for a connection. If more users wait, a user of the client with the most waiting users is
 * refused.
 */
const USERS_WAITING = 1_000;

export interface UpstreamLimitState {
  readonly inUse: number;
  /**
   * If this many connections are in use, a job gets no further connection. Users may use the connections that jobs lose
   * because of slow answers.
   */
  readonly allowed: number;
  /** The connections that the configuration allows. */
  readonly configured: number;
  readonly usersWaiting: number;
  readonly jobsWaiting: number;
  readonly down: boolean;
  /** The remaining time in ms for which jobs stop, because the upstream requested a pause. */
  readonly coolDownMs: number;
}

export type PermitRefusal = { readonly retryAfterSeconds: number; readonly why: "down" | "queue_full" | "queue_slow" };

const QUEUE_FULL: PermitRefusal = { retryAfterSeconds: 1, why: "queue_full" };

/**
 * Queues the requests to one upstream: users before jobs, clients in turn. A `ConnectionShare` has the numbers of
 * connections, and a `CircuitBreaker` refuses users while the upstream is down.
 */
export class UpstreamLimit {
  #inUse = 0;
  #inUseByJobs = 0;
  /** A waiting user is answered with undefined when a connection is free, or with a refusal. */
  readonly #users = new FairLine<PermitRefusal | undefined>();
  readonly #jobs = new FairLine<undefined>();
  readonly #share: ConnectionShare;
  readonly #breaker: CircuitBreaker;
  readonly #clock: Clock;
  readonly #unused: () => void;
  #answeredMs: number | undefined;
  readonly health: UpstreamHealth;

  /**
   * @param unused called when the last connection has been released and no request waits for a connection
   * @param changed called when the upstream has answered for the first time, when it counts as down, and when it
   *   answers again
   */
  constructor(
    connections: ConnectionOptions,
    clock: Clock,
    unused: () => void = () => {},
    changed: (state: UpstreamAnswering, before: UpstreamAnswering) => void = () => {},
  ) {
    this.#clock = clock;
    this.health = new UpstreamHealth(clock.now);
    this.#unused = unused;
    this.#share = new ConnectionShare(connections, clock, () => this.#serve());
    this.#breaker = new CircuitBreaker({ clock, changed, whenDown: () => this.#refuseWaiting() });
  }

  /**
   * Changes the limits after a reload. Requests in progress continue. If the limits are the same, the learnt values are
   * preserved.
   */
  setConnections(connections: ConnectionOptions): void {
    if (this.#share.setConnections(connections)) this.#serve();
  }

  /** Returns the state for the metrics. */
  state(): UpstreamLimitState {
    return {
      inUse: this.#inUse,
      allowed: this.#share.sharedWithJobs,
      configured: this.#share.configured,
      usersWaiting: this.#users.length,
      jobsWaiting: this.#jobs.length,
      down: this.isDown,
      coolDownMs: this.#share.coolDownMs,
    };
  }

  get isDown(): boolean {
    return this.#breaker.isDown;
  }

  /** The time in ms since the last good answer of the upstream. Undefined if there was no good answer. */
  get answeredMsAgo(): number | undefined {
    return this.#answeredMs === undefined ? undefined : this.#clock.monotonicNow() - this.#answeredMs;
  }

  /**
   * Returns why the request of a client's user must be refused at once. Undefined if it need not be refused. Accepts a
   * probe that is due, and postpones the next probe.
   */
  refuseUser(client: string): PermitRefusal | undefined {
    if (this.#users.length >= USERS_WAITING && this.#users.hasLongestQueue(client)) return QUEUE_FULL;
    return this.#breaker.admits() ? undefined : this.#refusal();
  }

  #refusal(): PermitRefusal {
    return { retryAfterSeconds: waitSeconds(this.#breaker.retryAfterMs), why: "down" };
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
      this.unanswered();
      if ([...turn.clients].every((client) => this.#users.hasLongestQueue(client))) return QUEUE_FULL;
      this.#users.answerInLongestQueue(QUEUE_FULL);
    }
    const waitLimit = new AbortController();
    const timer = this.#clock.after(waitLimitMs, () => waitLimit.abort());
    try {
      return await this.#users.wait(turn, AbortSignal.any([signal, waitLimit.signal]));
    } catch (error) {
      this.unanswered();
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
    this.#share.close();
  }

  /** Reports that a request has no result or was not sent. */
  unanswered(): void {
    this.#breaker.unanswered();
  }

  /**
   * Reports a good answer, before its connection is released.
   * @param upstreamMs the time that a picture took; undefined: the answer was not a picture
   */
  succeeded(upstreamMs: number | undefined): void {
    this.#answeredMs = this.#clock.monotonicNow();
    this.#breaker.answered();
    this.#share.succeeded(upstreamMs, this.#inUse);
    this.#serve();
  }

  /**
   * Reports a failure.
   * @param retryAfterMs the Retry-After of the upstream
   */
  failed(failure: FailureClass, retryAfterMs: number | undefined): void {
    if (failure === "busy") this.#share.busy(retryAfterMs);
    if (failure === "cancelled" || failure === "store") this.#breaker.unanswered();
    else if (isOutage(failure)) this.#breaker.failed();
    else this.#breaker.answered();
  }

  #take(who: "user" | "job"): void {
    this.#inUse++;
    if (who === "job") this.#inUseByJobs++;
  }

  get #hasFree(): boolean {
    return this.#share.admitsUser(this.#inUse);
  }

  get #hasFreeForJob(): boolean {
    return this.#share.admitsJob(this.#inUse, this.#inUseByJobs);
  }

  #serve(): void {
    while (this.#hasFree) {
      if (this.#users.answerFirst(undefined)) this.#take("user");
      else if (this.#hasFreeForJob && this.#jobs.answerFirst(undefined)) this.#take("job");
      else return;
    }
  }

  /**
   * Refuses the waiting users of an upstream that is down: with an upstream that hangs, each of them would run into the
   * time limit, one after the other. The first user continues to wait and finds out whether the upstream answers again.
   */
  #refuseWaiting(): void {
    this.#users.answerOthers(this.#refusal());
  }
}
