import PQueue from "p-queue";
import { defined } from "../../lib/defined.ts";
import type { Machine } from "../../lib/machine.ts";
import type {
  Bucket,
  ListPage,
  ListQuery,
  ObjectHead,
  PendingOperations,
  PutOptions,
  PutResult,
  StoredObject,
} from "./bucket.ts";
import { type RemoteAway, RemoteError, remoteFailure } from "./remote-error.ts";
import type { BucketOptions } from "./remote-options.ts";
import { NotSent, type Operation, Requests, type Service, type TriedResponse } from "./requests.ts";

/** The metadata with the exact time of a write, ms since 1970. The service's time has whole seconds. */
export const WRITTEN = "nuthatch-written";
/** The most deletions at a time, for a service that deletes one object with a request. */
const DELETIONS_AT_ONCE = 16;

/** The part of a bucket that does not depend on the service's protocol. */
export abstract class ServiceBucket<Keys> implements Bucket {
  protected readonly requests: Requests<Keys>;
  readonly #options: BucketOptions;
  readonly #service: Service<Keys>;

  constructor(options: BucketOptions, service: Service<Keys>, machine: Machine, pending: PendingOperations) {
    this.#options = options;
    this.#service = service;
    this.requests = new Requests(options, service, machine, pending);
  }

  abstract readonly listsAfter: boolean;
  abstract get(key: string): Promise<StoredObject | undefined>;
  abstract head(key: string): Promise<ObjectHead | undefined>;
  abstract list(query: ListQuery): AsyncGenerator<ListPage>;
  /** Returns the request of a put. Its statuses `expected` mean that the condition does not hold. */
  protected abstract putOperation(key: string, body: Uint8Array, options: PutOptions): Operation;
  /** Returns the version of the object that a put has stored. Undefined if the answer does not tell it. */
  protected abstract etagOf(answer: TriedResponse): string | undefined;

  async put(key: string, body: Uint8Array, options: PutOptions): Promise<PutResult> {
    const { guard, signal } = options;
    const terms = { ...defined({ guard, signal }), seconds: this.#options.putSeconds };
    let answer: TriedResponse;
    try {
      answer = await this.requests.run({ ...this.putOperation(key, body, options), ...terms });
    } catch (error) {
      if (error instanceof NotSent) return { kind: error.why };
      throw error;
    }
    if (answer.status < 300) return { kind: "stored", etag: this.etagOf(answer) };
    // 404 means that the object of the condition was deleted.
    if (answer.status === 404 && !this.isAbsent(answer)) throw this.#service.failure(answer);
    // An earlier attempt of this put may have stored the object although its answer was lost.
    const written = options.metadata?.[WRITTEN];
    if (answer.tries === 1 || written === undefined) return { kind: "changed" };
    const there = await this.head(key);
    return there?.metadata[WRITTEN] === written && there.bytes === body.byteLength
      ? { kind: "stored", etag: there.etag }
      : { kind: "changed" };
  }

  async delete(key: string): Promise<void> {
    const answer = await this.requests.run({ method: "DELETE", key, expected: [404] });
    // A bucket that does not exist is no deleted object.
    this.isAbsent(answer);
  }

  async deleteAll(keys: readonly string[]): Promise<ReadonlyMap<string, RemoteError>> {
    const queue = new PQueue({ concurrency: DELETIONS_AT_ONCE });
    const failures = new Map<string, RemoteError>();
    const remove = async (key: string): Promise<void> => {
      try {
        await this.delete(key);
      } catch (error) {
        failures.set(key, error instanceof RemoteError ? error : remoteFailure(0, "not deleted", error));
      }
    };
    await queue.addAll(keys.map((key) => () => remove(key)));
    return failures;
  }

  /** Returns whether the object does not exist. @throws RemoteError when the bucket does not exist */
  protected isAbsent(answer: TriedResponse): boolean {
    if (answer.status !== 404) return false;
    const failure = this.#service.failure(answer);
    if (failure.concern === "settings") throw failure;
    return true;
  }

  get away(): RemoteError | undefined {
    return this.requests.away;
  }

  onFound(found: (away: RemoteError | undefined) => void): void {
    this.requests.found = found;
  }

  tell(away: RemoteAway | undefined): void {
    this.requests.tell(away && new RemoteError(away.status, away.code));
  }

  get failedRenewals(): number {
    return this.requests.failedRenewals;
  }

  now(): number {
    return this.requests.now();
  }

  async ask(): Promise<void> {
    await this.requests.ask();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.requests[Symbol.asyncDispose]();
  }
}

/** Returns a key with the prefix of a store. */
export const withPrefix = (prefix: string, key: string): string => (prefix === "" ? key : `${prefix}/${key}`);

/** Returns a parsed text. @throws RemoteError when the text cannot be parsed */
export function parsed<T>(parse: () => T, status: number, what: string): T {
  try {
    return parse();
  } catch (error) {
    throw remoteFailure(status, what, error);
  }
}

/** Returns the time of a header or a field, ms since 1970; 0 if it is no time. */
export function timeOf(text: string | undefined): number {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}
