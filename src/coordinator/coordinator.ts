import type { UseReport } from "../cache/use-recorder.ts";
import type { Adoption } from "../ledger/adoption.ts";
import type { Logger } from "../lib/logger.ts";
import { ClockRecord } from "../state/clock-record.ts";
import { Reclaim } from "../truncation/reclaim.ts";
import { LedgerTruncations } from "../truncation/truncations.ts";
import type { Webhooks } from "../webhook/webhooks.ts";
import { adoptedLayers } from "./adopted-layers.ts";
import { buildJobs, type JobParts } from "./build-jobs.ts";
import { buildAdoption, buildLedger } from "./build-ledger.ts";
import { buildQuota, buildUserWrites, type QuotaParts } from "./build-quota.ts";
import type { ScheduleParts } from "./build-schedules.ts";
import { buildServices } from "./build-services.ts";
import { buildTruncations } from "./build-truncations.ts";
import { buildWebhooks } from "./build-webhooks.ts";
import type { BuildContext, CoordinatorParts } from "./coordinator-parts.ts";
import type { Services } from "./operations.ts";
import { PeriodicWork } from "./periodic-work.ts";
import { StateWriter } from "./state-writer.ts";
import type { UserWrites } from "./user-writes.ts";

/** The parts of a coordinator that start and close. */
interface Lifecycle {
  readonly context: BuildContext;
  readonly quota: QuotaParts;
  readonly jobs: JobParts;
  readonly schedules: ScheduleParts;
  readonly adoption: Adoption;
  readonly reclaim: Reclaim;
  readonly webhooks: Webhooks;
  readonly periodicWork: PeriodicWork;
}

/**
 * Owns the ledger, the jobs and the quota, and alone writes them. Lives in one thread beside the server. Every
 * operation answers from committed state.
 */
export class Coordinator {
  readonly #parts: Lifecycle;
  readonly #closing: AbortController;
  /** The services behind the operations. */
  readonly services: Services;
  /** Accounts the writes of renderers. */
  readonly userWrites: UserWrites;

  constructor(parts: Lifecycle, closing: AbortController, services: Services, userWrites: UserWrites) {
    this.#parts = parts;
    this.#closing = closing;
    this.services = services;
    this.userWrites = userWrites;
  }

  /** Starts jobs and schedules, the count of cells that a crash left open, and the reclaiming of truncated tiles. */
  start(): void {
    const { context, jobs, schedules, adoption, reclaim, webhooks } = this.#parts;
    const { stateLoss, log, catalogue } = context;
    if (stateLoss !== undefined) reportLoss(stateLoss, log);
    webhooks.reconfigured();
    adoption.check(adoptedLayers(catalogue()));
    jobs.runner.start();
    schedules.scheduler.start();
    this.#recountInTurns();
    reclaim.sweep();
    this.services.quota.start();
    adoption.start(adoptedLayers(catalogue()));
  }

  #recountInTurns(): void {
    const { ledger, closing } = this.#parts.context;
    if (ledger.recountSome(16) && !closing.aborted) setImmediate(() => this.#recountInTurns());
  }

  /** Returns why the coordinator cannot work; undefined: it can. */
  health(): string | undefined {
    return this.#parts.context.state.health();
  }

  /** Records reads of tiles. */
  used(report: UseReport): void {
    const { context, quota } = this.#parts;
    context.ledger.eviction.used(report.cells);
    quota.accesses.add(report, context.now());
  }

  /** Applies a new catalogue after a reload. Returns the number of jobs that were aborted, as their layers are gone. */
  async layersChanged(): Promise<number> {
    const { context, jobs, adoption, webhooks } = this.#parts;
    webhooks.reconfigured();
    const aborted = await jobs.runner.endings.layersChanged();
    this.services.quota.layersChanged();
    adoption.start(adoptedLayers(context.catalogue()));
    return aborted;
  }

  /** Stops the jobs and all background work. Users' writes are accounted until `close`. */
  async stop(graceMs: number): Promise<void> {
    const { quota, jobs, schedules, adoption, reclaim } = this.#parts;
    await schedules.scheduler.close();
    await quota.enforcer.close();
    await adoption.close();
    await this.services.usage.cancelVerification();
    reclaim.stop();
    this.#closing.abort();
    await jobs.runner.close(graceMs);
    await reclaim.ended();
  }

  /** Writes all remaining state. Called after `stop` and after the last write. */
  close(): Promise<void> {
    return this.#parts.periodicWork.close();
  }
}

function reportLoss(stateLoss: NonNullable<CoordinatorParts["stateLoss"]>, log: Logger): void {
  log.error(
    "the state of the last server is not all there: jobs, schedules, truncations to undo, and a quota put over HTTP are lost, or are as they were some time ago; all tiles are counted again",
    { ...stateLoss },
  );
}

/**
 * Builds a coordinator, and completes the unfinished work of the last process.
 * @throws Error when the database cannot be read or written
 */
export function buildCoordinator(parts: CoordinatorParts): Coordinator {
  const closing = new AbortController();
  const { db, store, gate, log, now } = parts;
  const ledger = buildLedger(parts);
  const clock = new ClockRecord(db, now);
  const state = new StateWriter({ db, ledger, log });
  const context: BuildContext = { ...parts, ledger, state, closing: closing.signal };
  // First of all: no truncated tile may be counted or served.
  const ledgerTruncations = new LedgerTruncations(db, store, ledger, gate);
  const reclaim = new Reclaim({ ledger, store, gate, log });
  const quota = buildQuota(context);
  const adoption = buildAdoption(context);
  const { enforcer } = quota;
  const { truncations, records } = buildTruncations(context, { ledgerTruncations, reclaim, adoption, enforcer });
  const webhooks = buildWebhooks(context);
  const jobs = buildJobs(context, { quota, truncations, ledgerTruncations, reclaim, adoption, clock, webhooks });
  enforcer.attach({
    seedRanges: () => jobs.runner.active.seedRanges(),
    giveUpTruncated: (layer) => truncations.giveUp(layer),
    isReclaiming: () => reclaim.isSweeping,
  });
  const { services, schedules } = buildServices(context, { ...jobs, quota, truncations, adoption, webhooks });
  const periodicWork = new PeriodicWork({
    ...context,
    clock,
    adoption,
    records: jobs.runner.records,
    history: jobs.history,
    truncations,
    truncationRecords: records,
    accesses: quota.accesses,
    trend: quota.trend,
    webhooks,
  });
  periodicWork.start();
  const lifecycle = { context, quota, jobs, schedules, adoption, reclaim, webhooks, periodicWork };
  return new Coordinator(lifecycle, closing, services, buildUserWrites(context, quota));
}
