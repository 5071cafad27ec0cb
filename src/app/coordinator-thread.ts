import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { UseReport } from "../cache/use-recorder.ts";
import type { Configuration } from "../config/configuration.ts";
import { Coordinator } from "../coordinator/coordinator.ts";
import type { Operations } from "../coordinator/operations.ts";
import { type Catalogue, catalogueOf } from "../layer/catalogue.ts";
import { Channel } from "../lib/channel.ts";
import { collectGarbage } from "../lib/collect-garbage.ts";
import { codeOf } from "../lib/error-code.ts";
import type { Logger } from "../lib/logger.ts";
import type { JobEvent } from "../plan/job-request.ts";
import type { Reserve } from "../render/admission.ts";
import type { RenderGate } from "../render/render-order.ts";
import type { LedgerAccess } from "../render/renders.ts";
import { StateError } from "../state/data-directory.ts";
import type { Database } from "../state/database.ts";
import { createFileTileStore } from "../store/file/file-tile-store.ts";
import type { TileStore } from "../store/tile-store.ts";
import { MassTruncationStore } from "../truncation/mass-truncation-store.ts";
import { LedgerTruncations } from "../truncation/truncations.ts";
import { type ClaimedState, claimState } from "./claimed-state.ts";
import type { BeginOutcome } from "./readiness-watch.ts";

export interface CoordinatorData {
  readonly configuration: Configuration;
  readonly storeRoot: string;
  readonly instance: string;
}

export type StartRefusal = Extract<BeginOutcome, { kind: "refused" }>;

/** Methods of the coordinator: the operations of the protocols, the server's side of a render, and start and close. */
export interface CoordinatorMethods extends Operations, LedgerAccess {
  /** Locks the data directory and opens the database. Returns the refusal if that is not possible. */
  claim(): StartRefusal | undefined;
  /** Completes the unfinished work of the last process and reads its state. To be called again after a full disk. */
  begin(): BeginOutcome;
  /** Returns by layer the time before which tiles were truncated softly. */
  softTimes(): ReadonlyMap<string, number>;
  /** Starts the jobs, after the protocols have been opened. */
  start(): void;
  /** Reports the tiles that were read since the previous report. */
  used(report: UseReport): void;
  health(): Promise<string | undefined>;
  /** Enlarges a reservation for a renderer. */
  readonly reserve: Reserve;
  /** Collects garbage, as the last renderer has ended after a time without work. */
  rest(): void;
  configure(configuration: Configuration): Promise<void>;
  /** Stops the jobs. Tiles that are still written for users are accounted for. */
  stop(graceMs: number): Promise<void>;
  /** Saves the ledger and releases the database and the lock. The last call, made when no renderer writes any more. */
  close(): Promise<void>;
}

/** Methods of the server that the coordinator calls. */
export interface ServerMethods extends RenderGate {
  jobEvent(event: JobEvent): void;
  log(level: keyof Logger, sentence: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Returns Linux's id of this boot. Without an id every start counts as a reboot. */
function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

function refusalOf(error: unknown): StartRefusal {
  const message = error instanceof Error ? error.message : String(error);
  const isConfiguration = error instanceof StateError && error.code === "newer_version";
  return { kind: "refused", message, isConfiguration };
}

function markBegun(claimed: ClaimedState, log: Logger): void {
  try {
    claimed.begun();
  } catch (error) {
    // For example, a full disk without a mark yet.
    log.warn("the data directory cannot be marked as in use: a loss of the state may go unnoticed", {
      error: String(error),
    });
  }
}

/** Returns whether stored tiles can be served although the state cannot be written. */
function canServe(db: Database, store: TileStore): boolean {
  try {
    LedgerTruncations.hideUnfinished(db, store);
    new MassTruncationStore(db).softTimes();
    return true;
  } catch {
    // For example, a database without the tables of this version. The caller reports why the coordinator cannot begin.
    return false;
  }
}

function startCoordinator(port: NonNullable<typeof parentPort>, data: CoordinatorData): void {
  let { configuration } = data;
  let catalogue: Catalogue = catalogueOf(configuration.layers);
  let claimed: ClaimedState | undefined;
  let opened: Coordinator | undefined;
  /** The error of the last attempt to begin. */
  let notBegun: unknown;

  const coordinator = (): Coordinator => {
    if (opened === undefined) throw notBegun ?? new Error("the coordinator has not begun");
    return opened;
  };
  const log: Logger = {
    info: (sentence, fields) => channel.note("log", ["info", sentence, fields ?? {}]),
    warn: (sentence, fields) => channel.note("log", ["warn", sentence, fields ?? {}]),
    error: (sentence, fields) => channel.note("log", ["error", sentence, fields ?? {}]),
  };
  const gate: RenderGate = {
    render: (order, signal) => channel.callUntil(signal, "render", order),
    renderBatch: (orders, signal) => channel.callUntil(signal, "renderBatch", orders),
    pause: (layer) => channel.call("pause", layer),
    resume: (layer) => channel.note("resume", [layer]),
    renew: (layer) => channel.note("renew", [layer]),
    overtake: (layer) => channel.call("overtake", layer),
    endRuns: () => channel.call("endRuns"),
    truncated: (layer) => channel.note("truncated", [layer]),
    forget: (layer) => channel.call("forget", layer),
    async sweep(signal) {
      if (!signal.aborted) await channel.callUntil(signal, "sweep");
    },
    expireBefore: (layer, beforeMs) => channel.note("expireBefore", [layer, beforeMs]),
    evicted: (tileSet, rect) => channel.note("evicted", [tileSet, rect]),
  };

  const methods: CoordinatorMethods = {
    claim() {
      try {
        claimed = claimState(configuration.dataDir, data.storeRoot);
        return undefined;
      } catch (error) {
        return refusalOf(error);
      }
    },
    begin() {
      if (claimed === undefined) throw new Error("the data directory has not been claimed");
      const { db, loss } = claimed;
      const { fsync } = configuration.store;
      const store = createFileTileStore({ root: data.storeRoot, fsync, instance: data.instance });
      try {
        opened = new Coordinator({
          db,
          store,
          gate,
          catalogue: () => catalogue,
          jobOptions: () => configuration.jobs,
          initialQuota: () => configuration.diskQuota,
          eviction: () => configuration.eviction,
          undoSeconds: () => configuration.store.undoSeconds,
          sharedStore: () => configuration.store.shared,
          webhooks: () => configuration.webhooks,
          boot: bootId(),
          stateLoss: loss,
          now: Date.now,
          monotonicNow: () => performance.timeOrigin + performance.now(),
          random: Math.random,
          tell: (event) => channel.note("jobEvent", [event]),
          log,
        });
        markBegun(claimed, log);
        return { kind: "begun" };
      } catch (error) {
        if (codeOf(error) !== "SQLITE_FULL") return refusalOf(error);
        notBegun = error;
        const reason = `the disk of the data directory is full, the state cannot be read: ${String(error)}`;
        return { kind: "waiting", reason, serves: canServe(db, store) };
      }
    },
    softTimes: () => {
      if (opened !== undefined) return opened.truncations.softTimes;
      return claimed === undefined ? new Map() : new MassTruncationStore(claimed.db).softTimes();
    },
    start: () => coordinator().start(),
    used: (report) => opened?.used(report),
    health: async () => opened?.health() ?? (await claimed?.trouble()),
    rest: collectGarbage,
    async configure(next) {
      configuration = next;
      catalogue = catalogueOf(next.layers);
      await opened?.layersChanged();
    },
    async stop(graceMs) {
      await opened?.stop(graceMs);
    },
    async close() {
      await opened?.close();
      claimed?.release();
    },
    rows: (layer) => coordinator().rows(layer),
    submit: (request, origin) => coordinator().submit(request, origin),
    submitAll: (planned, origin) => coordinator().submitAll(planned, origin),
    keyed: (by, key) => coordinator().keyed(by, key),
    kill: (scope, layer, by) => coordinator().kill(scope, layer, by),
    killTask: (layer, taskId, by) => coordinator().killTask(layer, taskId, by),
    cancel: (id, by) => coordinator().cancel(id, by),
    pause: (id, by) => coordinator().pause(id, by),
    unpause: (id) => coordinator().unpause(id),
    change: (id, terms) => coordinator().change(id, terms),
    retry: (id, origin) => coordinator().retry(id, origin),
    forget: (id) => coordinator().forget(id),
    schedules: () => coordinator().schedules.schedules(),
    schedule: (name) => coordinator().schedules.schedule(name),
    addSchedule: (name, plan, by) => coordinator().schedules.addSchedule(name, plan, by),
    putSchedule: (name, plan, by) => coordinator().schedules.putSchedule(name, plan, by),
    removeSchedule: (name) => coordinator().schedules.removeSchedule(name),
    pauseSchedule: (name) => coordinator().schedules.pauseSchedule(name),
    resumeSchedule: (name) => coordinator().schedules.resumeSchedule(name),
    runSchedule: (name, by) => coordinator().schedules.runSchedule(name, by),
    truncate: (request, by) => coordinator().truncations.truncate(request, by),
    truncations: (filter) => coordinator().truncations.truncations(filter),
    truncation: (id) => coordinator().truncations.truncation(id),
    undoTruncation: (id, by) => coordinator().truncations.undoTruncation(id, by),
    reclaimTruncation: (id, by) => coordinator().truncations.reclaimTruncation(id, by),
    jobs: (filter) => coordinator().jobs(filter),
    job: (id) => coordinator().job(id),
    estimate: (request, signal) => coordinator().estimates.estimate(request, signal),
    estimateAll: (requests, signal) => coordinator().estimates.estimateAll(requests, signal),
    failedTiles: (id, after, limit) => coordinator().failedTiles(id, after, limit),
    jobMetrics: () => coordinator().jobMetrics(),
    usage: (options) => coordinator().usage.usage(options),
    verify: (options) => coordinator().usage.verify(options),
    simulate: (choices) => coordinator().usage.simulate(choices),
    verification: () => coordinator().usage.verification(),
    cancelVerification: () => coordinator().usage.cancelVerification(),
    quota: () => coordinator().quota(),
    changeQuota: (change) => coordinator().changeQuota(change),
    // Before the coordinator has begun, tiles are rendered and served but not stored.
    open: async (order, missed) => opened?.userWrites.open(order, missed),
    closeCells: (id) => opened?.userWrites.close(id),
    reserve: async (id, more) => (await opened?.userWrites.reserve(id, more)) ?? false,
    wrote: (tileSet, tiles, reservation) => opened?.userWrites.wrote(tileSet, tiles, reservation),
    lost: (tileSet, rect) => opened?.userWrites.lost(tileSet, rect),
    notStored: (layer, reason, who) => opened?.userWrites.notStored(layer, reason, who),
  };
  const channel = new Channel<CoordinatorMethods, ServerMethods>(port, methods, (method, error) => {
    opened?.noteFailed();
    log.error("the coordinator could not do what the server has reported or ordered", { method, error: String(error) });
  });
}

if (parentPort !== null) startCoordinator(parentPort, workerData);
