import type { ConnectionOptions } from "../layer/layer.ts";
import { elapsedMs } from "../lib/elapsed.ts";
import { FairLine, type SharedTurn } from "../lib/fair-line.ts";
import { waitSeconds } from "../lib/wait-seconds.ts";
import { WaitingLine } from "../lib/waiting-line.ts";
import { type FailureClass, isOutage } from "../source/source.ts";
import { LatencyLimit } from "./latency-limit.ts";

/** Users that wait for a connection at most; of more, the client with the most waiting has one refused. */
const USERS_WAITING = 1_000;
/** An upstream counts as down after so many failures in a row, over at least this time. */
export const DOWN_AFTER_FAILURES = 5;
const DOWN_AFTER_MS = 1_000;
/** Users' requests that are let through while it is down: one after each pause, which grows. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
/** One that is let through and never heard of again stands in the way of the next so long. */
const LONGEST_PROBE_MS = 60_000;

/** After the upstream said that it is busy, its other answers of this time count as the same word. */
const SAME_WORD_MS = 1_000;
/** Jobs leave it alone as long as it asks, but no longer than this. */
const LONGEST_REST_MS = 60_000;

export interface UpstreamLimitState {
  readonly inUse: number;
  /** Connections that may be in use now; users may go beyond what slow answers have left to jobs. */
  readonly bearable: number;
  readonly usersWaiting: number;
  readonly jobsWaiting: number;
  readonly down: boolean;
}

export type Refused = { readonly retryAfterSeconds: number; readonly why: "down" | "queue_full" | "queue_slow" };

const QUEUE_FULL: Refused = { retryAfterSeconds: 1, why: "queue_full" };

/**
 * All traffic to one upstream: bounded connections, those of jobs more narrowly, users before jobs, and whether it is known to be down. When it says
 * that it is busy (429, or 503 with Retry-After), half as many connections are used, and one more for each round of
 * answers after that (additive increase, multiplicative decrease, as RFC 5681 has it for TCP); jobs rest as long as it asks. When its
 * answers are slow because of our load, jobs use fewer connections, and leave the others to users.
 */
export class UpstreamLimit {
  #inUse = 0;
  #inUseByJobs = 0;
  /** As configured. */
  #limit: number;
  #jobLimit: number;
  /** What the upstream bears now, 1 to the limit; its fraction grows with each answer. */
  #bearable: number;
  readonly #latency: LatencyLimit;
  #lastBusyMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #rest: NodeJS.Timeout | undefined;
  /** Answered undefined with a connection. */
  readonly #users = new FairLine<Refused | undefined>();
  readonly #jobs = new WaitingLine<undefined>();
  readonly #now: () => number;
  #answeredMs: number | undefined;
  #failuresInARow = 0;
  #firstFailureMs = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #nextPauseMs = FIRST_PAUSE_MS;
  #nextProbeMs = 0;

  readonly #unused: () => void;

  /** `unused` is called when the last connection has been released and nobody waits for one. */
  /** @param now measures durations, ms */
  constructor(
    { connections, jobConnections = connections }: ConnectionOptions,
    now: () => number = elapsedMs,
    unused: () => void = () => {},
  ) {
    this.#unused = unused;
    this.#limit = connections;
    this.#jobLimit = jobConnections;
    this.#bearable = connections;
    this.#latency = new LatencyLimit(connections);
    this.#now = now;
  }

  /** A reload may change the bound; what is in flight stays. An equal bound changes nothing of what has been learnt. */
  setConnections({ connections, jobConnections = connections }: ConnectionOptions): void {
    if (connections === this.#limit && jobConnections === this.#jobLimit) return;
    this.#jobLimit = jobConnections;
    this.#bearable = this.#bearable === this.#limit ? connections : Math.min(this.#bearable, connections);
    this.#limit = connections;
    this.#latency.setConnections(connections);
    this.#serve();
  }

  /** How it stands, for those who watch. */
  state(): UpstreamLimitState {
    return {
      inUse: this.#inUse,
      bearable: this.#bearableForJobs,
      usersWaiting: this.#users.length,
      jobsWaiting: this.#jobs.length,
      down: this.#down,
    };
  }

  /**
   * Whether the request of a client's user must be refused at once. A probe that is due is let through, and the next one
   * put off.
   */
  refuseUser(client: string): Refused | undefined {
    if (this.#users.length >= USERS_WAITING && this.#users.isGreediest(client)) return QUEUE_FULL;
    if (!this.#down) return undefined;
    const now = this.#now();
    if (now >= this.#nextProbeMs) {
      // Until it fails: of an upstream that hangs nobody else needs to find that out.
      this.#nextProbeMs = now + LONGEST_PROBE_MS;
      this.#pauseMs = this.#nextPauseMs;
      this.#nextPauseMs = Math.min(this.#nextPauseMs * 2, LONGEST_PAUSE_MS);
      return undefined;
    }
    return this.#refusal(now);
  }

  #refusal(now: number): Refused {
    return { retryAfterSeconds: waitSeconds(Math.min(this.#nextProbeMs - now, this.#pauseMs)), why: "down" };
  }

  get #down(): boolean {
    return this.#failuresInARow >= DOWN_AFTER_FAILURES && this.#now() - this.#firstFailureMs >= DOWN_AFTER_MS;
  }

  /** A connection for a job, to be released. @throws the signal's reason when it fires while waiting */
  async acquireForJob(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasFreeForJob) this.#take("job");
    else await this.#jobs.wait(signal);
  }

  /**
   * A connection for a user, to be released; clients take turns. Refused when the upstream goes down in the meantime, when
   * none is free for `patienceMs`, or when too many wait and most of them are this client's.
   * @throws the signal's reason when it fires while waiting
   */
  async acquireForUser(turn: SharedTurn, waitLimitMs: number, signal: AbortSignal): Promise<Refused | undefined> {
    signal.throwIfAborted();
    if (this.#hasFree) {
      this.#take("user");
      return undefined;
    }
    if (this.#users.length >= USERS_WAITING) {
      // Whichever is refused: it may have been the probe.
      this.unheard();
      if ([...turn.clients].every((client) => this.#users.isGreediest(client))) return QUEUE_FULL;
      this.#users.answerGreediest(QUEUE_FULL);
    }
    const waitLimit = new AbortController();
    const timer = setTimeout(() => waitLimit.abort(), waitLimitMs);
    try {
      return await this.#users.wait(turn, AbortSignal.any([signal, waitLimit.signal]));
    } catch (error) {
      this.unheard();
      if (signal.aborted) throw error;
      return { retryAfterSeconds: 1, why: "queue_slow" };
    } finally {
      clearTimeout(timer);
    }
  }

  release(who: "user" | "job"): void {
    this.#inUse--;
    if (who === "job") this.#inUseByJobs--;
    this.#serve();
    if (this.isUnused) this.#unused();
  }

  /** No connection is in use, and nobody waits for one. */
  get isUnused(): boolean {
    return this.#inUse === 0 && this.#users.length === 0 && this.#jobs.length === 0;
  }

  /** Ends the timer of an unused upstream limit. */
  close(): void {
    clearTimeout(this.#rest);
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
    return this.#now() < this.#restUntilMs;
  }

  #serve(): void {
    while (this.#hasFree) {
      if (this.#users.answerFirst(undefined)) this.#take("user");
      else if (this.#hasFreeForJob && this.#jobs.answerFirst(undefined)) this.#take("job");
      else return;
    }
  }

  /** How long ago the upstream last answered as it should; undefined: never. */
  get answeredMsAgo(): number | undefined {
    return this.#answeredMs === undefined ? undefined : this.#now() - this.#answeredMs;
  }

  /** Whatever is wrong, it is not down; the next outage begins as the first one did. */
  #answers(): void {
    this.#failuresInARow = 0;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#nextPauseMs = FIRST_PAUSE_MS;
    this.#nextProbeMs = 0;
  }

  /** Nothing is known of a request that was sent, or of one that was not: if it was the probe, another has to be. */
  unheard(): void {
    this.#nextProbeMs = Math.min(this.#nextProbeMs, this.#now() + this.#pauseMs);
  }

  /** Told before its connection is released. `upstreamMs`: how long a picture took; undefined: it was none. */
  succeeded(upstreamMs: number | undefined): void {
    this.#answeredMs = this.#now();
    this.#answers();
    if (upstreamMs !== undefined) this.#latency.answered(upstreamMs, this.#inUse);
    if (this.#bearable < this.#limit)
      this.#bearable = Math.min(this.#limit, this.#bearable + 1 / Math.floor(this.#bearable));
    this.#serve();
  }

  #busy(retryAfterMs: number | undefined): void {
    const now = this.#now();
    if (now - this.#lastBusyMs >= SAME_WORD_MS) this.#bearable = Math.max(1, this.#bearable / 2);
    this.#lastBusyMs = now;
    if (retryAfterMs === undefined) return;
    this.#restUntilMs = Math.max(this.#restUntilMs, now + Math.min(retryAfterMs, LONGEST_REST_MS));
    this.#wakeAfterRest();
  }

  /** Jobs go on when the rest is over. A timer may fire early: it is armed again for what is left. */
  #wakeAfterRest(): void {
    clearTimeout(this.#rest);
    const leftMs = this.#restUntilMs - this.#now();
    if (leftMs <= 0) {
      this.#serve();
      return;
    }
    this.#rest = setTimeout(() => this.#wakeAfterRest(), Math.ceil(leftMs));
    this.#rest.unref();
  }

  /** `retryAfterMs`: what the upstream asked for. */
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
    if (this.#failuresInARow === 0) this.#firstFailureMs = this.#now();
    this.#failuresInARow++;
    if (this.#down) {
      this.#nextProbeMs = this.#now() + this.#pauseMs;
      this.#refuseWaiting();
    } else if (this.#failuresInARow === DOWN_AFTER_FAILURES) this.#refuseWhenDown();
  }

  /** Looks again until the failures have lasted long enough, or an answer has ended them. A timer may fire early. */
  #refuseWhenDown(): void {
    if (this.#failuresInARow < DOWN_AFTER_FAILURES) return;
    const leftMs = this.#firstFailureMs + DOWN_AFTER_MS - this.#now();
    if (leftMs <= 0) this.#refuseWaiting();
    else setTimeout(() => this.#refuseWhenDown(), Math.ceil(leftMs)).unref();
  }

  /**
   * Users who wait when it goes down are told so: of an upstream that hangs they would get nothing but one time-out after
   * the other. The first of them stays, and finds out whether it is back.
   */
  #refuseWaiting(): void {
    if (!this.#down) return;
    this.#users.answerOthers(this.#refusal(this.#now()));
  }
}
