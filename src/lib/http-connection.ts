import { connect, type Socket } from "node:net";
import { codeOf } from "./error-code.ts";
import { AnswerReader, type HttpAnswer } from "./http-answer.ts";
import { checkPublicHost, lookupPublic } from "./private-address.ts";

/** The connection ended without an answer, and without an error. */
class NoAnswer extends Error {
  readonly code = "ECONNRESET";
}

/**
 * A persistent connection broke before the answer began. The server may have closed it while the request was on its
 * way.
 */
export class ClosedBefore extends Error {
  readonly code = "ECONNRESET";
}

/** The connection broke within an answer. */
export class BrokenAnswer extends Error {
  readonly code: string;
  /** The status of the incomplete answer. Undefined: the connection broke before the end of the head. */
  readonly status: number | undefined;

  constructor(cause: unknown, status: number | undefined) {
    super("the connection broke in the middle of the answer", { cause });
    this.code = codeOf(cause);
    this.status = status;
  }
}

const CLOSED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** The server that a connection leads to. */
export interface Place {
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  /** Whether connections to addresses outside of the public internet are refused. */
  readonly isPublic: boolean;
}

/** A request as it is sent. `limit` is the largest body of its answer, in bytes. */
export interface Message {
  readonly head: string;
  readonly body: string | undefined;
  readonly limit: number;
}

interface Exchange {
  readonly reader: AnswerReader;
  readonly answered: (answer: HttpAnswer) => void;
  readonly failed: (reason: unknown) => void;
}

/**
 * The buffer that all unencrypted connections read into. Each piece is processed before the next one arrives. Node
 * would allocate memory for each piece, which takes longer than to process it.
 */
const arriving = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Starts to connect to a server. An error of the connection is reported to the request that uses it. `ended` is called
 * once the connection cannot be used any more.
 * @throws PrivateAddress
 */
export async function openConnection(place: Place, ended: () => void): Promise<Connection> {
  const { isSecure, host, port, isPublic } = place;
  if (isPublic) checkPublicHost(host);
  const to = isPublic ? { host, port, lookup: lookupPublic } : { host, port };
  if (!isSecure) {
    let connection: Connection | undefined;
    const callback = (bytes: number): boolean => {
      connection?.read(arriving.subarray(0, bytes));
      return true;
    };
    const onread = { buffer: arriving, callback };
    connection = new Connection(connect({ ...to, noDelay: true, keepAlive: true, onread }), ended);
    return connection;
  }
  // Loaded by the first HTTPS connection.
  const tls = await import("node:tls");
  // SNI does not allow IP addresses (RFC 6066, 3).
  const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  const socket = tls.connect({ ...to, ...name, ALPNProtocols: ["http/1.1"] });
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  return new Connection(socket, ended);
}

/** One connection of HTTP/1.1 (RFC 9112, 9), which carries one request at a time. */
export class Connection {
  readonly #socket: Socket;
  readonly #ended: () => void;
  #exchange: Exchange | undefined;
  /** Whether the connection has carried an answer before. */
  #isStored = false;
  #isOver = false;
  #keptMs: number | undefined;
  #restsUntilMs = 0;

  constructor(socket: Socket, ended: () => void) {
    this.#socket = socket;
    this.#ended = ended;
    socket.on("data", (chunk: Buffer) => this.read(chunk));
    socket.on("end", () => this.#end(new NoAnswer()));
    socket.on("error", (error) => this.#end(error));
    socket.on("close", () => this.#end(new NoAnswer()));
  }

  /** The status of the answer that is being read. */
  get status(): number | undefined {
    return this.#exchange?.reader.status;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Sends a request and returns its answer.
   * @throws ClosedBefore, BrokenAnswer, MalformedAnswer, or the error with which the connection failed
   */
  ask({ head, body, limit }: Message): Promise<HttpAnswer> {
    if (this.#isOver) return Promise.reject(this.#isStored ? new ClosedBefore() : new NoAnswer());
    this.#socket.ref();
    return new Promise((answered, failed) => {
      this.#exchange = { reader: new AnswerReader(limit), answered, failed };
      // Write head and body in one piece: a second packet would wait for the acknowledgement of the first.
      if (body === undefined) this.#socket.write(head, "latin1");
      else this.#socket.write(Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]));
    });
  }

  /**
   * Marks the connection as idle. It may be used again for `idleMs`, or for half of the time that the server has
   * announced, if that is shorter.
   */
  rest(idleMs: number, nowMs: number): void {
    const ms = Math.min(idleMs, (this.#keptMs ?? Number.POSITIVE_INFINITY) / 2);
    if (ms === 0) {
      this.destroy();
      return;
    }
    this.#restsUntilMs = nowMs + ms;
    this.#socket.unref();
  }

  hasRested(nowMs: number): boolean {
    return nowMs >= this.#restsUntilMs;
  }

  /** Closes the connection. A running request fails with `reason`. */
  destroy(reason: unknown = new NoAnswer()): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.failed(reason);
    this.#over();
  }

  /** Processes bytes that have arrived. */
  read(chunk: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      // No request is running, so these bytes could be taken for the answer to the next one.
      this.#over();
      return;
    }
    const { reader } = exchange;
    try {
      const answer = reader.push(chunk);
      if (answer !== undefined) this.#answered(exchange, answer);
    } catch (error) {
      this.destroy(error);
    }
  }

  #answered({ reader, answered }: Exchange, answer: HttpAnswer): void {
    this.#exchange = undefined;
    this.#isStored = true;
    this.#keptMs = reader.keptMs;
    if (!reader.mayGoOn) this.#over();
    answered(answer);
  }

  #end(reason: unknown): void {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.#over();
      return;
    }
    const { reader } = exchange;
    const answer = reason instanceof NoAnswer ? reader.end() : undefined;
    if (answer !== undefined) this.#answered(exchange, answer);
    else if (reader.hasBegun) this.destroy(new BrokenAnswer(reason, reader.status));
    else this.destroy(this.#isStored && CLOSED.has(codeOf(reason)) ? new ClosedBefore() : reason);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.destroy();
    this.#ended();
  }
}
