import { BlockingCalls } from "../../../lib/process/blocking-calls.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { StoreError } from "../../tile-store.ts";
import type { RemoteAway } from "../remote-error.ts";
import type { RemoteStoreParts } from "../remote-options.ts";

/** A call of a method in the thread. */
export interface BridgeCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

interface BridgeFault {
  /** The code of a StoreError. Undefined for any other error. */
  readonly code: StoreError["code"] | undefined;
  readonly message: string;
}

export type BridgeAnswer<R> = { readonly result: R } | { readonly fault: BridgeFault };

/** Methods that a thread executes while the calling thread waits. */
type AsyncMethods<M> = { readonly [K in keyof M]: (...args: never[]) => Promise<unknown> };
/** Tells the thread that the service is unavailable (with the cause), or available again (null). */
type Told = { readonly tell: (away: RemoteAway | null) => Promise<void> };

/**
 * After an unanswered call, calls fail at once for this time, so that a service that hangs does not block the
 * coordinator for every call.
 */
const REST_MS = 5_000;
const GRACE_MS = 2_000;

/** Calls asynchronous methods in a thread and blocks until their results arrive. The first call starts the thread. */
export class SyncBridge<M extends AsyncMethods<M> & Told> {
  readonly #clock: Clock;
  readonly #thread: URL;
  readonly #options: RemoteStoreParts;
  #calls: BlockingCalls<BridgeCall> | undefined;
  /** The error with which calls fail until a time. Undefined while calls are sent. */
  #lastFault: { readonly error: StoreError; readonly untilMs: number } | undefined;
  readonly #failed: () => void;

  /** @param failed called when a call has failed because the service is unavailable */
  constructor(clock: Clock, thread: URL, options: RemoteStoreParts, failed: () => void) {
    this.#clock = clock;
    this.#thread = thread;
    this.#options = options;
    this.#failed = failed;
  }

  #start(): BlockingCalls<BridgeCall> {
    return new BlockingCalls(this.#thread, this.#options);
  }

  /** @throws StoreError */
  call<K extends keyof M & string>(method: K, ...args: Parameters<M[K]>): Awaited<ReturnType<M[K]>> {
    if (this.#lastFault !== undefined && this.#clock.monotonicNow() < this.#lastFault.untilMs)
      throw this.#lastFault.error;
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

  /** Lets calls be tried again: the service has answered another request. */
  recovered(): void {
    this.#lastFault = undefined;
  }

  /** Lets calls fail at once for some seconds: the service has failed another request. */
  rests(error: StoreError): void {
    this.#rest(error);
  }

  /** Lets calls fail at once while the service is unavailable; undefined: it is available again. */
  tell(away: { readonly cause: RemoteAway; readonly error: StoreError } | undefined): void {
    this.#lastFault = away && { error: away.error, untilMs: Number.POSITIVE_INFINITY };
    // Starts the thread now, so that the first call after the service's return need not wait for the thread to load its
    // code.
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
    const untilMs = this.#clock.monotonicNow() + REST_MS;
    if (this.#lastFault === undefined || this.#lastFault.untilMs < untilMs) this.#lastFault = { error, untilMs };
    return error;
  }

  async close(): Promise<void> {
    await this.#calls?.close();
  }
}
