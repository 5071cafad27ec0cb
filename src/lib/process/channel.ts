import { codeOf } from "../error-code.ts";

/** The methods that one side of a channel offers. Arguments and answers must be structured-cloneable. */
export type Methods<T> = { readonly [K in keyof T]: (...args: never[]) => unknown };

type Call = {
  readonly kind: "call";
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The method takes a signal after its arguments. */
  readonly cancellable: boolean;
};
type Cancel = { readonly kind: "cancel"; readonly id: number };
type Note = { readonly kind: "note"; readonly method: string; readonly args: readonly unknown[] };
type CallAnswer =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | {
      readonly kind: "error";
      readonly id: number;
      readonly message: string;
      readonly stack: string | undefined;
      readonly code: string;
    };
/** A message between the two sides of a channel. */
export type Message = Call | Cancel | Note | CallAnswer;

type Parameters_<F> = F extends (...args: infer A) => unknown ? A : never;
/** The arguments of a method that takes an `AbortSignal` last, without it. */
type ParametersUntil<F> = F extends (...args: [...infer A, AbortSignal]) => unknown ? A : never;
type Answered<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;
/**
 * How a method is called through a channel. `call` waits for the answer. `until` is a `call` whose last argument is a
 * signal that also ends the call on the other side. `note` has no answer.
 */
export type Sending = "call" | "until" | "note";
type SendingOf<F> =
  Parameters_<F> extends readonly [...unknown[], AbortSignal]
    ? "until"
    : F extends (...args: never[]) => Promise<unknown>
      ? "call"
      : "note";
const isId = (value: unknown): boolean => Number.isSafeInteger(value);
const isText = (value: unknown): boolean => typeof value === "string";

/** The fields of each kind of message, with checks of their values. The called methods check the arguments. */
const FIELDS: Readonly<Record<Message["kind"], Readonly<Record<string, (value: unknown) => boolean>>>> = {
  call: { id: isId, method: isText, args: Array.isArray, cancellable: (value) => typeof value === "boolean" },
  note: { method: isText, args: Array.isArray },
  cancel: { id: isId },
  answer: { id: isId },
  error: { id: isId, message: isText, stack: (value) => value === undefined || isText(value), code: isText },
};

/** Returns whether a value from another process is a message. */
export function isMessage(value: unknown): value is Message {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map(Object.entries(value));
  const checks = Object.entries(FIELDS).find(([kind]) => kind === fields.get("kind"))?.[1];
  return checks !== undefined && Object.entries(checks).every(([name, check]) => check(fields.get(name)));
}

/** The code of an error about a message that is malformed, or whose arguments do not fit its method. */
export const MALFORMED = "malformed_message";

/** The code of an error about a method that the other side does not have. */
export const UNKNOWN_METHOD = "unknown_method";

/** Names each method of an interface together with the way it is sent. The types allow only the fitting way. */
export type Sendings<T> = { readonly [K in keyof T]: SendingOf<T[K]> };

/** Calls a method on the other side of a connection as a note. The sender needs no channel for it. */
export function noteTo<Remote extends Methods<Remote>, K extends keyof Remote & string = keyof Remote & string>(
  port: Pick<Port, "postMessage">,
  method: K,
  args: Parameters_<Remote[K]>,
): void {
  port.postMessage({ kind: "note", method, args } satisfies Note);
}

/** One end of the connection below a channel. */
export type Port = {
  postMessage(message: Message): void;
  on(event: "message", listener: (message: Message) => void): unknown;
};

/** The other end of a process's IPC: a child or the parent. The child was forked with `serialization: "advanced"`. */
interface IpcProcess {
  send?(message: unknown, handle?: undefined, options?: undefined, done?: (error: Error | null) => void): boolean;
  on(event: "message", listener: (message: Message) => void): unknown;
}

/**
 * Returns the port of a process. Errors of sending are ignored: they mean that the other process has ended, and its
 * "exit" or "disconnect" event reports that.
 */
export const portOfProcess = (other: IpcProcess): Port => ({
  postMessage: (message) => void other.send?.(message, undefined, undefined, () => {}),
  on: (event, listener) => other.on(event, listener),
});

/** Returns a port that omits the notes of one method of this side. These notes go to `taken`. */
export const withoutNotes = <Local extends Methods<Local>, K extends keyof Local & string>(
  port: Port,
  method: K,
  taken: (...args: Parameters_<Local[K]>) => void,
): Port => ({
  postMessage: (message) => port.postMessage(message),
  on: (event, listener) =>
    port.on(event, (message) => {
      if (message.kind === "note" && message.method === method) Reflect.apply(taken, undefined, message.args);
      else listener(message);
    }),
});

/**
 * Sends typed calls between threads or processes, in order, in both directions. An error is sent as its message, stack
 * and code. Arguments and answers are cloned.
 */
export class Channel<Local extends Methods<Local>, Remote extends Methods<Remote>> {
  readonly #port: Port;
  readonly #local: ReadonlyMap<string, unknown>;
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  /** Calls of the other side that are running and that it may cancel, by id. */
  readonly #cancellable = new Map<number, AbortController>();
  readonly #noteFailed: ((method: string, error: unknown) => void) | undefined;
  #next = 1;
  #closed: Error | undefined;

  /**
   * @param noteFailed called when a method that was called by a note throws; absent: the error is an uncaught exception
   */
  constructor(port: Port, local: Local, noteFailed?: (method: string, error: unknown) => void) {
    this.#port = port;
    this.#noteFailed = noteFailed;
    this.#local = new Map(Object.entries(local));
    port.on("message", (message) => this.#receive(message));
  }

  /**
   * Calls a method of the other side.
   * @throws the error of the other side, or the reason of `close`
   */
  call<K extends keyof Remote & string>(method: K, ...args: Parameters_<Remote[K]>): Promise<Answered<Remote[K]>> {
    return this.#send(this.#next++, method, args, false);
  }

  /**
   * Calls a method that takes a signal last. When `signal` fires, the signal of the other side fires too.
   * @throws as `call`
   */
  async callUntil<K extends keyof Remote & string>(
    signal: AbortSignal,
    method: K,
    ...args: ParametersUntil<Remote[K]>
  ): Promise<Answered<Remote[K]>> {
    const id = this.#next++;
    const cancel = () => this.#port.postMessage({ kind: "cancel", id } satisfies Cancel);
    const answered = this.#send<K>(id, method, args, true);
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await answered;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  #send<K extends keyof Remote & string>(
    id: number,
    method: K,
    args: readonly unknown[],
    cancellable: boolean,
  ): Promise<Answered<Remote[K]>> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#port.postMessage({ kind: "call", id, method, args, cancellable } satisfies Call);
    });
  }

  /** Calls a method of the other side without waiting for an answer. */
  note<K extends keyof Remote & string>(method: K, args: Parameters_<Remote[K]>): void {
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
        if (message.kind === "answer") waiter.resolve(message.value as never);
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
    // The name arrived as data, so the type of `local` cannot be indexed by it. The sender's `call` or `note` has
    // checked the name.
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

type AnyMethod = (...args: unknown[]) => unknown;

/** Returns the methods of the other side of a channel as an object. */
export function remoteMethods<T extends Methods<T>>(
  channel: Pick<Channel<Record<never, never>, T>, "call" | "callUntil" | "note">,
  sendings: Sendings<T>,
): T {
  // The names are the keys of `T`, so each call fits `T`; the compiler cannot follow a name that is a variable.
  const untyped = channel as unknown as {
    call(method: string, ...args: unknown[]): unknown;
    callUntil(signal: unknown, method: string, ...args: unknown[]): unknown;
    note(method: string, args: unknown[]): void;
  };
  const methodOf = (name: string, sending: Sending): AnyMethod => {
    switch (sending) {
      case "call":
        return (...args) => untyped.call(name, ...args);
      case "until":
        return (...args) => untyped.callUntil(args.at(-1), name, ...args.slice(0, -1));
      case "note":
        return (...args) => untyped.note(name, args);
    }
  };
  return mapSendings(sendings, methodOf);
}

/**
 * Returns methods that call the methods of an object. The object is looked up at each call, because it is built later
 * than the channel. While there is no object, the methods do nothing and return undefined.
 */
export function localMethods<T extends Methods<T>>(target: () => T | undefined, sendings: Sendings<T>): T {
  return mapSendings(sendings, (name) => (...args) => {
    const object = target();
    return object === undefined ? undefined : Reflect.apply(object[name as keyof T], object, args);
  });
}

const mapSendings = <T>(sendings: Sendings<T>, methodOf: (name: string, sending: Sending) => AnyMethod): T =>
  Object.fromEntries(Object.entries<Sending>(sendings).map(([name, sending]) => [name, methodOf(name, sending)])) as T;

/** Wraps the methods of an object in `around`, except for notes. */
export const aroundMethods = <T extends Methods<T>>(
  object: T,
  sendings: Sendings<T>,
  around: (method: AnyMethod) => AnyMethod,
): T =>
  mapSendings(sendings, (name, sending) => {
    const method: AnyMethod = (...args) => Reflect.apply(object[name as keyof T], object, args);
    return sending === "note" ? method : around(method);
  });
