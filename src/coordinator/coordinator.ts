import { setTimeout as sleep } from "node:timers/promises";
import type { UseReport } from "../cache/use-recorder.ts";
import type { Webhook } from "../jobs/job-event.ts";
import { JobHistory } from "../jobs/job-history.ts";
import { JobRunner } from "../jobs/job-runner.ts";
import { type FailedTilePage, JobStore, jobMigrations } from "../jobs/job-store.ts";
import { Seeding } from "../jobs/seeding.ts";
import { StoreFaults } from "../jobs/store-faults.ts";
import { Truncation } from "../jobs/truncating.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { type AdoptedLayer, Adoption, adoptionMigrations } from "../ledger/adoption.ts";
import { Ledger, ledgerMigrations } from "../ledger/ledger.ts";
import type { Logger } from "../lib/logger.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import { JobCounter } from "../plan/job-counter.ts";
import type { JobOptions } from "../plan/job-options.ts";
import type {
  IdempotencyKey,
  JobEvent,
  JobFilter,
  JobOrigin,
  JobRequest,
  JobView,
  KilledTask,
  KillScope,
  SubmittedJob,
  TaskRow,
} from "../plan/job-request.ts";
import type { JobTerms } from "../plan/job-terms.ts";
import type { PlannedJobs } from "../plan/plan-batch.ts";
import { AccessLog, accessLogMigrations } from "../quota/access-log.ts";
import { DiskRoom } from "../quota/disk-room.ts";
import { Enforcer } from "../quota/enforcer.ts";
import { Eviction } from "../quota/eviction.ts";
import type { EvictionOptions } from "../quota/eviction-options.ts";
import { applyQuotaChange, type QuotaChange, type QuotaConfiguration } from "../quota/quota-configuration.ts";
import { QuotaStore, quotaMigrations } from "../quota/quota-store.ts";
import { type Reservation, Reservations } from "../quota/reservations.ts";
import { UsageTrend, usageTrendMigrations } from "../quota/usage-trend.ts";
import type { Admission, StoredSize } from "../render/admission.ts";
import type { RenderGate } from "../render/render-order.ts";
import { RunWindows } from "../schedule/run-windows.ts";
import { ScheduleRuns } from "../schedule/schedule-runs.ts";
import type { ScheduleOperations } from "../schedule/schedule-service.ts";
import { ScheduleService } from "../schedule/schedule-service.ts";
import { ScheduleStore, scheduleMigrations } from "../schedule/schedule-store.ts";
import { Scheduler } from "../schedule/scheduler.ts";
import { ClockRecord, clockMigrations } from "../state/clock-record.ts";
import type { Database } from "../state/database.ts";
import { FreeSpace, makeShrinkable } from "../state/free-space.ts";
import type { StateLoss } from "../state/running-mark.ts";
import type { TileStore } from "../store/tile-store.ts";
import type { MassTruncationOperations } from "../truncation/mass-truncation.ts";
import { MassTruncationService } from "../truncation/mass-truncation-service.ts";
import { MassTruncationStore, massTruncationMigrations } from "../truncation/mass-truncation-store.ts";
import { Reclaim } from "../truncation/reclaim.ts";
import { LedgerTruncations, truncationMigrations } from "../truncation/truncations.ts";
import { WebhookOutbox, webhookMigrations } from "../webhook/webhook-outbox.ts";
import { createWebhookPost } from "../webhook/webhook-post.ts";
import { Webhooks } from "../webhook/webhooks.ts";
import { EstimateService } from "./estimate-service.ts";
import { JobService } from "./job-service.ts";
import type { CoordinatorMetrics, EstimateOperations, Operations, UsageOperations } from "./operations.ts";
import { UsageService } from "./usage-service.ts";
import { UserWrites } from "./user-writes.ts";

export interface CoordinatorParts {
  readonly db: Database;
  readonly store: TileStore;
  readonly gate: RenderGate;
  readonly catalogue: () => Catalogue;
  readonly jobOptions: () => JobOptions;
  readonly initialQuota: () => QuotaConfiguration;
  readonly eviction: () => EvictionOptions;
  /** How long mass truncations can be undone. */
  readonly undoSeconds: () => number;
  /** Whether other programs write to the store. */
  readonly sharedStore: () => boolean;
  /** Changes with every boot of the machine; undefined where the boot is unknown. */
  readonly boot: string | undefined;
  /** The parts that are missing of the state that the last server left. */
  readonly stateLoss?: StateLoss | undefined;
  /** ms since 1970 by the wall clock, for points in time. */
  readonly now: () => number;
  /** ms by a clock that starts at the wall clock's time and never steps, for durations. */
  readonly monotonicNow: () => number;
  readonly random: () => number;
  readonly webhooks: () => readonly Webhook[];
  /** Called with each job event after it has been persisted. */
  readonly tell: (event: JobEvent) => void;
  readonly log: Logger;
}

const FLUSH_MS = 250;
const DAY_MS = 86_400_000;
const TRUNCATIONS_TRIMMED_AT_ONCE = 500;
/** Pyramids without tiles that are removed between two turns of the event loop. Each takes several system calls. */
const EMPTIED_AT_ONCE = 8;

/**
 * Owns the ledger, the jobs and the quota, and alone writes them. Lives in one thread beside the server. Every method
 * answers from committed state.
 */
export class Coordinator
  implements
    Omit<Operations, keyof (ScheduleOperations & MassTruncationOperations & UsageOperations & EstimateOperations)>
{
  readonly #parts: CoordinatorParts;
  readonly #ledger: Ledger;
  readonly #runner: JobRunner;
  readonly #service: JobService;
  /** Accounts the writes of users' misses. The server calls it directly, not through the operations. */
  readonly userWrites: UserWrites;
  readonly #scheduler: Scheduler;
  readonly schedules: ScheduleOperations;
  readonly #reclaim: Reclaim;
  readonly #massTruncations: MassTruncationStore;
  readonly truncations: MassTruncationService;
  readonly usage: UsageService;
  readonly estimates: EstimateService;
  readonly #quota: QuotaStore;
  readonly #enforcer: Enforcer;
  readonly #reservations = new Reservations();
  readonly #adoption: Adoption;
  readonly #trend: UsageTrend;
  readonly #accesses: AccessLog;
  readonly #webhooks: Webhooks;
  #alive: Promise<void> | undefined;
  #commit: Promise<void> | undefined;
  #emptying: Promise<void> | undefined;
  readonly #flushTimer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #failure: string | undefined;
  #lastTrimMs = 0;
  #moreToTrim = false;
  readonly #history: JobHistory;
  readonly #freeSpace: FreeSpace;
  #failedNotes = 0;
  readonly #clock: ClockRecord;

  constructor(parts: CoordinatorParts) {
    const { db, store, gate, catalogue, jobOptions, now, monotonicNow, random, log } = parts;
    this.#parts = parts;
    makeShrinkable(db, log);
    db.migrate([
      ledgerMigrations,
      adoptionMigrations,
      jobMigrations,
      scheduleMigrations,
      truncationMigrations,
      massTruncationMigrations,
      quotaMigrations,
      usageTrendMigrations,
      accessLogMigrations,
      webhookMigrations,
      clockMigrations,
    ]);
    this.#clock = new ClockRecord(db, now);
    this.#ledger = new Ledger({
      db,
      store,
      boot: parts.boot,
      now,
      monotonicNow,
      corrupt: (tileSet, rect, reason) =>
        log.error("a row of the ledger is corrupt; its tiles are counted from the store", {
          ...tileSet,
          ...rect,
          reason,
        }),
    });
    const ledgerTruncations = new LedgerTruncations(db, store, this.#ledger, gate);
    this.#reclaim = new Reclaim({ ledger: this.#ledger, store, gate, log });
    const persist = (also?: () => void): void => this.#persist(also);
    const sweep = (): void => this.#reclaim.sweep();
    const sources = { ledger: this.#ledger, store, catalogue };
    this.#massTruncations = new MassTruncationStore(db);
    this.truncations = new MassTruncationService({
      ...sources,
      db,
      truncations: this.#massTruncations,
      ledgerTruncations,
      gate,
      undoSeconds: parts.undoSeconds,
      sweep,
      restored: (pyramids) => {
        this.#adoption.restored(pyramids);
        this.#adopt();
        // The restored tiles may exceed a quota.
        void this.#enforcer.cleanUp();
      },
      now,
      monotonicNow,
      closing: this.#closing.signal,
    });
    const storeFaults = new StoreFaults(log, monotonicNow);
    const disk = new DiskRoom({
      ask: () => store.room(),
      blockBytes: store.allocated(1),
      now: monotonicNow,
      sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
    });
    this.userWrites = new UserWrites({
      ledger: this.#ledger,
      reservations: this.#reservations,
      admit: (reservation, size) => this.#admit(reservation, size),
      stored: (size) => disk.wrote(size),
      marksCommitted: () => this.#marksCommitted(),
      notStored: () => void this.#enforcer.notStored++,
      storeFault: (layer, reason) => storeFaults.note(layer, reason),
      fault: (error) => this.#fault(error),
    });
    this.#quota = new QuotaStore(db, parts.initialQuota());
    this.#adoption = new Adoption({ db, store, ledger: this.#ledger, log, isStateLost: parts.stateLoss !== undefined });
    this.#trend = new UsageTrend(db);
    this.#accesses = new AccessLog(db);
    this.#enforcer = new Enforcer({
      ledger: this.#ledger,
      reservations: this.#reservations,
      eviction: new Eviction({
        ledger: this.#ledger,
        options: parts.eviction,
        evicted: (tileSet, rect) => gate.evicted(tileSet, rect),
        now,
      }),
      disk,
      configuration: () => this.#quota.current,
      options: parts.eviction,
      monotonicNow,
      log,
    });
    this.#webhooks = new Webhooks({
      outbox: new WebhookOutbox(db),
      webhooks: parts.webhooks,
      post: createWebhookPost(),
      transaction: (body) => db.transaction(body),
      onRollback: (undo) => db.onRollback(undo),
      fault: (error) => this.#fault(error),
      now,
      monotonicNow,
      random,
      log,
    });
    const jobs = new JobStore(db);
    const unsynced = (body: () => void): void => db.unsynced(body);
    this.#history = new JobHistory({ jobs, options: jobOptions, persist, unsynced, monotonicNow, log });
    this.#freeSpace = new FreeSpace(db);
    this.#runner = new JobRunner({
      jobs,
      seeding: new Seeding({
        ledger: this.#ledger,
        store,
        gate,
        jobs,
        catalogue,
        expiredBeforeMs: (layer) => this.truncations.softTimes.get(layer) ?? 0,
        movedMs: (layer) => this.truncations.undoneMs(layer),
        sharedStore: (layer) => parts.sharedStore() || this.#adoption.isChecking(layer),
        latestMs: () => this.#clock.latestMs(),
        options: jobOptions,
        persist: (also) => this.#persistAll(also),
        room: {
          begin: (layer) => this.#reservations.begin(layer, "seed"),
          tryReserve: (reservation, size) => this.#enforcer.tryReserve(reservation, size),
          reserve: (reservation, size) => this.#admit(reservation, size),
        },
        marksCommitted: () => this.#marksCommitted(),
        now,
        monotonicNow,
        random,
        closing: this.#closing.signal,
      }),
      truncation: new Truncation({
        ledger: this.#ledger,
        marksCommitted: () => this.#marksCommitted(),
        store,
        ledgerTruncations,
        catalogue,
        forget: (layer) => gate.forget(layer),
        saveCounts: () => this.#runner.records.saveDirty(),
        sweep,
      }),
      catalogue,
      storedMetatiles: (tileSet, walk) => this.#ledger.storedMetatiles(tileSet, walk),
      options: jobOptions,
      persist,
      onRollback: (undo) => db.onRollback(undo),
      beforeAbort: () => this.#enforcer.cleanUp(),
      announce: (moment, layer, view) => this.#webhooks.announce(moment, layer, view),
      told: (job) => parts.tell({ kind: "job", job }),
      now,
      monotonicNow,
      log,
    });
    this.#enforcer.attach({
      seedRanges: () => this.#runner.seedRanges(),
      giveUpTruncated: (layer) => this.truncations.giveUp(layer),
      isReclaiming: () => this.#reclaim.isSweeping,
    });
    const counted = {
      recounted: () => this.#recounted(),
      isCounted: (layer: string) => this.#isCounted(layer),
    };
    const counter = new JobCounter({ ledger: this.#ledger, ...counted });
    this.estimates = new EstimateService({
      ...sources,
      ...counted,
      quota: () => this.#quota.current,
      room: () => disk.last(),
      counter,
      jobs: (filter) => this.jobs(filter),
    });
    this.usage = new UsageService({
      ...sources,
      ...counted,
      quota: () => this.#quota.current,
      adoption: this.#adoption,
      trend: this.#trend,
      accesses: this.#accesses,
      counts: () => this.#enforcer.counts,
      room: () => disk.last(),
      now,
      closing: this.#closing.signal,
    });
    const schedules = new ScheduleStore(db);
    const windows = new RunWindows({
      runner: this.#runner,
      hours: (name) => schedules.hours(name),
      persist,
      now,
      log,
    });
    this.#service = new JobService({
      jobs,
      runner: this.#runner,
      windows,
      catalogue,
      counter,
      ledger: this.#ledger,
      persist,
      forgotten: (id) => parts.tell({ kind: "forgotten", id }),
      monotonicNow,
    });
    const runs = new ScheduleRuns({
      schedules,
      runner: this.#runner,
      windows,
      catalogue,
      counter,
      ledger: this.#ledger,
      options: jobOptions,
      persist,
      now,
      log,
    });
    this.#scheduler = new Scheduler({ schedules, runs, windows, persist, now, log });
    this.schedules = new ScheduleService({ schedules, runs, options: jobOptions, persist, now });
    this.#flushTimer = setInterval(() => {
      try {
        this.#tick();
      } catch (error) {
        // Nothing is lost: a later tick writes what this one could not write.
        this.#fault(error);
      }
    }, FLUSH_MS);
  }

  /** Starts jobs and schedules, the count of cells that a crash left open, and the reclaiming of truncated tiles. */
  start(): void {
    const { stateLoss, log } = this.#parts;
    if (stateLoss !== undefined)
      log.error(
        "the state of the last server is not all there: jobs, schedules, truncations to undo, and a quota put over HTTP are lost, or are as they were some time ago; all tiles are counted again",
        { ...stateLoss },
      );
    this.#webhooks.reconfigured();
    this.#adoption.check(this.#adoptedLayers());
    this.#runner.start();
    this.#scheduler.start();
    this.#recountInTurns();
    this.#reclaim.sweep();
    this.#forgetQuotasOfUnknownLayers();
    this.#enforcer.schedule();
    this.#adopt();
  }

  #adopt(): void {
    this.#adoption.start(this.#adoptedLayers());
  }

  #adoptedLayers(): AdoptedLayer[] {
    const layers = [...this.#parts.catalogue().layers.values()];
    return layers.map(({ name, gridSubsets }) => ({ name, gridSets: gridSubsets.map(({ gridSet }) => gridSet.id) }));
  }

  /** Records that this server owns the store. The next server checks for changes that others made after this time. */
  #noteAlive(): void {
    this.#alive ??= this.#adoption
      .noteAlive()
      .catch((error: unknown) =>
        this.#parts.log.error("the store cannot be marked as in use", { error: String(error) }),
      )
      .finally(() => {
        this.#alive = undefined;
      });
  }

  #recountInTurns(): void {
    if (this.#ledger.recountSome(16) && !this.#closing.signal.aborted) setImmediate(() => this.#recountInTurns());
  }

  #tick(): void {
    this.#clock.note();
    if (this.#ledger.needsFlush || this.#runner.records.needsSave) {
      this.#noteAlive();
      this.#ledger.recountSome(16);
      this.#persist(() => this.#runner.records.saveDirty());
    }
    if (this.#ledger.emptied > 0) this.#removeEmptied();
    this.#runner.records.tell();
    this.#webhooks.tick();
    const nowMs = this.#parts.now();
    this.truncations.tick();
    if (this.#accesses.isDue(nowMs)) this.#persist(() => this.#accesses.write(nowMs));
    const steadyMs = this.#parts.monotonicNow();
    const isDue = steadyMs - this.#lastTrimMs >= 60_000;
    if (isDue) {
      this.#lastTrimMs = steadyMs;
      this.#persist(() => this.#trend.sample(this.#ledger.total.bytes, nowMs));
    }
    if (isDue || this.#moreToTrim) this.#trim(nowMs);
    if (isDue || this.#freeSpace.hasMore) this.#freeSpace.giveBackSome();
    this.#history.compressNext();
  }

  /**
   * Examines each pyramid once that may have lost its last tile. A later tick examines those that are being written.
   */
  #removeEmptied(): void {
    const remove = async (): Promise<void> => {
      for (let left = this.#ledger.emptied; left > 0 && !this.#closing.signal.aborted; left -= EMPTIED_AT_ONCE) {
        this.#ledger.removeEmptied(EMPTIED_AT_ONCE);
        await new Promise(setImmediate);
      }
    };
    this.#emptying ??= remove()
      .catch((error: unknown) => this.#fault(error))
      .finally(() => {
        this.#emptying = undefined;
      });
  }

  #trim(nowMs: number): void {
    const { historyDays, historyJobs } = this.#parts.jobOptions();
    const hasMoreJobs = this.#history.trim(nowMs);
    this.#persist(() => {
      const before = nowMs - historyDays * DAY_MS;
      const forgotten = this.#massTruncations.trim(before, historyJobs, TRUNCATIONS_TRIMMED_AT_ONCE);
      this.#moreToTrim = hasMoreJobs || forgotten >= TRUNCATIONS_TRIMMED_AT_ONCE;
    });
  }

  #persist(also?: () => void): void {
    try {
      this.#parts.db.transaction(() => {
        this.#ledger.writeAll();
        also?.();
      });
      this.#failure = undefined;
      this.#runner.records.tell();
    } catch (error) {
      this.#fault(error);
      throw error;
    }
  }

  #persistAll(also: () => void): void {
    this.#persist(() => {
      this.#runner.records.saveDirty();
      also();
    });
  }

  #fault(error: unknown): void {
    const failure = `the state database cannot be written: ${String(error)}`;
    if (this.#failure !== failure)
      this.#parts.log.error("the state database cannot be written", { error: String(error) });
    this.#failure = failure;
  }

  async #admit(reservation: Reservation, size: StoredSize): Promise<Admission> {
    try {
      return await this.#enforcer.reserve(reservation, size);
    } catch (error) {
      this.#fault(error);
      return { kind: "disk_full", reason: "the state database cannot be written" };
    }
  }

  /**
   * Returns why the coordinator cannot work; undefined: it can. Writes after a fault, to find out whether it has
   * passed.
   */
  health(): string | undefined {
    try {
      if (this.#failure !== undefined) this.#persist();
    } catch {
      // `#persist` has recorded the failure.
    }
    return this.#failure;
  }

  /** Resolves when the new marks are committed. Writers of the same turn of the event loop share one commit. */
  #marksCommitted(): Promise<void> {
    this.#commit ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#commit = undefined;
        try {
          this.#parts.db.transaction(() => this.#ledger.writeMarks());
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return this.#commit;
  }

  /** Records reads of tiles. */
  used(report: UseReport): void {
    this.#ledger.used(report.cells);
    this.#accesses.add(report, this.#parts.now());
  }

  // ---- operations

  async rows(layer: string | undefined): Promise<readonly TaskRow[]> {
    this.#saveCounts();
    return this.#runner.rows(layer);
  }

  /**
   * Saves counts before they are reported: a kill must not take them back (`docs/reference/wire-format.md`,
   * Durability).
   */
  #saveCounts(): void {
    if (!this.#runner.records.needsSave) return;
    try {
      this.#persist(() => this.#runner.records.saveDirty());
    } catch (error) {
      // The list is answered even when its counts could not be saved.
      this.#fault(error);
    }
  }

  async submit(request: JobRequest, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    return this.#service.submit(request, origin);
  }

  async submitAll(planned: PlannedJobs, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    return this.#service.submitAll(planned, origin);
  }

  async keyed(by: string | null, key: IdempotencyKey): Promise<Result<SubmittedJob, Refusal> | undefined> {
    return this.#service.keyed(by, key);
  }

  kill(scope: KillScope, layer: string | undefined, by: string | null): Promise<readonly KilledTask[]> {
    return this.#runner.killScope(scope, layer, by);
  }

  killTask(layer: string, taskId: bigint, by: string | null): Promise<readonly KilledTask[]> {
    return this.#runner.kill((job, task) => BigInt(task.id) === taskId && job.request.layer === layer, by);
  }

  cancel(id: number, by: string | null): Promise<Result<JobView, Refusal>> {
    return this.#service.cancel(id, by);
  }

  pause(id: number, by: string | null): Promise<Result<JobView, Refusal>> {
    return this.#service.pause(id, by);
  }

  unpause(id: number): Promise<Result<JobView, Refusal>> {
    return this.#service.unpause(id);
  }

  change(id: number, terms: Partial<JobTerms>): Promise<Result<JobView, Refusal>> {
    return this.#service.change(id, terms);
  }

  async retry(id: number, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    return this.#service.retry(id, origin);
  }

  async forget(id: number): Promise<Result<null, Refusal>> {
    return this.#service.forget(id);
  }

  async jobs(filter: JobFilter): Promise<readonly JobView[]> {
    this.#saveCounts();
    return this.#runner.list(filter);
  }

  async job(id: number): Promise<JobView | undefined> {
    this.#saveCounts();
    return this.#service.view(id);
  }

  #isCounted(layer: string): boolean {
    if (this.#adoption.concerns(layer)) return false;
    return [...this.#ledger.tileSets()].every(({ tileSet, complete }) => complete || tileSet.layer !== layer);
  }

  async failedTiles(id: number, after: number, limit: number): Promise<FailedTilePage | undefined> {
    return this.#service.failedTiles(id, after, limit);
  }

  async jobMetrics(): Promise<CoordinatorMetrics> {
    return {
      ...this.#runner.metrics(),
      history: this.#history.metrics(),
      webhooks: this.#webhooks.metrics(),
      corruptBlocks: this.#ledger.corruptBlocks,
      failedNotes: this.#failedNotes,
      stateLoss: this.#parts.stateLoss ?? null,
    };
  }

  /** Counts a failure of work that no caller waits for. */
  noteFailed(): void {
    this.#failedNotes++;
  }

  /** Counts all cells that a crash left open, before an answer is based on them. */
  async #recounted(): Promise<void> {
    while (this.#ledger.recountSome(16)) await new Promise(setImmediate);
  }

  async quota(): Promise<QuotaConfiguration> {
    return this.#quota.current;
  }

  async changeQuota(change: QuotaChange): Promise<QuotaConfiguration> {
    const changed = this.#quota.save(applyQuotaChange(this.#quota.current, change));
    this.#enforcer.schedule();
    // Batches with reservations under the old limits end first, so that the next write is under the new limits.
    if (changed.enabled) await this.#parts.gate.endRuns();
    // Evicts after the answer has been sent.
    setImmediate(() => void this.#enforcer.cleanUp());
    return changed;
  }

  /** Applies a new catalogue after a reload. */
  async layersChanged(): Promise<void> {
    this.#webhooks.reconfigured();
    await this.#runner.layersChanged();
    this.#quota.reread(this.#parts.initialQuota());
    this.#forgetQuotasOfUnknownLayers();
    this.#enforcer.schedule();
    void this.#enforcer.cleanUp();
    this.#adopt();
  }

  /** Removes quotas of unknown layers, so that a client can always PUT back what a GET has answered. */
  #forgetQuotasOfUnknownLayers(): void {
    const { layers } = this.#parts.catalogue();
    const { current } = this.#quota;
    const kept = current.layerQuotas.filter((q) => layers.has(q.layer));
    if (kept.length === current.layerQuotas.length) return;
    const gone = current.layerQuotas.filter((q) => !layers.has(q.layer)).map((q) => q.layer);
    this.#parts.log.warn("quotas of layers that are no longer configured have been dropped", { layers: gone });
    this.#quota.save({ ...current, layerQuotas: kept });
  }

  /** Stops the jobs and all background work. Users' writes are accounted until `close`. */
  async stop(graceMs: number): Promise<void> {
    await this.#scheduler.close();
    await this.#enforcer.close();
    await this.#adoption.close();
    await this.usage.cancelVerification();
    this.#reclaim.stop();
    this.#closing.abort();
    await this.#runner.close(graceMs);
    await this.#reclaim.ended();
  }

  /** Writes all remaining state. Called after `stop` and after the last write. */
  async close(): Promise<void> {
    clearInterval(this.#flushTimer);
    await this.#emptying;
    await this.#history.close();
    this.#persist(() => {
      this.#runner.records.saveDirty();
      this.#accesses.write(this.#parts.now());
    });
    await this.#webhooks.close();
    await this.#alive;
    this.#noteAlive();
    await this.#alive;
  }
}
