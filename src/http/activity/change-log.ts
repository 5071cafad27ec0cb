import type { IncomingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";
import type { ActivityEntry } from "../../activity/activity-service.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import type { Random } from "../../lib/random/random.ts";
import { type Refusal, refusalMessage } from "../../lib/refusal.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Checked } from "../auth/credentials.ts";
import { refusalOfHeader } from "../auth/rights.ts";
import { STATUS } from "../errors.ts";
import type { Answer } from "../reply.ts";
import { maskedAddress } from "../request/masked-address.ts";
import { requestIdOf } from "../request/request.ts";
import { MOST_DETAIL } from "./activity-detail.ts";

/** A request for a change or a refused log-in, with its answer. */
export interface AnsweredChange extends Omit<ActivityEntry, "timeMs" | "reason" | "jobId" | "detail"> {
  /** The reason of the refusal. Undefined if the request was accepted. */
  readonly refusal: Refusal | undefined;
  readonly jobId: Answer["jobId"] | undefined;
  readonly detail?: Answer["detail"] | undefined;
  readonly repeats?: Answer["repeats"] | undefined;
  readonly ms: number;
}

/** Returns a log-in that was refused at the address of a tile. */
export function refusedLogIn(
  checked: Exclude<Checked, { readonly kind: "user" }>,
  {
    headers,
    address,
    method,
    url,
    random,
  }: {
    readonly headers: IncomingHttpHeaders;
    readonly address: string;
    readonly method: string;
    readonly url: string;
    readonly random: Pick<Random, "uuid">;
  },
): AnsweredChange {
  const refusal = refusalOfHeader(checked, headers.authorization);
  return {
    requestId: requestIdOf(headers, undefined, random),
    user: refusal.logIn ?? null,
    address,
    method,
    path: url.split("?", 1)[0]?.slice(0, 500) ?? "",
    status: STATUS[refusal.code],
    refusal,
    jobId: undefined,
    ms: 0,
  };
}

/**
 * The most log lines about refused requests in a minute, of one address and of all. Further refusals are only counted:
 * any client may send refused requests, and lines fill the disk.
 */
const MOST_OF_ADDRESS = 20;
const MOST_OF_ALL = 300;
const MINUTE_MS = 60_000;
const MOST_ADDRESSES = 1_000;
const MOST_REASON = 500;
const MOST_NAME = 100;

/** After this time a further request for the same work is logged again. */
const REPEATS_MS = 10 * MINUTE_MS;

/** Logs requests for changes and refused log-ins, and records them as activity. */
export class ChangeLog {
  readonly #log: Logger;
  readonly #record: (entry: ActivityEntry) => Promise<void>;
  readonly #clock: Clock;
  readonly #options: () => { readonly maskAddresses: boolean };
  readonly #more: RepeatedLog;
  /** Lines of refused requests in the current minute, by address. */
  readonly #lines = new LRUCache<string, number>({ max: MOST_ADDRESSES });
  /** Work for which a request was logged, by user, address and name. */
  readonly #repeated = new LRUCache<string, true>({ max: MOST_ADDRESSES, ttl: REPEATS_MS });
  #allLines = 0;
  #minute = 0;

  /** @param options called for each line, because a reload may change them */
  constructor(
    log: Logger,
    record: (entry: ActivityEntry) => Promise<void>,
    clock: Clock,
    options: () => { readonly maskAddresses: boolean },
  ) {
    this.#options = options;
    this.#log = log;
    this.#record = record;
    this.#clock = clock;
    this.#more = new RepeatedLog((fields) => log.warn("more requests were refused", fields));
  }

  /** Logs how many refused requests had no line. */
  close(): void {
    this.#more.close();
  }

  /** Logs a change in a later turn, so that the client does not wait for the log. */
  answered(change: AnsweredChange): void {
    const { repeats, refusal, user, address } = change;
    if (repeats !== undefined && refusal === undefined) {
      const work = `${user}\n${address}\n${repeats}`;
      if (this.#repeated.has(work)) return;
      this.#repeated.set(work, true);
    }
    this.#clock.soon(() => this.#write(change));
  }

  #write({
    requestId,
    user: name,
    address: of,
    method,
    path,
    status,
    refusal,
    jobId,
    detail,
    ms,
  }: AnsweredChange): void {
    const user = name?.slice(0, MOST_NAME) ?? null;
    const address = this.#options().maskAddresses ? maskedAddress(of) : of;
    const about = { requestId, user, address, method, path, status };
    const reason = refusal === undefined ? null : refusalMessage(refusal).slice(0, MOST_REASON);
    if (refusal === undefined) {
      const fields = { ...about, ms: Math.round(ms * 10) / 10, ...(jobId === undefined ? {} : { jobId }) };
      this.#log.info("a request for a change was answered", fields);
    } else if (this.#hasLine(of)) {
      this.#log.warn(refusal.logIn === undefined ? "a change was refused" : "a log-in was refused", {
        ...about,
        reason,
      });
    } else {
      // The record of activity has the same limit, so that a flood of refusals does not remove older entries.
      this.#more.add("", { address });
      return;
    }
    this.#record({
      timeMs: this.#clock.now(),
      ...about,
      reason,
      jobId: jobId ?? null,
      detail: detail?.slice(0, MOST_DETAIL) ?? null,
    }).catch((error: unknown) =>
      this.#log.warn("an activity could not be recorded", { requestId, error: String(error) }),
    );
  }

  #hasLine(address: string): boolean {
    const minute = Math.floor(this.#clock.monotonicNow() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#lines.clear();
      this.#allLines = 0;
    }
    const lines = (this.#lines.get(address) ?? 0) + 1;
    this.#lines.set(address, lines);
    return lines <= MOST_OF_ADDRESS && ++this.#allLines <= MOST_OF_ALL;
  }
}
