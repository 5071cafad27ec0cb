import { whenAborted } from "../../lib/http/when-aborted.ts";
import type { Machine } from "../../lib/machine.ts";
import { type BackOff, jittered, pauseAfter } from "../../lib/time/back-off.ts";
import type { Timer } from "../../lib/time/clock.ts";
import { LATE, unlessLate } from "../../lib/time/late.ts";
import { pause, sleep } from "../../lib/time/sleep.ts";
import type { PendingOperations } from "./bucket.ts";
import { isUnavailable, mayPass, RemoteError } from "./remote-error.ts";
import type { BucketOptions } from "./remote-options.ts";
import type { Renewed } from "./renewed.ts";
import { NO_ANSWER, type RemoteResponse, type SignedRequest, Transport } from "./transport.ts";

type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE";

export interface Operation {
  readonly method: Method;
  /** The key below the prefix. Undefined for a request to the bucket itself. */
  readonly key: string | undefined;
  /** The path of the request, encoded, if the key does not tell it. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses that the caller handles. All other statuses above 299 are errors. */
  readonly expected?: readonly number[];
  /**
   * If present, the request expires this many seconds after the operation began, if the service can refuse it then. All
   * attempts expire at the same time.
   */
  readonly seconds?: number;
  readonly guard?: () => boolean;
  /** After it fires, no attempt is sent. */
  readonly signal?: AbortSignal;
}

export interface TriedResponse extends RemoteResponse {
  readonly tries: number;
}

const TRIES = 4;
const PAUSES: BackOff = { firstMs: 60, longestMs: 1_000 };
/** The interval of checks in a process that itself found the service unavailable. */
const PROBE_MS = 500;
/**
 * The interval of checks in a process that another process has informed of the outage. The other process checks too.
 */
const TOLD_PROBE_MS = 1_000;
/** The time limit of a check. A service may be slow but available. */
const QUESTION_MS = 3_000;
/**
 * The most concurrent checks. A check does not wait for earlier ones, because requests that a service had not answered
 * before it hung are lost.
 */
const MOST_ASKED = QUESTION_MS / PROBE_MS + 1;
/** If an operation has no answer after this time, a check finds out whether the service is available. */
const SUSPECT_MS = 1_000;
const CONNECT_MS = 3_000;
/**
 * The time in which an attempt that was sent may be answered after its signal has fired. A service that works answers
 * within this time, so that the outcome is known.
 */
const LAST_ANSWER_MS = 1_000;
/** The code of a request that is repeated with other keys. */
const EXPIRED_KEYS = "ExpiredKeys";
/** A smaller difference is ignored, because the Date header has whole seconds. */
const CLOCK_STEP_MS = 2_000;

/** No attempt of an operation was sent: the guard returned false, or the signal fired. */
export class NotSent extends Error {
  readonly why: "refused" | "ended";
  constructor(why: NotSent["why"]) {
    super(`the request was not sent: ${why}`);
    this.why = why;
  }
}

/** The protocol of a service. */
export interface Service<Keys> {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The keys or the token of the account. */
  readonly account: Renewed<Keys>;
  /** Returns the request of an operation. @param atMs the time of the request by the service's clock */
  sign(operation: Operation, keys: Keys, atMs: number): SignedRequest;
  /** Returns the error for an answer with an unexpected status. */
  failure(answer: RemoteResponse): RemoteError;
  /** Lists one key of the bucket. */
  readonly question: Operation;
  /** Codes which mean that the clocks differ. */
  readonly skewed: ReadonlySet<string>;
  /** Codes which mean that the keys are no longer valid. */
  readonly expired: ReadonlySet<string>;
}

/** Signs and sends requests to one bucket, and repeats them. */
export class Requests<Keys> implements AsyncDisposable {
  /**
   * Called with the failure when this process finds the service unavailable, and with undefined when it is available
   * again.
   */
  found: (away: RemoteError | undefined) => void = () => {};
  readonly #options: BucketOptions;
  readonly #service: Service<Keys>;
  readonly #machine: Machine;
  readonly #pending: PendingOperations;
  /** The connections. Replaced after an unanswered request, because the old connections may be dead. */
  #transport: Transport;
  readonly #dropped: Transport[] = [];
  /** How far the service's clock is ahead of this machine's, in ms. */
  #clockAheadMs = 0;
  /**
   * The failure of the last operation whose attempts have all failed. Undefined if, to this process's knowledge, the
   * service is available.
   */
  #away: RemoteError | undefined;
  /** The timer of the checks whether the service is available again. Present while it is unavailable. */
  #probes: Timer | undefined;
  /** The number of checks in progress. */
  #asked = 0;

  constructor(options: BucketOptions, service: Service<Keys>, machine: Machine, pending: PendingOperations) {
    this.#machine = machine;
    this.#pending = pending;
    this.#options = options;
    this.#service = service;
    this.#transport = this.#connect(options.connections);
  }

  #connect(connections: number): Transport {
    const { caFile, proxy, timeoutMs } = this.#options;
    return new Transport({
      disk: this.#machine.disk,
      origin: this.#service.origin,
      connections,
      connectTimeoutMs: Math.min(CONNECT_MS, timeoutMs),
      ...(caFile === undefined ? {} : { caFile }),
      ...(proxy === undefined ? {} : { proxy }),
    });
  }

  /** Why the service is unavailable. Undefined if, to this process's knowledge, it is available. */
  get away(): RemoteError | undefined {
    return this.#away;
  }

  /**
   * Takes over from another process that the service is unavailable (with the failure), or available again (undefined).
   */
  tell(away: RemoteError | undefined): void {
    if (away === undefined) this.#isBack();
    else if (this.#away === undefined) {
      this.#isAway(away, TOLD_PROBE_MS);
      // A check corrects this at once if it is outdated.
      void this.#probe();
    }
  }

  /** The number of times that keys could not be obtained or renewed. */
  get failedRenewals(): number {
    return this.#service.account.failures;
  }

  /** Returns the time by the service's clock, ms since 1970. */
  now(): number {
    return this.#machine.clock.now() + this.#clockAheadMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#probes?.cancel();
    await this.#endDropped();
    await this.#transport[Symbol.asyncDispose]();
  }

  /**
   * Runs an operation. While the service is unavailable all operations fail at once, so that a reader does not wait for
   * the time limit of each tile.
   * @throws RemoteError
   */
  async run(operation: Operation): Promise<TriedResponse> {
    if (this.#away !== undefined) throw this.#away;
    const transport = this.#transport;
    const suspicion = this.#machine.clock.after(SUSPECT_MS, () => void this.#suspect()).unref();
    try {
      return await this.#repeated(operation);
    } catch (error) {
      // The failure of a request over connections that were dropped since, or that its caller has ended, does not show
      // the present state of the service.
      if (transport === this.#transport && operation.signal?.aborted !== true) this.#observe(error);
      throw error;
    } finally {
      suspicion.cancel();
    }
  }

  /**
   * Checks once whether the service is available, while an operation waits for its answer. Each process that uses the
   * service thus notices within seconds that the service hangs, instead of after the time limit of an operation.
   */
  async #suspect(): Promise<void> {
    if (this.#away !== undefined || this.#asked > 0) return;
    try {
      await this.#question();
    } catch (error) {
      this.#observe(error);
    }
  }

  /**
   * Lists one key of the bucket, over a new connection and with a separate time limit.
   * @throws RemoteError while the service is unavailable, or if it refuses
   */
  async ask(): Promise<void> {
    if (this.#away !== undefined) throw this.#away;
    try {
      await this.#question();
    } catch (error) {
      this.#observe(error);
      throw error;
    }
  }

  #observe(error: unknown): void {
    if (!(error instanceof RemoteError) || !isUnavailable(error)) return;
    if (this.#away !== undefined) return;
    this.#isAway(error, PROBE_MS);
    this.found(error);
  }

  #isAway(error: RemoteError, probeMs: number): void {
    this.#away = error;
    if (error.status === 0) this.#dropConnections();
    if (this.#pending === "fail") void this.#endDropped();
    this.#probes ??= this.#machine.clock.every(probeMs, () => void this.#probe()).unref();
  }

  /** Ends the checks, and sends the unanswered requests again. */
  #isBack(): void {
    this.#probes?.cancel();
    this.#probes = undefined;
    this.#away = undefined;
    void this.#endDropped();
  }

  /** Replaces all connections. */
  #dropConnections(): void {
    this.#dropped.push(this.#transport);
    this.#transport = this.#connect(this.#options.connections);
  }

  /**
   * Ends the dropped connections. Operations that wait for an answer over them are tried again over new connections.
   */
  async #endDropped(): Promise<void> {
    await Promise.all(this.#dropped.splice(0).map((transport) => transport[Symbol.asyncDispose]()));
  }

  /**
   * Checks whether the service is available again. Does not wait for earlier checks: a service that is available again
   * answers new connections at once.
   */
  async #probe(): Promise<void> {
    if (this.#asked >= MOST_ASKED) return;
    try {
      await this.#question();
    } catch (error) {
      // Any other error is an answer of an available service. The next operation gets the same error.
      if (!(error instanceof RemoteError) || isUnavailable(error)) return;
    }
    // Another check, or another process, may have reported it already.
    if (this.#away === undefined) return;
    this.#isBack();
    this.found(undefined);
  }

  async #question(): Promise<void> {
    const transport = this.#connect(1);
    const over = new AbortController();
    this.#asked++;
    try {
      const ask = () => this.#try(this.#service.question, this.now(), over.signal, transport);
      const asked = ask().catch((error: unknown) => {
        if (error instanceof RemoteError && error.code === EXPIRED_KEYS) return ask();
        throw error;
      });
      const answer = await unlessLate(this.#machine.clock, asked, Math.min(QUESTION_MS, this.#options.timeoutMs));
      if (answer === LATE) throw new RemoteError(0, NO_ANSWER);
      if (answer.status >= 300) throw this.#service.failure(answer);
    } finally {
      this.#asked--;
      over.abort();
      await transport[Symbol.asyncDispose]();
    }
  }

  /** Runs an operation, and repeats it within the time limit after failures that may pass. @throws RemoteError */
  async #repeated(operation: Operation): Promise<TriedResponse> {
    const { clock } = this.#machine;
    const { signal } = operation;
    if (signal?.aborted === true) throw new NotSent("ended");
    const late = new AbortController();
    const abortAfter = (ms: number): Timer => clock.after(ms, () => late.abort()).unref();
    const timers = [abortAfter(this.#options.timeoutMs)];
    const cancel = signal && whenAborted(signal, () => void timers.push(abortAfter(LAST_ANSWER_MS)));
    try {
      return await this.#attempts(operation, late.signal);
    } finally {
      cancel?.();
      for (const timer of timers) timer.cancel();
    }
  }

  /** @param late ends the attempt in progress */
  async #attempts(operation: Operation, late: AbortSignal): Promise<TriedResponse> {
    const { clock, random } = this.#machine;
    const { expected = [], guard, signal } = operation;
    const beganMs = clock.monotonicNow();
    // All attempts of a put expire at the same time: a repetition must not extend it.
    let atMs = this.now();
    let last: RemoteError | undefined;
    for (let tries = 1; ; tries++) {
      // An earlier attempt may have stored the object, so its failure is reported.
      if (signal?.aborted === true) throw last ?? new NotSent("ended");
      if (guard?.() === false) throw last ?? new NotSent("refused");
      let failure: RemoteError;
      try {
        const answer = await this.#try(operation, operation.seconds === undefined ? this.now() : atMs, late);
        if (answer.status < 300 || expected.includes(answer.status)) return { ...answer, tries };
        failure = this.#service.failure(answer);
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error;
        failure = error;
      }
      const isCorrected = (this.#service.skewed.has(failure.code) || failure.code === EXPIRED_KEYS) && tries === 1;
      if (isCorrected) atMs = this.now();
      const pauseMs = isCorrected ? 0 : jittered(pauseAfter(tries, PAUSES), random.fraction());
      const leftMs = this.#options.timeoutMs - (clock.monotonicNow() - beganMs);
      const isGivenUp = this.#pending === "fail" && this.#away !== undefined;
      if (!(isCorrected || mayPass(failure)) || tries === TRIES || pauseMs >= leftMs || isGivenUp) throw failure;
      last = failure;
      if (signal === undefined) await sleep(clock, pauseMs);
      else await pause(clock, pauseMs, signal);
    }
  }

  async #try(
    operation: Operation,
    atMs: number,
    signal: AbortSignal,
    transport = this.#transport,
  ): Promise<RemoteResponse> {
    const { account, expired } = this.#service;
    const keys = await account.current();
    const signed = this.#service.sign(operation, keys, atMs);
    const sentMs = this.#machine.clock.now();
    const answer = await transport.send(operation.method, signed, operation.body, signal);
    this.#noteClock(answer.headers["date"], sentMs);
    // Keys of a role may end early, and an operator may have replaced the keys of a file.
    if (answer.status >= 400 && expired.has(this.#service.failure(answer).code) && account.refused(keys))
      throw new RemoteError(answer.status, EXPIRED_KEYS);
    return answer;
  }

  #noteClock(date: string | undefined, sentMs: number): void {
    const serverMs = Date.parse(date ?? "");
    if (Number.isNaN(serverMs)) return;
    // The Date header names the second of the answer, which lies between the request and now.
    const aheadMs = Math.round(serverMs + 500 - (sentMs + this.#machine.clock.now()) / 2);
    this.#clockAheadMs = Math.abs(aheadMs) < CLOCK_STEP_MS ? 0 : aheadMs;
  }
}
