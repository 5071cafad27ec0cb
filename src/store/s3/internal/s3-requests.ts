import { createHash } from "node:crypto";
import { type SignedRequest, signAddress, signHeaders, type UnsignedRequest } from "../../../lib/aws/aws-signature.ts";
import { whenAborted } from "../../../lib/http/when-aborted.ts";
import type { Machine } from "../../../lib/machine.ts";
import { type BackOff, jittered, pauseAfter } from "../../../lib/time/back-off.ts";
import type { Timer } from "../../../lib/time/clock.ts";
import { LATE, unlessLate } from "../../../lib/time/late.ts";
import { pause, sleep } from "../../../lib/time/sleep.ts";
import type { Renewed } from "../../internal/renewed.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Credentials, S3Options } from "../s3-options.ts";
import { accountOf } from "./credentials.ts";
import { parseErrorCode } from "./s3-xml.ts";
import { NO_ANSWER, type S3Response, Transport } from "./transport.ts";

type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE";

export interface Operation {
  readonly method: Method;
  /** The key below the prefix. Undefined for a request to the bucket itself. */
  readonly key: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses that the caller handles. All other statuses above 299 are errors. */
  readonly expected?: readonly number[];
  /** If present, the address of the request is signed and expires this many seconds after the operation began. */
  readonly seconds?: number;
  readonly guard?: () => boolean;
  /** After it fires, no attempt is sent. */
  readonly signal?: AbortSignal;
}

export interface TriedS3Response extends S3Response {
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
/** Statuses and codes after which the same request may succeed later. */
const PASSING = new Set([0, 429, 500, 502, 503, 504]);
const PASSING_CODES = new Set([
  "SlowDown",
  "InternalError",
  "ServiceUnavailable",
  "RequestTimeout",
  "OperationAborted",
  "ConditionalRequestConflict",
]);
/** Codes which mean that the clocks differ. */
const SKEWED = new Set(["RequestTimeTooSkewed", "RequestExpired"]);
/** Codes which mean that the keys are no longer valid. */
const EXPIRED = new Set(["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken"]);
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

/** Returns whether the same request may succeed later. */
export const mayPass = ({ status, code }: S3Error): boolean =>
  (PASSING.has(status) || PASSING_CODES.has(code)) && code !== "NoCredentials";

/**
 * The handling of operations without an answer when the service becomes unavailable: they wait until it is available,
 * or they fail.
 */
export type PendingOperations = "wait" | "fail";

/** Signs and sends requests to one bucket, and repeats them. */
export class S3Requests implements AsyncDisposable {
  /**
   * Called with the failure when this process finds the service unavailable, and with undefined when it is available
   * again.
   */
  found: (away: S3Error | undefined) => void = () => {};
  readonly #options: S3Options;
  readonly #machine: Machine;
  readonly #pending: PendingOperations;
  readonly #account: Renewed<S3Credentials>;
  readonly #origin: string;
  /** The connections. Replaced after an unanswered request, because the old connections may be dead. */
  #transport: Transport;
  readonly #dropped: Transport[] = [];
  readonly #host: string;
  readonly #root: string;
  /** How far the service's clock is ahead of this machine's, in ms. */
  #clockAheadMs = 0;
  /**
   * The failure of the last operation whose attempts have all failed. Undefined if, to this process's knowledge, the
   * service is available.
   */
  #away: S3Error | undefined;
  /** The timer of the checks whether the service is available again. Present while it is unavailable. */
  #probes: Timer | undefined;
  /** The number of checks in progress. */
  #asked = 0;

  constructor(
    options: S3Options,
    machine: Machine,
    environment: Readonly<Record<string, string | undefined>> = process.env,
    pending: PendingOperations = "wait",
  ) {
    this.#machine = machine;
    this.#pending = pending;
    const { endpoint = `https://s3.${options.region}.amazonaws.com`, bucket, pathStyle, connections } = options;
    this.#options = options;
    this.#account = accountOf(machine, options, environment);
    const address = new URL(endpoint);
    if (!pathStyle) address.hostname = `${bucket}.${address.hostname}`;
    this.#host = address.host;
    this.#root = pathStyle ? `/${bucket}/` : "/";
    this.#origin = address.origin;
    this.#transport = this.#connect(connections);
  }

  #connect(connections: number): Transport {
    const { caFile, timeoutMs } = this.#options;
    return new Transport({
      disk: this.#machine.disk,
      origin: this.#origin,
      connections,
      connectTimeoutMs: Math.min(CONNECT_MS, timeoutMs),
      ...(caFile === undefined ? {} : { caFile }),
    });
  }

  /** Why the service is unavailable. Undefined if, to this process's knowledge, it is available. */
  get away(): S3Error | undefined {
    return this.#away;
  }

  /**
   * Takes over from another process that the service is unavailable (with the failure), or available again (undefined).
   */
  tell(away: S3Error | undefined): void {
    if (away === undefined) this.#isBack();
    else if (this.#away === undefined) {
      this.#isAway(away, TOLD_PROBE_MS);
      // A check corrects this at once if it is outdated.
      void this.#probe();
    }
  }

  /** The number of times that keys could not be obtained or renewed. */
  get failedRenewals(): number {
    return this.#account.failures;
  }

  /** Returns the time by the service's clock, ms since 1970. */
  now(): number {
    return this.#machine.clock.now() + this.#clockAheadMs;
  }

  /** Returns a key with the prefix of the options. */
  keyOf(key: string): string {
    const { prefix } = this.#options;
    return prefix === "" ? key : `${prefix}/${key}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#probes?.cancel();
    await this.#endDropped();
    await this.#transport[Symbol.asyncDispose]();
  }

  /**
   * Runs an operation. While the service is unavailable all operations fail at once, so that a reader does not wait for
   * the time limit of each tile.
   * @throws S3Error
   */
  async run(operation: Operation): Promise<TriedS3Response> {
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
   * @throws S3Error while the service is unavailable, or if it refuses
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
    if (!(error instanceof S3Error) || !PASSING.has(error.status) || error.code === "NoCredentials") return;
    if (this.#away !== undefined) return;
    this.#isAway(error, PROBE_MS);
    this.found(error);
  }

  #isAway(error: S3Error, probeMs: number): void {
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
      if (!(error instanceof S3Error) || PASSING.has(error.status)) return;
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
      const query = { "list-type": "2", "max-keys": "1", prefix: this.keyOf("") };
      const ask = () => this.#try({ method: "GET", key: undefined, query }, this.now(), over.signal, transport);
      const asked = ask().catch((error: unknown) => {
        if (error instanceof S3Error && error.code === EXPIRED_KEYS) return ask();
        throw error;
      });
      const answer = await unlessLate(this.#machine.clock, asked, Math.min(QUESTION_MS, this.#options.timeoutMs));
      if (answer === LATE) throw new S3Error(0, NO_ANSWER);
      if (answer.status >= 300) throw errorOf(answer);
    } finally {
      this.#asked--;
      over.abort();
      await transport[Symbol.asyncDispose]();
    }
  }

  /** Runs an operation, and repeats it within the time limit after failures that may pass. @throws S3Error */
  async #repeated(operation: Operation): Promise<TriedS3Response> {
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
  async #attempts(operation: Operation, late: AbortSignal): Promise<TriedS3Response> {
    const { clock, random } = this.#machine;
    const { expected = [], guard, signal } = operation;
    const beganMs = clock.monotonicNow();
    // All attempts of a put expire at the same time: a repetition must not extend it.
    let atMs = this.now();
    let last: S3Error | undefined;
    for (let tries = 1; ; tries++) {
      // An earlier attempt may have stored the object, so its failure is reported.
      if (signal?.aborted === true) throw last ?? new NotSent("ended");
      if (guard?.() === false) throw last ?? new NotSent("refused");
      let failure: S3Error;
      try {
        const answer = await this.#try(operation, operation.seconds === undefined ? this.now() : atMs, late);
        if (answer.status < 300 || expected.includes(answer.status)) return { ...answer, tries };
        failure = errorOf(answer);
      } catch (error) {
        if (!(error instanceof S3Error)) throw error;
        failure = error;
      }
      const isCorrected = (SKEWED.has(failure.code) || failure.code === EXPIRED_KEYS) && tries === 1;
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
  ): Promise<S3Response> {
    const { method, key, query = {}, headers = {}, body, seconds } = operation;
    const path = key === undefined ? this.#root : `${this.#root}${this.keyOf(key)}`;
    const unsigned: UnsignedRequest = { method, host: this.#host, path, query, headers };
    const credentials = await this.#account.current();
    const signing = { service: "s3", region: this.#options.region, credentials, atMs } as const;
    const signed: SignedRequest =
      seconds === undefined
        ? signHeaders(
            unsigned,
            createHash("sha256")
              .update(body ?? "")
              .digest("hex"),
            signing,
          )
        : signAddress(unsigned, seconds, signing);
    const sentMs = this.#machine.clock.now();
    const answer = await transport.send(method, signed, body, signal);
    this.#noteClock(answer.headers["date"], sentMs);
    // Keys of a role may end early, and an operator may have replaced the keys of a file.
    if (answer.status >= 400 && EXPIRED.has(errorOf(answer).code) && this.#account.refused(credentials))
      throw new S3Error(answer.status, EXPIRED_KEYS);
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

/** Returns the error for an answer with an unexpected status. */
export function errorOf({ status, body, headers }: S3Response): S3Error {
  // An answer to HEAD has no body.
  const named =
    body.byteLength === 0 ? headers["x-minio-error-code"] : parseErrorCode(Buffer.from(body).toString("utf8"));
  return new S3Error(status, named ?? (status === 403 ? "AccessDenied" : "the service failed"));
}
