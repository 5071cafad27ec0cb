import { codeOf } from "../error-code.ts";
import type { Call, CallAnswer, Cancel, Message, Note, Port } from "./message.ts";
import { type Calls, type MethodTable, remoteMethods } from "./method-table.ts";

/** The code of an error about a message that is malformed, or whose arguments do not fit its method. */
export const MALFORMED = "malformed_message";

/** The code of an error about a method that the other side does not have. */
export const UNKNOWN_METHOD = "unknown_method";

/**
 * Sends calls between threads or processes, in order, in both directions. An error is sent as its message, stack and
 * code. Arguments and answers are cloned. `Remote` has the methods of the other side.
 */
export class Channel<Remote> implements Calls {
  /** The methods of the other side. */
  readonly remote: Remote;
  readonly #port: Port;
  readonly #local: ReadonlyMap<string, unknown>;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  /** Calls of the other side that are running and that it may cancel, by id. */
  readonly #cancellable = new Map<number, AbortController>();
  readonly #noteFailed: ((method: string, error: unknown) => void) | undefined;
  #next = 1;
  #closed: Error | undefined;

  /**
   * @param local the methods of this side
   * @param table the methods of the other side
   * @param noteFailed called when a method that was called by a note throws; absent: the error is an uncaught exception
   */
  constructor(
    port: Port,
    local: object,
    table: MethodTable<Remote>,
    noteFailed?: (method: string, error: unknown) => void,
  ) {
    this.#port = port;
    this.#noteFailed = noteFailed;
    this.#local = new Map(Object.entries(local));
    this.remote = remoteMethods(this, table);
    port.on("message", (message) => this.#receive(message));
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    return this.#send({ kind: "call", id: this.#next++, method, args, cancellable: false });
  }

  async callUntil(method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const id = this.#next++;
    const cancel = () => this.#port.postMessage({ kind: "cancel", id } satisfies Cancel);
    const answered = this.#send({ kind: "call", id, method, args, cancellable: true });
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await answered;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  #send(call: Call): Promise<unknown> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#waiting.set(call.id, { resolve, reject });
      this.#port.postMessage(call);
    });
  }

  note(method: string, args: readonly unknown[]): void {
    if (this.#closed !== undefined) return;
    this.#port.postMessage({ kind: "note", method, args } satisfies Note);
  }

  /** Rejects every unanswered call, and every later call, with `reason`. */
  close(reason: Error): void {
    this.#closed = reason;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }

  #receive(message: Message): void {
    switch (message.kind) {
      case "note":
        this.#noted(message);
        return;
      case "call":
        void this.#answer(message);
        return;
      case "cancel":
        this.#cancellable.get(message.id)?.abort(new Error("cancelled"));
        return;
      case "answer":
      case "error": {
        const waiter = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if (waiter === undefined) return;
        if (message.kind === "answer") waiter.resolve(message.value);
        else waiter.reject(errorOf(message));
      }
    }
  }

  #noted({ method, args }: Note): void {
    const failed = this.#noteFailed;
    if (failed === undefined) {
      this.#invoke(method, args);
      return;
    }
    try {
      Promise.resolve(this.#invoke(method, args)).catch((error: unknown) => failed(method, error));
    } catch (error) {
      failed(method, error);
    }
  }

  #invoke(name: string, args: readonly unknown[]): unknown {
    const method = this.#local.get(name);
    if (typeof method !== "function")
      throw Object.assign(new Error(`no method ${name} on this side of the channel`), { code: UNKNOWN_METHOD });
    return Reflect.apply(method, undefined, args);
  }

  #signalOf(id: number): AbortSignal {
    const abort = new AbortController();
    this.#cancellable.set(id, abort);
    return abort.signal;
  }

  async #answer({ id, method, args, cancellable }: Call): Promise<void> {
    try {
      const value = await this.#invoke(method, cancellable ? [...args, this.#signalOf(id)] : args);
      this.#port.postMessage({ kind: "answer", id, value } satisfies CallAnswer);
    } catch (error) {
      const e = error instanceof Error ? error : new Error(String(error));
      this.#port.postMessage({
        kind: "error",
        id,
        message: e.message,
        stack: e.stack,
        code: codeOf(e),
      } satisfies CallAnswer);
    } finally {
      this.#cancellable.delete(id);
    }
  }
}

const errorOf = ({ message, stack, code }: Extract<CallAnswer, { kind: "error" }>): Error =>
  Object.assign(new Error(message), { stack }, code === "" ? {} : { code });
