import { BlockingCalls } from "../../lib/process/blocking-calls.ts";
import { StateError } from "../data-directory.ts";
import type { PostgresThreadOptions } from "./postgres-thread.ts";
import type { BatchResult, QueryResult, Request } from "./protocol.ts";

/** An error of a statement, with the code of PostgreSQL. */
class StatementError extends Error {
  override readonly name = "StatementError";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = `PG_${code}`;
  }
}

/** Calls the thread of the connection and waits for its answers. */
export class PostgresBridge {
  readonly #calls: BlockingCalls<Request>;
  readonly #diverged: (reason: string) => void;
  #isClosed = false;

  /**
   * @param diverged called when the database is not as this server left it, so that the server cannot use it any more
   */
  constructor(options: PostgresThreadOptions, thread: URL, diverged: (reason: string) => void) {
    this.#calls = new BlockingCalls(thread, options);
    this.#diverged = diverged;
  }

  /** @throws StateError, or the error of a statement */
  call(request: Request): readonly (QueryResult | undefined)[] {
    if (this.#isClosed) throw new TypeError("The database connection is not open");
    const answer = this.#calls.call<BatchResult>(request);
    if (answer === undefined) throw new Error("a call without a limit has ended without an answer");
    if (answer.ok) return answer.results;
    const { kind, code, message } = answer.fault;
    if (kind === "diverged") this.#diverged(message);
    if (kind === "statement") throw new StatementError(code, message);
    throw new StateError(kind === "refused" ? "misconfigured" : "unavailable", message);
  }

  close(): void {
    if (this.#isClosed) return;
    this.call({ kind: "close" });
    this.#isClosed = true;
    void this.#calls.close();
  }
}
