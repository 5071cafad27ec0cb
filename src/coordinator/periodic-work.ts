import type { Timer } from "../lib/time/clock.ts";
import { turn } from "../lib/time/sleep.ts";
import { DiskFullLog } from "../quota/disk/nearly-full.ts";
import { FreeSpace } from "../state/free-space.ts";
import type { ServiceContext } from "./build/build-services.ts";

const FLUSH_MS = 250;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const TRUNCATIONS_TRIMMED_AT_ONCE = 500;
/** Empty pyramids that are removed before the event loop gets a turn. Each takes several system calls. */
const EMPTIED_AT_ONCE = 8;
/** Blocks whose use is written before the event loop gets a turn. Each takes 0.2 ms. */
const USED_AT_ONCE = 16;

type PeriodicStep = "alive" | "changes" | "disk" | "emptied" | "use";

/** Writes the state several times a second, and removes outdated records, a little at a time. */
export class PeriodicWork {
  readonly #parts: ServiceContext;
  readonly #freeSpace: FreeSpace;
  #timer: Timer | undefined;
  /** The running work by its name. Each kind of work runs once at a time. */
  readonly #running = new Map<PeriodicStep, Promise<void>>();
  /**
   * The error of the last attempt to mark the store as in use, and the number of attempts that failed with it.
   * Undefined if the last attempt succeeded.
   */
  #notMarked: { readonly error: string; attempts: number } | undefined;
  #lastTrimMs = 0;
  #lastLookMs = 0;
  #moreToTrim = false;
  readonly #diskFull: DiskFullLog;

  constructor(parts: ServiceContext) {
    this.#parts = parts;
    this.#diskFull = new DiskFullLog(parts.log);
    this.#freeSpace = new FreeSpace(parts.db);
  }

  start(): void {
    this.#timer = this.#parts.clock.every(FLUSH_MS, () => {
      try {
        this.#tick();
      } catch (error) {
        // Nothing is lost: a later tick writes the changes again.
        this.#parts.state.fault(error);
      }
    });
  }

  #tick(): void {
    const { clockRecord, ledger, state, deliveries, purges, truncations, quota, jobs } = this.#parts;
    const { trend, enforcer } = quota;
    truncations.ledgerTruncations.interrupted.completeSome();
    truncations.ledgerTruncations.completeOwed();
    enforcer.tick();
    clockRecord.note();
    if (state.hasChanges) {
      void this.#noteAlive();
      ledger.doubted.countSome(16);
      void this.#once("changes", () => state.writeInSlices());
    }
    if (ledger.useIsDue) void this.#writeUse(() => ledger.useIsDue);
    if (ledger.truncated.emptied.noted > 0) void this.#once("emptied", () => this.#removeEmptied());
    jobs.runner.records.report();
    deliveries.tick();
    purges.tick();
    const nowMs = this.#parts.clock.now();
    truncations.service.tick();
    const steadyMs = this.#parts.clock.monotonicNow();
    this.#lookAtStateDisk(steadyMs);
    const isDue = steadyMs - this.#lastTrimMs >= MINUTE_MS;
    if (isDue) {
      this.#lastTrimMs = steadyMs;
      state.write(() => trend.sample(ledger.sums.total, ledger.sums.byLayer, nowMs));
      truncations.reclaim.sweepWaste();
      void this.#once("disk", async () => this.#diskFull.look(await quota.disks.all.last()));
    }
    if (isDue || this.#moreToTrim) this.#trim(nowMs);
    if (isDue || this.#freeSpace.hasMore) this.#freeSpace.giveBackSome();
    jobs.history.compressNext();
  }

  /**
   * Reclaims the space of truncations while the disk of the state database has too little space. Misses check this disk
   * too, but a server that is not ready may get no misses.
   */
  #lookAtStateDisk(steadyMs: number): void {
    const { lookAtStateDisk, truncations, state } = this.#parts;
    if (lookAtStateDisk === undefined || steadyMs - this.#lastLookMs < SECOND_MS) return;
    this.#lastLookMs = steadyMs;
    try {
      if (lookAtStateDisk()) truncations.service.giveUp(undefined);
    } catch (error) {
      // The files are removed even if the disk has no space for the record of it. A later check writes the record.
      state.fault(error);
    }
  }

  /** Starts work, unless the same work is still running. Returns a promise of its end, which never rejects. */
  #once(name: PeriodicStep, work: () => Promise<void>): Promise<void> {
    const known = this.#running.get(name);
    if (known !== undefined) return known;
    const running = work()
      .catch((error: unknown) => this.#parts.state.fault(error))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  /**
   * Records that this server owns the store. The next server searches for changes that other programs made after this
   * time.
   */
  #noteAlive(): Promise<void> {
    const note = (): Promise<void> =>
      this.#parts.adoption.noteAlive().then(
        () => this.#marked(),
        (error: unknown) => this.#failedToMark(String(error)),
      );
    return this.#once("alive", note);
  }

  #marked(): void {
    if (this.#notMarked === undefined) return;
    const { attempts } = this.#notMarked;
    this.#notMarked = undefined;
    this.#parts.log.info("the store can be marked as in use again", { failedAttempts: attempts });
  }

  /** Logs each failure once: with a read-only volume the mark fails several times a second. */
  #failedToMark(error: string): void {
    if (this.#notMarked?.error !== error) {
      this.#parts.log.error("the store cannot be marked as in use", { error });
      this.#notMarked = { error, attempts: 0 };
    }
    this.#notMarked.attempts++;
  }

  /** Examines each pyramid that may have lost its last tile. Pyramids that are being written wait for a later tick. */
  async #removeEmptied(): Promise<void> {
    const { ledger, closing } = this.#parts;
    for (let left = ledger.truncated.emptied.noted; left > 0 && !closing.aborted; left -= EMPTIED_AT_ONCE) {
      ledger.truncated.emptied.removeSome(EMPTIED_AT_ONCE);
      await turn(this.#parts.clock);
    }
  }

  /**
   * Writes the use of blocks, a few at a time, while `hasMore` returns true. A loss of power may undo the writes, as a
   * kill loses unwritten use.
   */
  #writeUse(hasMore: () => boolean): Promise<void> {
    const { db, ledger } = this.#parts;
    void this.#noteAlive();
    return this.#once("use", async () => {
      while (hasMore()) {
        db.unsynced(() => ledger.writeSomeUse(USED_AT_ONCE));
        await turn(this.#parts.clock);
      }
    });
  }

  #trim(nowMs: number): void {
    const { jobOptions, jobs, truncations, state } = this.#parts;
    const { historyDays, historyJobs } = jobOptions();
    const hasMoreJobs = jobs.history.trim(nowMs);
    state.write(() => {
      const beforeMs = nowMs - historyDays * DAY_MS;
      const trimmed = truncations.records.trim({ beforeMs, most: historyJobs, limit: TRUNCATIONS_TRIMMED_AT_ONCE });
      this.#moreToTrim = hasMoreJobs || trimmed >= TRUNCATIONS_TRIMMED_AT_ONCE;
    });
  }

  /** Writes all unsaved state. Called after the last write of a tile. */
  async close(): Promise<void> {
    const { ledger, jobs, deliveries, purges } = this.#parts;
    this.#timer?.cancel();
    await Promise.all([this.#running.get("emptied"), this.#running.get("changes"), this.#running.get("use")]);
    await this.#writeUse(() => ledger.hasUse);
    await jobs.history.close();
    await deliveries.close();
    await purges.close();
    await this.#running.get("alive");
    await this.#noteAlive();
  }
}
