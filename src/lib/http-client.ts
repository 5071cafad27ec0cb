import { Agent, type IncomingMessage, request as requestInClear } from "node:http";
import { codeOf } from "./error-code.ts";

/** A connection that nobody uses for this long is closed; sooner where the server says that it will. */
const IDLE_MS = 4_000;

export interface HttpQuestion {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The answer is read to its end in so many milliseconds. */
  readonly withinMs: number;
}

/** There was no whole answer in time. */
export class TooLate extends Error {}

/** The connection ended without a whole answer, and without an error. */
class NoAnswer extends Error {
  readonly code = "ECONNRESET";
}

/** Asked after its end. */
class ClientClosed extends Error {
  readonly code = "ECANCELED";
}

/** A kept connection broke before its answer began: its server may have closed it while the question was on its way. */
class ClosedBefore extends Error {}

const BROKEN: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

interface Transport {
  readonly agent: Agent;
  readonly request: typeof requestInClear;
}

/**
 * Requests over HTTP/1.1 on connections that are kept; a GET that finds its connection closed by the server is sent again
 * (RFC 9112, 9.3.1). By Node's own client: it is there when a process starts, where a package takes longer to load than all
 * else that a painter needs.
 */
export class HttpClient implements AsyncDisposable {
  readonly #options: { readonly keepAlive: true; readonly maxSockets: number; readonly timeout: number };
  readonly #transports = new Map<string, Promise<Transport>>();
  #running = 0;
  #closed = false;
  #tellIdle = (): void => {};

  /** `connections`: at most so many to one server. */
  constructor({ connections }: { readonly connections: number }) {
    this.#options = { keepAlive: true, maxSockets: connections, timeout: IDLE_MS };
  }

  /**
   * Sends a question to an address of http or https, its user and password left out, and has the answer read.
   * @throws TooLate, the signal's reason, what Node's client throws (codes such as `ECONNREFUSED`, `HPE_INVALID_CONSTANT`),
   * or what `read` throws
   */
  async ask<T>(
    url: URL,
    question: HttpQuestion,
    signal: AbortSignal,
    read: (answer: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) throw new ClientClosed();
    this.#running++;
    try {
      const transport = await this.#transport(url.protocol);
      const untilMs = performance.now() + question.withinMs;
      for (;;) {
        signal.throwIfAborted();
        const withinMs = untilMs - performance.now();
        try {
          return await askOnce(transport, url, { ...question, withinMs }, signal, read);
        } catch (error) {
          // Each time with one kept connection less.
          if (!(error instanceof ClosedBefore)) throw error;
          if (question.method !== "GET") throw error.cause;
        }
      }
    } finally {
      if (--this.#running === 0) this.#tellIdle();
    }
  }

  #transport(protocol: string): Promise<Transport> {
    const known = this.#transports.get(protocol);
    if (known !== undefined) return known;
    const transport = protocol === "https:" ? this.#secure() : this.#inClear();
    this.#transports.set(protocol, transport);
    return transport;
  }

  async #inClear(): Promise<Transport> {
    return { agent: new Agent(this.#options), request: requestInClear };
  }

  async #secure(): Promise<Transport> {
    const { Agent: SecureAgent, request } = await import("node:https");
    return { agent: new SecureAgent(this.#options), request };
  }

  /** What is being asked ends first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#tellIdle = resolve;
      });
    for (const { agent } of await Promise.all(this.#transports.values())) agent.destroy();
  }
}

async function askOnce<T>(
  { agent, request }: Transport,
  { protocol, hostname, port, pathname, search }: URL,
  { method, headers, body, withinMs }: HttpQuestion,
  signal: AbortSignal,
  read: (answer: IncomingMessage) => Promise<T>,
): Promise<T> {
  const asked = request({
    agent,
    method,
    headers,
    protocol,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port,
    path: pathname + search,
  });
  let stopped: unknown;
  const stop = (reason: unknown): void => {
    stopped = reason;
    asked.destroy();
  };
  // Neither by the request's own option nor by a signal that joins two: either takes half as long as all the rest.
  const cancel = (): void => stop(signal.reason);
  const timer = setTimeout(() => stop(new TooLate()), withinMs);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await new Promise<T>((resolve, reject) => {
      let answer: IncomingMessage | undefined;
      asked.on("error", (error) => {
        // What breaks an answer is for its reader to tell.
        if (answer !== undefined) answer.destroy(error);
        else if (asked.reusedSocket && BROKEN.has(codeOf(error))) reject(new ClosedBefore("", { cause: error }));
        else reject(error);
      });
      // A switch of protocols, that nobody has asked for, ends without an error.
      asked.on("close", () => {
        if (answer === undefined) reject(new NoAnswer());
      });
      asked.on("response", (begun) => {
        answer = begun;
        read(begun).then(resolve, reject);
      });
      asked.end(body);
    });
  } catch (error) {
    throw stopped ?? error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

/**
 * An answer's body to its end; undefined: it is longer than `limit` bytes, and its connection is closed.
 * @throws what broke the connection before its end
 */
export function bodyOf(answer: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const tooLong = (): void => {
      resolve(undefined);
      answer.destroy();
    };
    answer.on("error", reject);
    answer.on("close", () => reject(new NoAnswer()));
    if (Number(answer.headers["content-length"] ?? 0) > limit) {
      tooLong();
      return;
    }
    answer.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) tooLong();
      else chunks.push(chunk);
    });
    answer.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)));
  });
}
