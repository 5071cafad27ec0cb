import { BlockingCalls } from "../../../lib/process/blocking-calls.ts";
import { StoreError } from "../../tile-store.ts";
import type { S3Away } from "../s3-error.ts";
import type { S3StoreOptions } from "../s3-options.ts";

/** A call of the thread. */
export interface BridgeCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

interface BridgeFault {
  /** The code of the error; undefined: it is not an error of the store. */
  readonly code: StoreError["code"] | undefined;
  readonly message: string;
}

export type BridgeAnswer<R> = { readonly result: R } | { readonly fault: BridgeFault };

/** Methods that a thread executes while this thread waits. */
type AsyncMethods<M> = { readonly [K in keyof M]: (...args: never[]) => Promise<unknown> };
/** Tells the thread that the service is away, or back. */
type Told = { readonly tell: (away: S3Away | null) => Promise<void> };

/**
 * After a call without an answer, calls fail at once for so long: a service that hangs must not stop the coordinator for
 * every call.
 */
const REST_MS = 5_000;
const GRACE_MS = 2_000;

/** Calls asynchronous methods of a thread and waits for their results. The thread is started by the first call. */
export class SyncBridge<M extends AsyncMethods<M> & Told> {
  readonly #thread: URL;
  readonly #options: S3StoreOptions;
  #calls: BlockingCalls<BridgeCall> | undefined;
  /** Calls fail with the error until then. */
  #lastFault: { readonly error: StoreError; readonly untilMs: number } | undefined;
  readonly #failed: () => void;

  /** `failed`: called when a call has failed because the service is away. */
  constructor(thread: URL, options: S3StoreOptions, failed: () => void) {
    this.#thread = thread;
    this.#options = options;
    this.#failed = failed;
  }

  #start(): BlockingCalls<BridgeCall> {
    return new BlockingCalls(this.#thread, this.#options);
  }

  /** @throws StoreError */
  call<K extends keyof M & string>(method: K, ...args: Parameters<M[K]>): Awaited<ReturnType<M[K]>> {
    if (this.#lastFault !== undefined && performance.now() < this.#lastFault.untilMs) throw this.#lastFault.error;
    this.#calls ??= this.#start();
    const limitMs = this.#options.timeoutMs + GRACE_MS;
    const answer = this.#calls.call<BridgeAnswer<Awaited<ReturnType<M[K]>>>>({ method, args }, limitMs);
    if (answer === undefined) {
      const message = `store ${this.#options.id}: there was no answer in ${limitMs} ms`;
      throw this.#unavailable(new StoreError("unavailable", message, undefined));
    }
    if ("fault" in answer) throw this.#faultOf(answer.fault);
    return answer.result;
  }

  /** The service has answered another request: calls are tried again. */
  recovered(): void {
    this.#lastFault = undefined;
  }

  /** The service has failed another request: calls fail at once for some seconds. */
  rests(error: StoreError): void {
    this.#rest(error);
  }

  /** The service is away, so that calls fail at once, until it is back. */
  tell(away: { readonly cause: S3Away; readonly error: StoreError } | undefined): void {
    this.#lastFault = away && { error: away.error, untilMs: Number.POSITIVE_INFINITY };
    // The thread loads its code meanwhile: the first call after the return of the service would wait for that too.
    if (away !== undefined && this.#options.isOwner) this.#calls ??= this.#start();
    const cause = away === undefined ? null : { status: away.cause.status, code: away.cause.code };
    this.#calls?.note({ method: "tell", args: [cause] });
  }

  #faultOf({ code, message }: BridgeFault): Error {
    if (code === undefined) return new Error(message);
    const error = new StoreError(code, message, undefined);
    return code === "unavailable" ? this.#unavailable(error) : error;
  }

  #unavailable(error: StoreError): StoreError {
    this.#failed();
    return this.#rest(error);
  }

  #rest(error: StoreError): StoreError {
    const untilMs = performance.now() + REST_MS;
    if (this.#lastFault === undefined || this.#lastFault.untilMs < untilMs) this.#lastFault = { error, untilMs };
    return error;
  }

  async close(): Promise<void> {
    await this.#calls?.close();
  }
}
