import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { StateError } from "../data-directory.ts";
import type { PostgresThreadData } from "./postgres-thread.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { Answer, NumberedAnswer, NumberedRequest, QueryResult, Request } from "./protocol.ts";
import type { SessionUse } from "./session.ts";

/** An error of a statement, with the code of PostgreSQL. */
class StatementError extends Error {
  override readonly name = "StatementError";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = `PG_${code}`;
  }
}

/**
 * Calls the thread of the connection synchronously: the caller's thread sleeps until the answer is there. A call takes
 * some 40 µs longer than the statement.
 */
export class PostgresBridge {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  readonly #diverged: (reason: string) => void;
  #lastId = 0;
  #isClosed = false;

  /** @param diverged called when the database is not as this server has left it, so that nothing can be used of it */
  constructor(target: PostgresTarget, use: SessionUse, thread: URL, diverged: (reason: string) => void) {
    const { port1, port2 } = new MessageChannel();
    const answered = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const workerData: PostgresThreadData = { target, use, port: port2, answered };
    this.#worker = new Worker(thread, { workerData, transferList: [port2] });
    this.#worker.unref();
    this.#port = port1;
    port1.unref();
    this.#signal = new Int32Array(answered);
    this.#diverged = diverged;
  }

  /** @throws StateError, or the error of a statement */
  call(request: Request): readonly (QueryResult | undefined)[] {
    if (this.#isClosed) throw new TypeError("The database connection is not open");
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage({ id: ++this.#lastId, request } satisfies NumberedRequest);
    const answer = this.#receive();
    if (answer.ok) return answer.results;
    const { kind, code, message } = answer.fault;
    if (kind === "diverged") this.#diverged(message);
    if (kind === "statement") throw new StatementError(code, message);
    throw new StateError(kind === "refused" ? "misconfigured" : "unavailable", message);
  }

  #receive(): Answer {
    for (;;) {
      Atomics.wait(this.#signal, 0, 0);
      Atomics.store(this.#signal, 0, 0);
      for (;;) {
        const received: { readonly message: NumberedAnswer } | undefined = receiveMessageOnPort(this.#port);
        if (received === undefined) break;
        // A failure of the thread between two requests is answered too.
        if (received.message.id === this.#lastId) return received.message.answer;
      }
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.call({ kind: "close" });
    this.#isClosed = true;
    this.#port.close();
    void this.#worker.terminate();
  }
}
