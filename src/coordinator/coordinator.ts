import type { Feeds } from "../feed/feeds.ts";
import type { WatchedFiles } from "../feed/files/watched-files.ts";
import type { Outboxes } from "../feed/outbox/outboxes.ts";
import type { TileLists } from "../feed/tile-lists/tile-lists.ts";
import { type Catalogue, type LayerGridSet, layerNames } from "../layer/catalogue.ts";
import type { CellUses } from "../ledger/cells/cell-eviction.ts";
import { Adoption } from "../ledger/counting/adoption.ts";
import { StateWriter } from "../ledger/state-writer.ts";
import type { Logger } from "../lib/process/logger.ts";
import type { Timer } from "../lib/time/clock.ts";
import { ClockRecord } from "../state/clock-record.ts";
import { StoreError } from "../store/tile-store.ts";
import { unique } from "../truncation/grid-set-places.ts";
import { buildJobs, buildWebhooks } from "./build/build-jobs.ts";
import { adoptedLayers, buildLedger } from "./build/build-ledger.ts";
import { buildPurges } from "./build/build-purges.ts";
import { buildQuota, buildUserWrites } from "./build/build-quota.ts";
import type { ScheduleParts } from "./build/build-schedules.ts";
import { buildServices, type ServiceContext } from "./build/build-services.ts";
import { buildTruncations } from "./build/build-truncations.ts";
import type { BuildContext, CoordinatorParts } from "./coordinator-parts.ts";
import type { Services } from "./operations.ts";
import { PeriodicWork } from "./periodic-work.ts";
import type { UserWrites } from "./user-writes.ts";

const RECOUNT_AGAIN_MS = 1_000;

/** The parts of a coordinator that need a start or a close. */
interface Lifecycle extends ServiceContext {
  readonly schedules: ScheduleParts;
  readonly feeds: Feeds;
  readonly outboxes: Outboxes;
  readonly tileLists: TileLists;
  readonly watchedFiles: WatchedFiles;
  readonly periodicWork: PeriodicWork;
}

/**
 * Owns the ledger, the jobs and the quota, and is their only writer. Lives in one thread beside the server. Every
 * operation answers from committed state.
 */
export class Coordinator {
  readonly #parts: Lifecycle;
  readonly #closing: AbortController;
  /** Fires when no further lost write is expected. */
  #recountTimer: Timer | undefined;
  /** The services behind the operations. */
  readonly services: Services;
  /** Accounts for the writes of renderers. */
  readonly userWrites: UserWrites;

  constructor(parts: Lifecycle, closing: AbortController, services: Services, userWrites: UserWrites) {
    this.#parts = parts;
    this.#closing = closing;
    this.services = services;
    this.userWrites = userWrites;
  }

  /**
   * Starts the jobs, the schedules, the count of cells that a crash left open, and the reclaiming of truncated tiles.
   */
  start(): void {
    const { stateLoss, log, catalogue, jobs, schedules, feeds, outboxes, tileLists } = this.#parts;
    const { watchedFiles, adoption, truncations, deliveries, purges } = this.#parts;
    if (stateLoss !== undefined) reportLoss(stateLoss, log);
    deliveries.reconfigured();
    purges.reconfigured();
    adoption.check(adoptedLayers(catalogue()));
    jobs.runner.start();
    schedules.scheduler.start();
    feeds.start();
    outboxes.start();
    tileLists.start();
    watchedFiles.start();
    this.#recountAfterLostWrites();
    truncations.reclaim.sweep();
    this.services.quota.start();
    adoption.start(adoptedLayers(catalogue()));
    this.services.copies.start();
  }

  /** Records that a process which cannot be reached may still write for some time. */
  lostWriter(ms: number): void {
    this.#parts.lostWrites?.mayComeFor(ms);
    this.#recountAfterLostWrites();
  }

  #recountAfterLostWrites(): void {
    const { clock, closing, lostWrites } = this.#parts;
    const leftMs = lostWrites?.leftMs ?? 0;
    if (leftMs === 0) this.#recountInSlices();
    else if (this.#recountTimer === undefined) {
      this.#recountTimer = clock
        .after(leftMs, () => {
          this.#recountTimer = undefined;
          if (!closing.aborted) this.#recountAfterLostWrites();
        })
        .unref();
    }
  }

  #recountInSlices(): void {
    const { clock, ledger, closing, state } = this.#parts;
    try {
      if (ledger.doubted.countSome(16) && !closing.aborted) clock.soon(() => this.#recountInSlices());
    } catch (error) {
      // A database on another machine may be unavailable for a while. An operation that needs the counts also counts
      // the cells.
      state.fault(error);
      clock.after(RECOUNT_AGAIN_MS, () => !closing.aborted && this.#recountInSlices()).unref();
    }
  }

  /** Returns why the coordinator cannot work. Undefined if it can. */
  health(): string | undefined {
    return this.#parts.state.health() ?? this.#parts.outboxes.health();
  }

  /** Continues work that waited for a store, after a store has become available again. */
  storeIsBack(): void {
    const { adoption, catalogue, truncations } = this.#parts;
    truncations.ledgerTruncations.interrupted.completeSome();
    truncations.ledgerTruncations.completeOwed();
    adoption.again(adoptedLayers(catalogue()));
    truncations.reclaim.sweep();
  }

  /** Records reads of tiles. */
  used(cells: readonly CellUses[]): void {
    this.#parts.ledger.eviction.used(cells);
  }

  /**
   * Applies a reloaded configuration. Applies all of it even if a truncation fails because its store is unavailable,
   * then throws this StoreError. Returns the number of jobs that were aborted because their layers are gone.
   * @param changed the grid sets of layers whose tiles have moved to other places
   * @param only the layers that may have changed; absent for all
   */
  async reconfigured(changed: readonly LayerGridSet[], only?: Catalogue): Promise<number> {
    const { catalogue, jobs, feeds, outboxes, tileLists, adoption, truncations, deliveries, purges } = this.#parts;
    const names = only && new Set(layerNames(only));
    const fault = await this.truncateMoved(changed, only);
    for (const layer of await truncations.layerStores.reconfigured(names)) adoption.countAgain(layer);
    // The change of a single layer does not concern users and webhooks.
    if (names === undefined) {
      this.services.accounts.usersChanged();
      deliveries.reconfigured();
    }
    purges.reconfigured();
    const aborted = await jobs.runner.endings.layersChanged();
    this.services.quota.layersChanged();
    adoption.start(adoptedLayers(only ?? catalogue()));
    feeds.reconfigured();
    outboxes.reconfigured();
    tileLists.reconfigured();
    if (fault !== undefined) throw fault;
    return aborted;
  }

  /**
   * Truncates the stored tiles of grid sets that now have other places for their tiles. Returns the first fault of a
   * store that kept a truncation from ending. Undefined if all tiles were truncated.
   * @param changed grid sets of layers that are known to have changed
   * @param only the layers that may have changed; absent for all
   */
  async truncateMoved(changed: readonly LayerGridSet[], only?: Catalogue): Promise<StoreError | undefined> {
    const { service, places } = this.#parts.truncations;
    const all = [...this.#parts.catalogue().layers.values()];
    const layers = only === undefined ? all : [...only.layers.values()];
    let fault: StoreError | undefined;
    for (const { layer, gridSet } of unique([...changed, ...places.moved(layers, all)]))
      try {
        await service.truncateGridSet(layer, gridSet);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        fault ??= error;
      }
    // After a fault the places are not recorded, so the next start truncates the tiles.
    if (fault === undefined) places.record(layers);
    return fault;
  }

  /** Stops the jobs and all background work. Users' writes are still accounted for until `close`. */
  async stop(graceMs: number): Promise<void> {
    const { quota, jobs, schedules, feeds, outboxes, tileLists, watchedFiles, adoption, truncations } = this.#parts;
    await feeds.close();
    await outboxes.close();
    await tileLists.close();
    await watchedFiles.close();
    await schedules.scheduler.close();
    await quota.enforcer.close();
    await adoption.close();
    await this.services.usage.cancelVerification();
    this.#closing.abort();
    await jobs.runner.close(graceMs);
    await truncations.reclaim.ended();
  }

  /** Writes all unsaved state. Called after `stop` and after the last write. */
  async close(): Promise<void> {
    this.services.activity.flush();
    try {
      await this.services.copies.close();
    } finally {
      await this.#parts.periodicWork.close();
    }
  }
}

function reportLoss(stateLoss: NonNullable<CoordinatorParts["stateLoss"]>, log: Logger): void {
  log.error(
    "the state database is missing or older than the tiles: jobs, schedules, truncations to undo, and a quota put over HTTP are lost or outdated; all tiles are counted again",
    { ...stateLoss },
  );
}

/**
 * Builds a coordinator, and completes the unfinished work of the last process.
 * @throws Error if the database cannot be read or written
 */
export function buildCoordinator(parts: CoordinatorParts): Coordinator {
  const closing = new AbortController();
  const { db, clock, stateLoss } = parts;
  const ledger = buildLedger(parts);
  const state = new StateWriter({ ...parts, ledger });
  const context: BuildContext = {
    ...parts,
    ledger,
    purges: buildPurges({ ...parts, ledger, state }),
    adoption: new Adoption({ ...parts, ledger, isStateLost: stateLoss !== undefined }),
    clockRecord: new ClockRecord(db, clock.now),
    state,
    closing: closing.signal,
  };
  const quota = buildQuota(context);
  const truncations = buildTruncations(context, quota.enforcer);
  const jobContext = { ...context, quota, truncations, deliveries: buildWebhooks(context) };
  const jobs = buildJobs(jobContext);
  quota.enforcer.attach({
    seedRanges: () => jobs.runner.active.seedRanges(),
    giveUpTruncated: (isChosen) => truncations.service.giveUpWhere(isChosen),
    isReclaiming: () => truncations.reclaim.sweepWaste(),
  });
  const userWrites = buildUserWrites(context, quota);
  const serviceContext = { ...jobContext, jobs, userWrites };
  const { services, schedules, feeds, outboxes, tileLists, watchedFiles } = buildServices(serviceContext);
  const periodicWork = new PeriodicWork(serviceContext);
  periodicWork.start();
  const lifecycle = { ...serviceContext, schedules, feeds, outboxes, tileLists, watchedFiles, periodicWork };
  return new Coordinator(lifecycle, closing, services, userWrites);
}
