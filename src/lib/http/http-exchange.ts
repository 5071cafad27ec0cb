import type { Dispatcher } from "undici";
import { httpFailure } from "./http-failure.ts";

export interface HttpAnswer {
  readonly status: number;
  /** Header values by name in lower case. A repeated header has a list of values. Undefined for an absent header. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body. Undefined if it is longer than the limit: it was then not read to its end. */
  readonly body: Buffer | undefined;
}

/**
 * Returns a header of an answer. The values of a repeated header are joined to a list. Undefined if the answer does not
 * have the header.
 */
export function headerOf({ headers }: Pick<HttpAnswer, "headers">, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.join(", ");
}

/** The parts of a connection that an exchange uses. */
export interface PersistentConnection {
  /** The number of answers that the connection has carried. */
  answers: number;
}

/** The exchange has ended before its answer, so undici has to close the connection. The caller knows the reason. */
const STOPPED = new Error("the exchange was stopped");

/** One request and its answer. undici reports the progress of the request to it. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  /** The connection that carries the request. Undefined while the request waits for a connection. */
  connection: PersistentConnection | undefined;
  /** @throws the reason of `stop`, and errors of `http-failure.ts` */
  readonly answer: Promise<HttpAnswer>;
  readonly #limit: number;
  readonly #over: () => void;
  #resolve!: (answer: HttpAnswer) => void;
  #reject!: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status: number | undefined;
  #headers: HttpAnswer["headers"] = {};
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  /**
   * @param limit the largest body, in bytes
   * @param over called once, when `answer` is settled
   */
  constructor(limit: number, over: () => void) {
    this.#limit = limit;
    this.#over = over;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The status of the answer that is being read. Undefined before its head has arrived. */
  get status(): number | undefined {
    return this.#status;
  }

  /** Ends the exchange with an error, in any phase. */
  stop(reason: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#reject(reason);
    this.#controller?.abort(STOPPED);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(STOPPED);
  }

  onResponseStart(_: unknown, status: number, headers: HttpAnswer["headers"]): void {
    // Interim answers (1xx) contain nothing that the client needs (RFC 9110, 15.2).
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (Number(headers["content-length"] ?? 0) > this.#limit) this.#endEarly(status);
  }

  onResponseData(_: unknown, part: Buffer): void {
    this.#bytes += part.byteLength;
    if (this.#bytes > this.#limit) this.#endEarly(this.#status ?? 0);
    else this.#parts.push(part);
  }

  onResponseEnd(): void {
    if (this.connection !== undefined) this.connection.answers++;
    if (this.#isOver) return;
    this.#end();
    const [only] = this.#parts;
    const body = only !== undefined && this.#parts.length === 1 ? only : Buffer.concat(this.#parts, this.#bytes);
    this.#resolve({ status: this.#status ?? 0, headers: this.#headers, body });
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.#reject(httpFailure(error, this.#status, (this.connection?.answers ?? 0) > 0));
  }

  #end(): void {
    this.#isOver = true;
    this.#over();
  }

  #endEarly(status: number): void {
    if (this.#isOver) return;
    this.#end();
    this.#parts.length = 0;
    this.#resolve({ status, headers: this.#headers, body: undefined });
    this.#controller?.abort(STOPPED);
  }
}
