import { connect, type Socket } from "node:net";
import { codeOf } from "./error-code.ts";
import { AnswerReader, type HttpAnswer } from "./http-answer.ts";
import { checkPublicHost, lookupPublic } from "./private-address.ts";

/** The connection ended without an answer, and without an error. */
class NoAnswer extends Error {
  readonly code = "ECONNRESET";
}

/** A kept connection broke before the answer began: its server may have closed it with the question on its way. */
export class ClosedBefore extends Error {
  readonly code = "ECONNRESET";
}

/** The connection broke within an answer. */
export class BrokenAnswer extends Error {
  readonly code: string;
  /** Undefined: before the end of its head. */
  readonly status: number | undefined;

  constructor(cause: unknown, status: number | undefined) {
    super("the connection broke in the middle of the answer", { cause });
    this.code = codeOf(cause);
    this.status = status;
  }
}

const CLOSED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** Where a connection leads. */
export interface Place {
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  /** Only addresses of the internet are connected to. */
  readonly isPublic: boolean;
}

/** A question as it is sent; `limit`: of the body of its answer, bytes. */
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
 * What comes over connections in clear, one piece after the other: each is read before the next comes. Node would give each
 * piece memory of its own, which takes longer than to read it.
 */
const arriving = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Begins a connection to a place; what is wrong with it is told whoever asks. `ended`: it cannot be used any more.
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
  // Loaded by the first of them.
  const tls = await import("node:tls");
  // A server is not named by an address (RFC 6066, 3).
  const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  const socket = tls.connect({ ...to, ...name, ALPNProtocols: ["http/1.1"] });
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  return new Connection(socket, ended);
}

/** One connection of HTTP/1.1 (RFC 9112, 9): questions and answers in turns. */
export class Connection {
  readonly #socket: Socket;
  readonly #ended: () => void;
  #exchange: Exchange | undefined;
  /** It has answered before. */
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

  /** Of the answer that is being read. */
  get status(): number | undefined {
    return this.#exchange?.reader.status;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws ClosedBefore, BrokenAnswer, MalformedAnswer, or what kept the connection from coming about */
  ask({ head, body, limit }: Message): Promise<HttpAnswer> {
    if (this.#isOver) return Promise.reject(this.#isStored ? new ClosedBefore() : new NoAnswer());
    this.#socket.ref();
    return new Promise((answered, failed) => {
      this.#exchange = { reader: new AnswerReader(limit), answered, failed };
      // Both in one piece: the second would wait for the first to be acknowledged.
      if (body === undefined) this.#socket.write(head, "latin1");
      else this.#socket.write(Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]));
    });
  }

  /** Nobody needs it now. It is not to be used any more after so long, or half of what the server has said. */
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

  /** `reason`: what whoever has asked is told. */
  destroy(reason: unknown = new NoAnswer()): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.failed(reason);
    this.#over();
  }

  /** Something has come. */
  read(chunk: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      // Nobody has asked for it: whose answer it would be taken for nobody knows.
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
