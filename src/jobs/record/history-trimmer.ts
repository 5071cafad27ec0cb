import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { ServiceParts } from "../../ledger/service-parts.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import type { JobOptions } from "../../plan/job/job-options.ts";
import type { Database } from "../../state/database.ts";
import { LastRead } from "../../state/state-wait.ts";
import type { JobStore } from "./job-store.ts";
import { TRIM_REASONS } from "./job-trimming.ts";

export interface JobHistoryParts extends Pick<ServiceParts, "clock" | "log"> {
  readonly state: Pick<StateWriter, "write">;
  readonly db: Pick<Database, "unsynced">;
  readonly jobs: JobStore;
  readonly options: () => Pick<JobOptions, "historyDays" | "historyJobs" | "historyMiB">;
}

const DAY_MS = 86_400_000;
const MIB = 2 ** 20;
const TRIMMED_AT_ONCE = 500;
const AGAIN_MS = 60_000;
const deflated = promisify(deflate);

/** Trims the history of jobs, and compresses their areas and lists of tiles. */
export class HistoryTrimmer {
  readonly #parts: JobHistoryParts;
  readonly #trimmed = { age: 0, number: 0, bytes: 0 };
  #compressing: Promise<void> | undefined;
  #nextTryMs = 0;
  readonly #bytes = new LastRead(0);
  #isClosed = false;

  constructor(parts: JobHistoryParts) {
    this.#parts = parts;
  }

  /**
   * Removes jobs that exceed the limits of the history, a bounded number per call.
   * @returns whether there may be more
   */
  trim(nowMs: number): boolean {
    const { jobs, options, state, log } = this.#parts;
    const { historyDays, historyJobs, historyMiB } = options();
    const limits = { endedBeforeMs: nowMs - historyDays * DAY_MS, jobs: historyJobs, bytes: historyMiB * MIB };
    let done = { trimmed: { age: 0, number: 0, bytes: 0 }, hasMore: false };
    state.write(() => {
      done = jobs.trim(limits, TRIMMED_AT_ONCE);
    });
    // Counted only after the transaction has been committed.
    for (const reason of TRIM_REASONS) this.#trimmed[reason] += done.trimmed[reason];
    if (done.trimmed.bytes > 0)
      log.info("the oldest jobs have left the history, as it is larger than jobs.historyMiB", {
        jobs: done.trimmed.bytes,
        historyMiB,
      });
    return done.hasMore;
  }

  /** Starts to compress the next area or list of tiles, if there is one. Only one is compressed at a time. */
  compressNext(): void {
    const { clock, log } = this.#parts;
    if (this.#isClosed || this.#compressing !== undefined || clock.monotonicNow() < this.#nextTryMs) return;
    this.#compressing = this.#compress()
      .catch((error: unknown) => {
        this.#nextTryMs = clock.monotonicNow() + AGAIN_MS;
        log.error("the area of a job cannot be compressed", { error: String(error) });
      })
      .finally(() => {
        this.#compressing = undefined;
      });
  }

  async #compress(): Promise<void> {
    const { jobs, db } = this.#parts;
    const next = jobs.selections.nextNew();
    if (next === undefined) return;
    // `deflate` runs in a thread of the pool: 4 MB take 0.1 s.
    const packed = await deflated(next.body);
    // If a loss of power undoes this transaction, the selection stays uncompressed.
    db.unsynced(() => jobs.compress(next, packed));
  }

  /** Returns the size of all jobs in the database, including unfinished ones, and the numbers of trimmed jobs. */
  metrics() {
    return {
      bytes: this.#bytes.read(() => this.#parts.jobs.sizes.total()),
      trimmed: TRIM_REASONS.map((reason) => ({ reason, count: this.#trimmed[reason] })),
    };
  }

  /** Resolves when the last compression has been written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#compressing;
  }
}
