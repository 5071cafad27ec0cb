import { BlockingCalls } from "../../../lib/blocking-calls.ts";
import { StoreError } from "../../tile-store.ts";
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

/**
 * After a call without an answer, calls fail at once for so long: a service that hangs must not stop the coordinator for
 * every call.
 */
const REST_MS = 5_000;
const GRACE_MS = 2_000;

/** Calls asynchronous methods of a thread and waits for their results. The thread is started by the first call. */
export class SyncBridge<M extends AsyncMethods<M>> {
  readonly #thread: URL;
  readonly #options: S3StoreOptions;
  #calls: BlockingCalls<BridgeCall> | undefined;
  #lastFault: { readonly error: StoreError; readonly untilMs: number } | undefined;

  constructor(thread: URL, options: S3StoreOptions) {
    this.#thread = thread;
    this.#options = options;
  }

  /** @throws StoreError */
  call<K extends keyof M & string>(method: K, ...args: Parameters<M[K]>): Awaited<ReturnType<M[K]>> {
    if (this.#lastFault !== undefined && performance.now() < this.#lastFault.untilMs) throw this.#lastFault.error;
    this.#calls ??= new BlockingCalls(this.#thread, this.#options);
    const limitMs = this.#options.timeoutMs + GRACE_MS;
    const answer = this.#calls.call<BridgeAnswer<Awaited<ReturnType<M[K]>>>>({ method, args }, limitMs);
    if (answer === undefined) {
      const message = `store ${this.#options.id}: there was no answer in ${limitMs} ms`;
      throw this.#rest(new StoreError("unavailable", message, undefined));
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

  #faultOf({ code, message }: BridgeFault): Error {
    if (code === undefined) return new Error(message);
    const error = new StoreError(code, message, undefined);
    return code === "unavailable" ? this.#rest(error) : error;
  }

  #rest(error: StoreError): StoreError {
    this.#lastFault = { error, untilMs: performance.now() + REST_MS };
    return error;
  }

  async close(): Promise<void> {
    await this.#calls?.close();
  }
}
