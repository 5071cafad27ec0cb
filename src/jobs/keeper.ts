import type { DrawGate, WrittenTile } from "../cache/draw.ts";
import type { TileIndex, TileRect } from "../grid/grid-set.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { findSubset } from "../layer/layer.ts";
import { parametersId, parseParameters } from "../layer/parameter-filter.ts";
import { Ledger, ledgerMigrations, type OpenCells } from "../ledger/ledger.ts";
import type { Logger } from "../lib/logger.ts";
import { quotaBytes } from "../quota/quota-bytes.ts";
import { applyQuotaChange, type QuotaChange, type QuotaConfiguration } from "../quota/quota-configuration.ts";
import { QuotaStore, quotaMigrations } from "../quota/quota-store.ts";
import type { Database } from "../state/database.ts";
import type { BlobStore, StoredPyramid } from "../store/blob-store.ts";
import type { TileSet } from "../tile/tile-set.ts";
import { Drops, type DropTarget, dropMigrations } from "./drops.ts";
import type { JobFilter, JobRequest, JobView, KilledTask, KillScope, TaskRow } from "./job.ts";
import type { JobOptions } from "./job-options.ts";
import { JobRunner } from "./job-runner.ts";
import { JobStore, jobMigrations } from "./job-store.ts";
import type { Operations, UsageView } from "./operations.ts";
import { Seeding } from "./seeding.ts";
import { Truncation } from "./truncation.ts";

export interface KeeperParts {
  readonly db: Database;
  readonly store: BlobStore;
  readonly gate: DrawGate;
  readonly catalogue: () => Catalogue;
  readonly jobOptions: () => JobOptions;
  readonly initialQuota: () => QuotaConfiguration;
  /** Changes with every boot of the machine; undefined where it cannot be known. */
  readonly boot: string | undefined;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Logger;
}

const FLUSH_MS = 250;
const DAY_MS = 86_400_000;

/**
 * The sole owner of what is known: ledger, jobs, quota. Lives in one thread beside the front; every method answers from
 * committed state.
 */
export class Keeper implements Operations {
  readonly #parts: KeeperParts;
  readonly #ledger: Ledger;
  readonly #runner: JobRunner;
  readonly #drops: Drops;
  readonly #quota: QuotaStore;
  readonly #opened = new Map<number, OpenCells>();
  #nextOpened = 1;
  #commit: Promise<void> | undefined;
  readonly #flushTimer: NodeJS.Timeout;
  readonly #stopSweeping = new AbortController();
  #sweeping: Promise<void> | undefined;
  #sweepAgain = false;
  #failure: string | undefined;
  #lastTrimMs = 0;

  constructor(parts: KeeperParts) {
    const { db, store, gate, catalogue, jobOptions, now, random, log } = parts;
    this.#parts = parts;
    db.migrate([ledgerMigrations, jobMigrations, dropMigrations, quotaMigrations]);
    this.#ledger = new Ledger(db, store, parts.boot, now);
    this.#drops = new Drops(db, store, this.#ledger, gate);
    this.#quota = new QuotaStore(db, parts.initialQuota());
    const jobs = new JobStore(db);
    this.#runner = new JobRunner({
      jobs,
      seeding: new Seeding({
        ledger: this.#ledger,
        store,
        gate,
        jobs,
        catalogue,
        options: jobOptions,
        persist: (also) => this.#persist(also),
        marksCommitted: () => this.#marksCommitted(),
        now,
        random,
        closing: () => this.#runner.closing,
      }),
      truncation: new Truncation({
        ledger: this.#ledger,
        store,
        drops: this.#drops,
        catalogue,
        forget: (layer) => gate.forget(layer),
        sweep: () => this.#sweep(),
      }),
      catalogue,
      options: jobOptions,
      persist: (also) => this.#persist(also),
      now,
      log,
    });
    this.#flushTimer = setInterval(() => this.#tick(jobs), FLUSH_MS);
  }

  /** Jobs go on, what a crash left open is counted, what drops left behind is reclaimed. */
  start(): void {
    this.#runner.start();
    this.#recountInTurns();
    this.#sweep();
    this.#forgetQuotasOfUnknownLayers();
  }

  #recountInTurns(): void {
    if (this.#ledger.recountSome(16) && !this.#stopSweeping.signal.aborted) setImmediate(() => this.#recountInTurns());
  }

  #tick(jobs: JobStore): void {
    if (this.#ledger.needsFlush || this.#runner.needsSave) {
      this.#ledger.recountSome(16);
      this.#persist(() => this.#runner.saveDirty());
    }
    const nowMs = this.#parts.now();
    if (nowMs - this.#lastTrimMs < 60_000) return;
    this.#lastTrimMs = nowMs;
    this.#persist(() => jobs.trim(nowMs - this.#parts.jobOptions().historyDays * DAY_MS, 1000));
  }

  #persist(also?: () => void): void {
    try {
      this.#parts.db.transaction(() => {
        this.#ledger.writeAll();
        also?.();
      });
      this.#failure = undefined;
    } catch (error) {
      this.#failure = `the state database cannot be written: ${String(error)}`;
      throw error;
    }
  }

  /** Why the keeper cannot work; undefined: it can. */
  health(): string | undefined {
    return this.#failure;
  }

  /** Writers that ask in the same turn share one commit. */
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

  // ---- the front's side of a user's miss

  /** Opens the cells of a metatile; answered once their marks are on the disk. The tile at `missed` was not found. */
  async open(tileSet: TileSet, rect: TileRect, missed: TileIndex): Promise<number> {
    this.#ledger.missed(tileSet, missed);
    const open = this.#ledger.open(tileSet, rect);
    const id = this.#nextOpened++;
    this.#opened.set(id, open);
    if (open.mustCommit) await this.#marksCommitted();
    return id;
  }

  wrote(tileSet: TileSet, tiles: readonly WrittenTile[]): void {
    for (const tile of tiles) this.#ledger.wrote(tileSet, tile);
  }

  closeCells(id: number): void {
    const open = this.#opened.get(id);
    if (open === undefined) return;
    this.#opened.delete(id);
    this.#ledger.close(open);
  }

  /** A writer died and may have written what it did not tell. */
  lost(tileSet: TileSet, rect: TileRect): void {
    const open = this.#ledger.open(tileSet, rect);
    this.#ledger.lost(open);
    this.#ledger.close(open);
  }

  // ---- operations

  async rows(layer: string | undefined): Promise<readonly TaskRow[]> {
    return this.#runner.rows(layer);
  }

  async submit(request: JobRequest): Promise<{ jobId: number; taskIds: readonly number[] }> {
    return this.#runner.submit(request);
  }

  kill(scope: KillScope, layer: string | undefined): Promise<readonly KilledTask[]> {
    return this.#runner.killScope(scope, layer);
  }

  killTask(layer: string, taskId: number): Promise<readonly KilledTask[]> {
    return this.#runner.kill((job, task) => task.id === taskId && job.request.layer === layer);
  }

  async truncateLayer(layer: string): Promise<void> {
    await this.#drops.drop(layer, () => [{ kind: "layer", layer }]);
    this.#sweep();
  }

  async truncateParameters(layer: string, values: Readonly<Record<string, string>>): Promise<void> {
    const filters = this.#parts.catalogue().layers.get(layer)?.parameterFilters ?? [];
    const upper = Object.fromEntries(Object.entries(values).map(([k, v]) => [k.toUpperCase(), v]));
    const parsed = parseParameters(filters, new Map(Object.entries(upper)), "refuse");
    const ids = new Set([parametersId(upper), ...(parsed.ok ? [parsed.value.id] : [])]);
    // A combination of defaults has no id of its own.
    if (parsed.ok && parsed.value.id === "") ids.add("");
    await this.#dropPyramids(layer, (p) => ids.has(p.parametersId));
  }

  async truncateOrphans(layer: string): Promise<void> {
    const configured = this.#parts.catalogue().layers.get(layer);
    if (configured === undefined) return;
    await this.#dropPyramids(layer, (p) => {
      if (findSubset(configured, p.gridSet) === undefined) return true;
      if (p.parametersId === "") return false;
      const values = this.#parts.store.parametersOf(layer, p.parametersId);
      if (values === undefined) return configured.parameterFilters.length === 0;
      const parsed = parseParameters(configured.parameterFilters, new Map(Object.entries(values)), "refuse");
      return !parsed.ok || parsed.value.id !== p.parametersId;
    });
  }

  async #dropPyramids(layer: string, choose: (pyramid: StoredPyramid) => boolean): Promise<void> {
    const gridSets =
      this.#parts
        .catalogue()
        .layers.get(layer)
        ?.gridSubsets.map((s) => s.gridSet.id) ?? [];
    const recorded = [...this.#ledger.tileSets()].filter((t) => t.tileSet.layer === layer).map((t) => t.tileSet);
    const known = [...new Set([...gridSets, ...recorded.map((t) => t.gridSet)])];
    await this.#drops.drop(layer, () => {
      const targets = new Map<string, DropTarget>();
      for (const p of [...this.#parts.store.pyramids(layer, known), ...recorded]) {
        const pyramid = { layer, gridSet: p.gridSet, parametersId: p.parametersId };
        if (choose(pyramid)) targets.set(JSON.stringify(pyramid), { kind: "pyramid", pyramid });
      }
      return [...targets.values()];
    });
    this.#sweep();
  }

  async jobs(filter: JobFilter): Promise<readonly JobView[]> {
    return this.#runner.list(filter);
  }

  async job(id: number): Promise<JobView | undefined> {
    return this.#runner.job(id);
  }

  async usage(): Promise<UsageView> {
    this.#ledger.recountSome(Number.POSITIVE_INFINITY);
    const quotas = new Map(this.#quota.current.layerQuotas.map((q) => [q.layer, quotaBytes(q.quota)]));
    const layers = new Map<string, { tiles: bigint; bytes: bigint; complete: boolean }>();
    for (const name of this.#parts.catalogue().layers.keys())
      layers.set(name, { tiles: 0n, bytes: 0n, complete: true });
    for (const { tileSet, complete, sums } of this.#ledger.tileSets()) {
      const sum = layers.get(tileSet.layer) ?? { tiles: 0n, bytes: 0n, complete: true };
      layers.set(tileSet.layer, sum);
      sum.complete &&= complete;
      for (const { tiles, bytes } of sums.values()) {
        sum.tiles += tiles;
        sum.bytes += bytes;
      }
    }
    let tiles = 0n;
    let bytes = 0n;
    for (const sum of layers.values()) {
      tiles += sum.tiles;
      bytes += sum.bytes;
    }
    return {
      total: { tiles, bytes },
      layers: [...layers].map(([layer, { complete, ...sum }]) => ({
        layer,
        ...sum,
        quota: quotas.get(layer) ?? null,
        complete,
      })),
    };
  }

  async quota(): Promise<QuotaConfiguration> {
    return this.#quota.current;
  }

  async changeQuota(change: QuotaChange): Promise<QuotaConfiguration> {
    return this.#quota.save(applyQuotaChange(this.#quota.current, change));
  }

  /** The catalogue has been replaced by a reload. */
  async layersChanged(): Promise<void> {
    await this.#runner.layersChanged();
    this.#forgetQuotasOfUnknownLayers();
  }

  /** So that what a GET answers can always be PUT back. */
  #forgetQuotasOfUnknownLayers(): void {
    const { layers } = this.#parts.catalogue();
    const { current } = this.#quota;
    const kept = current.layerQuotas.filter((q) => layers.has(q.layer));
    if (kept.length === current.layerQuotas.length) return;
    const gone = current.layerQuotas.filter((q) => !layers.has(q.layer)).map((q) => q.layer);
    this.#parts.log.warn("quotas of layers that are no longer configured have been dropped", { layers: gone });
    this.#quota.save({ ...current, layerQuotas: kept });
  }

  /** Reclaims in the background; one sweep at a time. */
  #sweep(): void {
    if (this.#sweeping !== undefined) {
      this.#sweepAgain = true;
      return;
    }
    this.#sweeping = this.#sweepOnce().finally(() => {
      this.#sweeping = undefined;
      if (!this.#sweepAgain || this.#stopSweeping.signal.aborted) return;
      this.#sweepAgain = false;
      this.#sweep();
    });
  }

  async #sweepOnce(): Promise<void> {
    try {
      while (!this.#stopSweeping.signal.aborted && this.#ledger.reclaimSome(200)) await new Promise(setImmediate);
      await this.#parts.store.sweep(this.#stopSweeping.signal);
    } catch (error) {
      if (!this.#stopSweeping.signal.aborted)
        this.#parts.log.error("reclaiming space failed", { error: String(error) });
    }
  }

  /** Jobs stop, everything known is written; the order is that of opening, reversed. */
  async close(graceMs: number): Promise<void> {
    clearInterval(this.#flushTimer);
    this.#stopSweeping.abort();
    await this.#runner.close(graceMs);
    await this.#sweeping;
    this.#persist(() => this.#runner.saveDirty());
  }
}
