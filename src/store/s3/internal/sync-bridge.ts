import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { StoreError } from "../../tile-store.ts";
import type { S3StoreOptions } from "../s3-options.ts";

/** A call of the thread, and its answer. */
export interface BridgeCall {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export interface BridgeFault {
  /** The code of the error; undefined: it is not an error of the store. */
  readonly code: StoreError["code"] | undefined;
  readonly message: string;
}

export type BridgeAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly fault: BridgeFault };

/** The parameters of the thread. */
export interface BridgeData {
  readonly options: S3StoreOptions;
  readonly port: MessagePort;
  /** Its only value counts the answers. */
  readonly answered: Int32Array;
}

/** Methods that a thread executes while this thread waits. */
type AsyncMethods<M> = { readonly [K in keyof M]: (...args: never[]) => Promise<unknown> };

/**
 * After a call without an answer, calls fail at once for so long: a service that hangs must not stop the coordinator for
 * every call.
 */
const REST_MS = 5_000;
const GRACE_MS = 2_000;

/**
 * Calls asynchronous methods of another thread and waits for their results, so that an operation which the coordinator
 * runs in one turn of the event loop stays in one turn. A call costs some 40 µs by itself. The thread is started by the
 * first call.
 */
export class SyncBridge<M extends AsyncMethods<M>> {
  readonly #thread: URL;
  readonly #options: S3StoreOptions;
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));
  readonly #channel = new MessageChannel();
  #worker: Worker | undefined;
  #calls = 0;
  #lastFault: { readonly error: StoreError; readonly untilMs: number } | undefined;

  constructor(thread: URL, options: S3StoreOptions) {
    this.#thread = thread;
    this.#options = options;
    // The channel must not keep a process alive.
    this.#channel.port1.unref();
  }

  /** @throws StoreError */
  call<K extends keyof M & string>(method: K, ...args: Parameters<M[K]>): Awaited<ReturnType<M[K]>> {
    if (this.#lastFault !== undefined && performance.now() < this.#lastFault.untilMs) throw this.#lastFault.error;
    this.#worker ??= this.#start();
    const id = ++this.#calls;
    const untilMs = performance.now() + this.#options.timeoutMs + GRACE_MS;
    this.#channel.port1.postMessage({ id, method, args } satisfies BridgeCall);
    for (;;) {
      const seen = Atomics.load(this.#answered, 0);
      const received = receiveMessageOnPort(this.#channel.port1);
      if (received !== undefined) {
        const { id: answered, result, fault } = received.message;
        if (answered === id && fault === undefined) return result;
        if (answered === id) throw this.#faultOf(fault);
        // The answer of a call that was given up.
        continue;
      }
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) {
        const message = `store ${this.#options.id}: there was no answer in ${this.#options.timeoutMs + GRACE_MS} ms`;
        throw this.#rest(new StoreError("unavailable", message, undefined));
      }
      Atomics.wait(this.#answered, 0, seen, leftMs);
    }
  }

  /** The service has answered another request: calls are tried again. */
  recovered(): void {
    this.#lastFault = undefined;
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

  #start(): Worker {
    const { port2 } = this.#channel;
    const data: BridgeData = { options: this.#options, port: port2, answered: this.#answered };
    const worker = new Worker(this.#thread, { workerData: data, transferList: [port2] });
    worker.unref();
    return worker;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#channel.port1.close();
  }
}
