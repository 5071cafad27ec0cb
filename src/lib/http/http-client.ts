import { LRUCache } from "lru-cache";
import type { Dispatcher } from "undici";
import { machineClock } from "../time/machine-clock.ts";
import type { DispatcherOptions, ExchangeOptions, ServerKind } from "./http-dispatcher.ts";
import { type HttpAnswer, HttpExchange } from "./http-exchange.ts";
import { ClosedBefore, TooLate } from "./http-failure.ts";
import { checkPublicHost } from "./private-address.ts";
import { whenAborted } from "./when-aborted.ts";

/** The most servers that have a connection pool at the same time. Redirects may lead to any number of servers. */
const MOST_SERVERS = 256;

/** The methods of requests. PURGE and BAN remove copies from caches. */
export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "PURGE", "BAN"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

export interface HttpQuestion {
  readonly method: HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The time, in ms of the monotonic clock, by which the whole answer must have been read. */
  readonly untilMs: number;
  /** The largest body of an answer, in bytes. */
  readonly limit: number;
  readonly server: ServerKind;
}

/** The request was made after the client was closed. */
class ClientClosed extends Error {
  readonly code = "ECANCELED";
}

/**
 * Sends requests by undici over persistent HTTP/1.1 connections. A GET whose connection was closed by the server before
 * the answer began is sent again (RFC 9112, 9.3.1). undici is loaded by the first request.
 */
export class HttpClient implements AsyncDisposable {
  readonly #options: DispatcherOptions;
  readonly #dispatchers = new LRUCache<string, Dispatcher>({
    max: MOST_SERVERS,
    dispose: (dispatcher) => void dispatcher.close(),
  });
  #running = 0;
  #closed = false;
  #reportIdle = (): void => {};

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /**
   * Sends a request to an address of http or https. A user and password in the address are not sent.
   * @throws the errors of `http-failure.ts`, PrivateAddress, the signal's reason, or Node's error when the connection
   * fails (codes such as `ECONNREFUSED`)
   */
  async request(url: URL, question: HttpQuestion, signal: AbortSignal): Promise<HttpAnswer> {
    if (this.#closed) throw new ClientClosed();
    this.#running++;
    try {
      const found = this.#dispatcher(url, question.server);
      const dispatcher = found instanceof Promise ? await found : found;
      for (;;) {
        signal.throwIfAborted();
        try {
          return await requestOnce(dispatcher, url, question, signal);
        } catch (error) {
          // The server closed this persistent connection. Each repetition uses up one such connection.
          if (question.method !== "GET" || !(error instanceof ClosedBefore)) throw error;
        }
      }
    } finally {
      if (--this.#running === 0) this.#reportIdle();
    }
  }

  #dispatcher({ origin, hostname }: URL, kind: ServerKind): Dispatcher | Promise<Dispatcher> {
    if (kind === "public") checkPublicHost(hostname.replace(/^\[|\]$/g, ""));
    const key = `${kind} ${origin}`;
    return this.#dispatchers.get(key) ?? this.#create(key, origin, kind);
  }

  async #create(key: string, origin: string, kind: ServerKind): Promise<Dispatcher> {
    const { createDispatcher } = await import("./http-dispatcher.ts");
    const dispatcher = this.#dispatchers.get(key) ?? createDispatcher(origin, kind, this.#options);
    this.#dispatchers.set(key, dispatcher);
    return dispatcher;
  }

  /** Closes the client after all running requests have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#reportIdle = resolve;
      });
    await Promise.all(Array.from(this.#dispatchers.values(), (dispatcher) => dispatcher.destroy()));
  }
}

function requestOnce(
  dispatcher: Dispatcher,
  url: URL,
  { method, headers, body, limit, untilMs }: HttpQuestion,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const exchange = new HttpExchange(limit, () => {
    timer.cancel();
    callOff();
  });
  const timer = machineClock.after(untilMs - machineClock.monotonicNow(), () =>
    exchange.stop(new TooLate(exchange.status)),
  );
  const callOff = whenAborted(signal, () => exchange.stop(signal.reason));
  const options: ExchangeOptions = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers,
    body: body ?? null,
    exchange,
  };
  try {
    dispatcher.dispatch(options, exchange);
  } catch (error) {
    exchange.stop(error);
  }
  return exchange.answer;
}
