import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type BackOff, jittered, pauseAfter } from "../../../lib/back-off.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Credentials, S3Options } from "../s3-options.ts";
import { credentialsOf } from "./credentials.ts";
import { parseErrorCode } from "./s3-xml.ts";
import { type SignedRequest, signAddress, signHeaders, type UnsignedRequest } from "./signer.ts";
import { type Answer, Transport } from "./transport.ts";

type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE";

export interface Operation {
  readonly method: Method;
  /** The key under the prefix; undefined: the bucket itself. */
  readonly key: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses that the caller handles. All others above 299 are errors. */
  readonly expected?: readonly number[];
  /** The request is signed in its address and ends so many seconds after its beginning. */
  readonly seconds?: number;
  readonly guard?: () => boolean;
}

export interface TriedAnswer extends Answer {
  readonly tries: number;
}

const TRIES = 4;
const PAUSES: BackOff = { firstMs: 60, longestMs: 1_000 };
/** While the service is away, one operation asks it so often. */
const AWAY_MS = 1_000;
/** How long other operations wait for the result of that one. */
const BESIDE_PROBE_MS = 250;
const CONNECT_MS = 3_000;
/** Statuses and codes after which the same request may succeed. */
const PASSING = new Set([0, 429, 500, 502, 503, 504]);
const PASSING_CODES = new Set([
  "SlowDown",
  "InternalError",
  "ServiceUnavailable",
  "RequestTimeout",
  "OperationAborted",
  "ConditionalRequestConflict",
]);
/** Codes that say that the clocks differ. SeaweedFS and others answer an early or expired address with the third. */
const SKEWED = new Set(["RequestTimeTooSkewed", "RequestExpired"]);
/** A smaller difference of the clocks is that of a header in whole seconds. */
const CLOCK_STEP_MS = 2_000;

/** The guard of a put returned false. */
export class GuardedOff extends Error {}

/** Returns whether the same request may succeed later. */
export const mayPass = ({ status, code }: S3Error): boolean =>
  (PASSING.has(status) || PASSING_CODES.has(code)) && code !== "NoCredentials";

/** Signs and sends requests to one bucket, and repeats them. */
export class S3Requests implements AsyncDisposable {
  readonly #options: S3Options;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #transport: Transport;
  readonly #host: string;
  readonly #root: string;
  #credentials: Promise<S3Credentials> | undefined;
  /** How far the service's clock is ahead. */
  #clockAheadMs = 0;
  /** The failure of the last operation that all tries have failed, and until when other operations fail as it did. */
  #away: { readonly failure: S3Error; readonly untilMs: number } | undefined;
  /** Ends with the operation that asks whether the service is still away. */
  #probe: Promise<void> | undefined;

  constructor(options: S3Options, environment: Readonly<Record<string, string | undefined>> = process.env) {
    const { endpoint = `https://s3.${options.region}.amazonaws.com`, bucket, pathStyle, caFile, connections } = options;
    this.#options = options;
    this.#environment = environment;
    const address = new URL(endpoint);
    if (!pathStyle) address.hostname = `${bucket}.${address.hostname}`;
    this.#host = address.host;
    this.#root = pathStyle ? `/${bucket}/` : "/";
    this.#transport = new Transport({
      origin: address.origin,
      connections,
      connectTimeoutMs: Math.min(CONNECT_MS, options.timeoutMs),
      ...(caFile === undefined ? {} : { caFile }),
    });
  }

  /** The time by the service's clock, ms since 1970. */
  now(): number {
    return Date.now() + this.#clockAheadMs;
  }

  /** Returns a key with the prefix of the options. */
  keyOf(key: string): string {
    const { prefix } = this.#options;
    return prefix === "" ? key : `${prefix}/${key}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]();
  }

  /**
   * Runs an operation. While the service is away, one operation a second asks it, and all others fail at once: a reader
   * must not wait for the time limit of each tile.
   * @throws S3Error
   */
  async run(operation: Operation): Promise<TriedAnswer> {
    const away = this.#away;
    if (away === undefined) return await this.#observed(operation);
    if (this.#probe === undefined && performance.now() < away.untilMs) throw away.failure;
    if (this.#probe !== undefined) {
      // Operations come in groups, such as the lists of a cell: those beside the probe must not fail when it succeeds.
      await Promise.race([this.#probe, sleep(BESIDE_PROBE_MS, undefined, { ref: false })]);
      if (this.#away !== undefined) throw away.failure;
      return await this.#observed(operation);
    }
    const probe = this.#observed(operation);
    this.#probe = probe.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await probe;
    } finally {
      this.#probe = undefined;
    }
  }

  async #observed(operation: Operation): Promise<TriedAnswer> {
    try {
      const answer = await this.#repeated(operation);
      this.#away = undefined;
      return answer;
    } catch (error) {
      if (error instanceof S3Error && PASSING.has(error.status) && error.code !== "NoCredentials")
        this.#away = { failure: error, untilMs: performance.now() + AWAY_MS };
      else if (error instanceof S3Error) this.#away = undefined;
      throw error;
    }
  }

  /** Runs an operation, again after failures that may pass, within the time limit. @throws S3Error */
  async #repeated(operation: Operation): Promise<TriedAnswer> {
    const { expected = [], guard } = operation;
    const beganMs = performance.now();
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    // All tries of a put end together: a repetition must not prolong its end.
    let atMs = this.now();
    let last: S3Error | undefined;
    for (let tries = 1; ; tries++) {
      // An earlier try may have been stored, so that only its failure is known.
      if (guard?.() === false) throw last ?? new GuardedOff();
      let failure: S3Error;
      try {
        const answer = await this.#try(operation, operation.seconds === undefined ? this.now() : atMs, signal);
        if (answer.status < 300 || expected.includes(answer.status)) return { ...answer, tries };
        failure = errorOf(answer);
      } catch (error) {
        if (!(error instanceof S3Error)) throw error;
        failure = error;
      }
      const isSkewed = SKEWED.has(failure.code) && tries === 1;
      if (isSkewed) atMs = this.now();
      const pauseMs = isSkewed ? 0 : jittered(pauseAfter(tries, PAUSES), Math.random());
      const leftMs = this.#options.timeoutMs - (performance.now() - beganMs);
      if (!(isSkewed || mayPass(failure)) || tries === TRIES || pauseMs >= leftMs) throw failure;
      last = failure;
      await sleep(pauseMs);
    }
  }

  async #try(operation: Operation, atMs: number, signal: AbortSignal): Promise<Answer> {
    const { method, key, query = {}, headers = {}, body, seconds } = operation;
    const path = key === undefined ? this.#root : `${this.#root}${this.keyOf(key)}`;
    const unsigned: UnsignedRequest = { method, host: this.#host, path, query, headers };
    const credentials = await this.#account();
    const signing = { region: this.#options.region, credentials, atMs };
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
    const sentMs = Date.now();
    const answer = await this.#transport.send(method, signed, body, signal);
    this.#noteClock(answer.headers["date"], sentMs);
    return answer;
  }

  #account(): Promise<S3Credentials> {
    this.#credentials ??= credentialsOf(this.#options, this.#environment).catch((error: unknown) => {
      // The operator may write the file later.
      this.#credentials = undefined;
      throw error;
    });
    return this.#credentials;
  }

  #noteClock(date: string | undefined, sentMs: number): void {
    const serverMs = Date.parse(date ?? "");
    if (Number.isNaN(serverMs)) return;
    // The header names the second in which the answer was made, between the request and now.
    const aheadMs = serverMs + 500 - (sentMs + Date.now()) / 2;
    this.#clockAheadMs = Math.abs(aheadMs) < CLOCK_STEP_MS ? 0 : aheadMs;
  }
}

/** Returns the error of an answer that is none of the expected ones. */
export function errorOf({ status, body, headers }: Answer): S3Error {
  // An answer to HEAD has no body.
  const named =
    body.byteLength === 0 ? headers["x-minio-error-code"] : parseErrorCode(Buffer.from(body).toString("utf8"));
  return new S3Error(status, named ?? (status === 403 ? "AccessDenied" : "the service failed"));
}
