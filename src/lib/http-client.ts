import type { HttpAnswer } from "./http-answer.ts";
import { ClosedBefore, type Connection, type Message, openConnection, type Place } from "./http-connection.ts";
import { onceEach } from "./once-each.ts";
import { WaitingLine } from "./waiting-line.ts";
import { whenAborted } from "./when-aborted.ts";

/** An idle connection is closed after this time, or sooner when the server announces a shorter one. */
const IDLE_MS = 4_000;
const SWEEP_MS = 1_000;
/** The characters that a header value may contain (RFC 9110, 5.5). */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface HttpQuestion {
  readonly method: "GET" | "POST";
  /** The object must never be changed: `fieldsOf` caches its text. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The time, as in `performance.now()`, by which the answer must have been read to its end. */
  readonly untilMs: number;
  /** The largest body of an answer, in bytes. */
  readonly limit: number;
  /** Refuses addresses outside of the public internet, after the name has been resolved (`PrivateAddress`). */
  readonly isPublic?: boolean;
}

/** The answer was not complete in time. */
export class TooLate extends Error {
  /** The status of the incomplete answer. Undefined: its head was not complete either. */
  readonly status: number | undefined;

  constructor(status: number | undefined) {
    super("there was no whole answer in time");
    this.status = status;
  }
}

/** The request was made after the client was closed. */
class ClientClosed extends Error {
  readonly code = "ECANCELED";
}

/** The connections to one server. */
class Server {
  readonly #place: Place;
  readonly #most: number;
  readonly #resting: Connection[] = [];
  readonly #line = new WaitingLine<void>();
  #open = 0;

  constructor(place: Place, most: number) {
    this.#place = place;
    this.#most = most;
  }

  /**
   * Returns an idle connection that can still be used, and destroys unusable ones that it meets. Undefined: there is
   * none.
   */
  takeKept(): Connection | undefined {
    const nowMs = performance.now();
    for (let kept = this.#resting.pop(); kept !== undefined; kept = this.#resting.pop()) {
      if (!kept.isOver && !kept.hasRested(nowMs)) return kept;
      kept.destroy();
    }
    return undefined;
  }

  /**
   * Returns an idle connection or opens one. Waits while all are in use.
   * @throws the signal's reason when it fires while all connections are in use
   */
  async take(signal: AbortSignal): Promise<Connection> {
    for (;;) {
      const kept = this.takeKept();
      if (kept !== undefined) return kept;
      if (this.#open < this.#most) {
        const ended = (): void => {
          this.#open--;
          this.#line.answerFirst();
        };
        this.#open++;
        return openConnection(this.#place, ended).catch((error: unknown) => {
          ended();
          throw error;
        });
      }
      await this.#line.wait(signal);
    }
  }

  giveBack(connection: Connection): void {
    if (connection.isOver) return;
    connection.rest(IDLE_MS, performance.now());
    if (connection.isOver) return;
    this.#resting.push(connection);
    this.#line.answerFirst();
  }

  /** Whether no connection is open and no request waits for one. */
  get isUnused(): boolean {
    return this.#open === 0 && this.#line.length === 0;
  }

  /** Closes connections whose idle time has passed. */
  sweep(nowMs: number): void {
    for (const connection of this.#resting.splice(0)) {
      if (connection.hasRested(nowMs)) connection.destroy();
      else if (!connection.isOver) this.#resting.push(connection);
    }
  }
}

/**
 * Sends requests over persistent HTTP/1.1 connections. A GET whose connection was closed by the server before the
 * answer began is sent again (RFC 9112, 9.3.1). This client is our own because Node's client, or a package's, takes
 * longer per request than the rendering of a single tile.
 */
export class HttpClient implements AsyncDisposable {
  readonly #connections: number;
  /** Servers by origin. Those for which only public addresses are allowed have entries of their own. */
  readonly #servers = new Map<string, Server>();
  #sweeper: NodeJS.Timeout | undefined;
  #running = 0;
  #closed = false;
  #tellIdle = (): void => {};

  /** `connections`: the most connections to one server. */
  constructor({ connections }: { readonly connections: number }) {
    this.#connections = connections;
  }

  /**
   * Sends a request to an address of http or https. A user and password in the address are not sent.
   * @throws TooLate, BrokenAnswer, MalformedAnswer, the signal's reason, or Node's error when the connection fails
   * (codes such as `ECONNREFUSED`)
   */
  async ask(url: URL, question: HttpQuestion, signal: AbortSignal): Promise<HttpAnswer> {
    if (this.#closed) throw new ClientClosed();
    const { method, body, limit } = question;
    const message: Message = { head: headOf(url, question), body, limit };
    const server = this.#server(url, question.isPublic === true);
    this.#running++;
    try {
      for (;;) {
        signal.throwIfAborted();
        try {
          return await askOnce(server, message, question.untilMs, signal);
        } catch (error) {
          // The server had closed this persistent connection. Send the request again: the broken connection is gone
          // from the pool.
          if (method !== "GET" || !(error instanceof ClosedBefore)) throw error;
        }
      }
    } finally {
      if (--this.#running === 0) this.#tellIdle();
    }
  }

  #server({ origin, protocol, hostname, port }: URL, isPublic: boolean): Server {
    const key = isPublic ? `public ${origin}` : origin;
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const isSecure = protocol === "https:";
    const server = new Server(
      {
        isSecure,
        host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
        port: port === "" ? (isSecure ? 443 : 80) : Number(port),
        isPublic,
      },
      this.#connections,
    );
    this.#servers.set(key, server);
    this.#sweeper ??= setInterval(() => {
      for (const [name, each] of this.#servers) {
        each.sweep(performance.now());
        if (each.isUnused) this.#servers.delete(name);
      }
    }, SWEEP_MS).unref();
    return server;
  }

  /** Closes the client after all running requests have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#tellIdle = resolve;
      });
    clearInterval(this.#sweeper);
    for (const server of this.#servers.values()) server.sweep(Number.POSITIVE_INFINITY);
  }
}

async function askOnce(server: Server, message: Message, untilMs: number, signal: AbortSignal): Promise<HttpAnswer> {
  let connection = server.takeKept();
  // Created only when the request has to wait for a connection: an AbortController takes as long as the rest of a
  // request.
  let waiting: AbortController | undefined;
  let stopped: { readonly why: unknown } | undefined;
  const stop = (why: unknown): void => {
    stopped = { why };
    waiting?.abort(why);
    connection?.destroy(why);
  };
  const timer = setTimeout(() => stop(new TooLate(connection?.status)), untilMs - performance.now());
  const callOff = whenAborted(signal, () => stop(signal.reason));
  try {
    if (connection === undefined) {
      waiting = new AbortController();
      connection = await server.take(waiting.signal);
      if (stopped !== undefined) throw stopped.why;
    }
    return await connection.ask(message);
  } finally {
    clearTimeout(timer);
    callOff();
    if (connection !== undefined) server.giveBack(connection);
  }
}

function headOf(url: URL, { method, headers, body }: HttpQuestion): string {
  const length = method === "POST" ? `content-length: ${Buffer.byteLength(body ?? "")}\r\n` : "";
  return `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${fieldsOf(headers)}${length}\r\n`;
}

/** Returns the header lines of a request. Cached by the headers object, because most requests share one. */
const fieldsOf = onceEach((headers: HttpQuestion["headers"]): string => {
  let fields = "";
  for (const [name, value] of Object.entries(headers)) {
    if (!FIELD_VALUE.test(value)) throw new TypeError(`the header ${name} cannot be sent as it is`);
    fields += `${name}: ${value}\r\n`;
  }
  return fields;
});
