import type { Logger } from "../lib/logger.ts";
import { type Refusal, refusalMessage } from "../lib/refusal.ts";
import { RepeatedLog } from "../lib/repeated-log.ts";

/** A request for a change, or a refused log-in, and its answer. */
export interface AnsweredChange {
  readonly requestId: string;
  /** The account; of a refused log-in: the name that was given. Null: neither. */
  readonly user: string | null;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Undefined: the request was not refused. */
  readonly refusal: Refusal | undefined;
  /** The job that was made. */
  readonly jobId: number | undefined;
  readonly ms: number;
}

/** The most lines of refused requests in a second. More are counted: anybody may send them, and lines fill the disk. */
const MOST_REFUSED_A_SECOND = 10;
const MOST_REASON = 500;

/** Logs requests for changes and refused log-ins. */
export class ChangeLog {
  readonly #log: Logger;
  readonly #more: RepeatedLog;
  #second = 0;
  #refused = 0;

  constructor(log: Logger) {
    this.#log = log;
    this.#more = new RepeatedLog((fields) => log.warn("more requests were refused", fields));
  }

  /** Logs an answer in a later turn, so that the client does not wait for the log. */
  answered(change: AnsweredChange): void {
    setImmediate(() => this.#write(change));
  }

  #write({ requestId, user, address, method, path, status, refusal, jobId, ms }: AnsweredChange): void {
    const about = { requestId, user, address, method, path, status };
    if (refusal === undefined) {
      const fields = { ...about, ms: Math.round(ms * 10) / 10, ...(jobId === undefined ? {} : { jobId }) };
      this.#log.info("a request for a change was answered", fields);
      return;
    }
    if (!this.#hasLine()) {
      this.#more.add("", {});
      return;
    }
    const sentence = refusal.logIn === undefined ? "a change was refused" : "a log-in was refused";
    this.#log.warn(sentence, { ...about, reason: refusalMessage(refusal).slice(0, MOST_REASON) });
  }

  #hasLine(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#refused = 0;
    }
    return ++this.#refused <= MOST_REFUSED_A_SECOND;
  }
}
