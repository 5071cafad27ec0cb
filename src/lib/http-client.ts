import { Agent, type AgentOptions, type IncomingMessage, request as requestInClear } from "node:http";
import { codeOf } from "./error-code.ts";

/** A connection that nobody uses for this long is closed; sooner where the server says that it will. */
const IDLE_MS = 4_000;

export interface HttpQuestion {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** When the answer is to have been read to its end, as `performance.now()` counts. */
  readonly untilMs: number;
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

/** A kept connection broke before the answer to a GET began: its server may have closed it with the question on its way. */
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
  readonly #options: AgentOptions;
  readonly #inClear: Transport;
  #secure: Promise<Transport> | undefined;
  #running = 0;
  #closed = false;
  #tellIdle = (): void => {};

  /** `connections`: at most so many to one server. */
  constructor({ connections }: { readonly connections: number }) {
    this.#options = { keepAlive: true, maxSockets: connections, timeout: IDLE_MS };
    this.#inClear = { agent: new Agent(this.#options), request: requestInClear };
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
      const transport = url.protocol === "https:" ? await this.#secured() : this.#inClear;
      for (;;) {
        signal.throwIfAborted();
        try {
          return await askOnce(transport, url, question, signal, read);
        } catch (error) {
          // Again, with one kept connection less.
          if (!(error instanceof ClosedBefore)) throw error;
        }
      }
    } finally {
      if (--this.#running === 0) this.#tellIdle();
    }
  }

  /** Loaded by the first such address. */
  #secured(): Promise<Transport> {
    this.#secure ??= import("node:https").then(({ Agent: SecureAgent, request }) => ({
      agent: new SecureAgent(this.#options),
      request,
    }));
    return this.#secure;
  }

  /** What is being asked ends first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#tellIdle = resolve;
      });
    for (const transport of [this.#inClear, await this.#secure]) transport?.agent.destroy();
  }
}

async function askOnce<T>(
  { agent, request }: Transport,
  { protocol, hostname, port, pathname, search }: URL,
  { method, headers, body, untilMs }: HttpQuestion,
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
  const timer = setTimeout(() => stop(new TooLate()), untilMs - performance.now());
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await new Promise<T>((resolve, reject) => {
      let answer: IncomingMessage | undefined;
      asked.on("error", (error) => {
        const again = method === "GET" && asked.reusedSocket && BROKEN.has(codeOf(error));
        // What breaks an answer is for its reader to tell.
        if (answer !== undefined) answer.destroy(error);
        else reject(again ? new ClosedBefore() : error);
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
    answer.on("close", () => {
      if (!answer.readableEnded) reject(new NoAnswer());
    });
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
