import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { Reserve } from "../cache/admission.ts";
import type { DrawGate } from "../cache/draw.ts";
import type { LedgerGate } from "../cache/draws.ts";
import type { UseReport } from "../cache/use-recorder.ts";
import type { Configuration } from "../config/configuration.ts";
import type { JobEvent } from "../jobs/job.ts";
import { Keeper } from "../jobs/keeper.ts";
import type { Operations } from "../jobs/operations.ts";
import { type Catalogue, catalogueOf } from "../layer/catalogue.ts";
import { Channel } from "../lib/channel.ts";
import { collectGarbage } from "../lib/collect-garbage.ts";
import type { Logger } from "../lib/logger.ts";
import { lockDataDirectory, StateError, secureDataDirectory } from "../state/data-directory.ts";
import { openDatabase } from "../state/database.ts";
import { DiskReserve } from "../state/disk-reserve.ts";
import { createFileBlobStore } from "../store/file-blob-store.ts";

export interface KeeperData {
  readonly configuration: Configuration;
  readonly storeRoot: string;
  readonly instance: string;
}

export interface StartRefusal {
  readonly message: string;
  /** Another try will not help: somebody has to change what is started, or on what. */
  readonly isConfiguration: boolean;
}

/** What the keeper can be asked: everything the doors may, the front's side of a draw, and its life. */
export interface KeeperMethods extends Operations, LedgerGate {
  /** Opens the database. Undefined: ready; else why it cannot start. */
  begin(): Promise<StartRefusal | undefined>;
  /** By layer: what was written before has been truncated softly. */
  softTimes(): ReadonlyMap<string, number>;
  /** The doors are open: jobs go on. */
  start(): void;
  /** Tiles were read since the last time. */
  used(report: UseReport): void;
  health(): string | undefined;
  /** As a renderer asks for it. */
  readonly reserve: Reserve;
  /** There has been nothing to draw for a while. */
  rest(): void;
  configure(configuration: Configuration): Promise<void>;
  /** Jobs stop; what is still written for users is accounted. */
  stop(graceMs: number): Promise<void>;
  /** The last call: nothing is written any more. Writes what is known and releases the database and the lock. */
  close(): Promise<void>;
}

/** What the keeper asks of the front. */
export interface FrontMethods extends DrawGate {
  jobEvent(event: JobEvent): void;
  log(level: keyof Logger, sentence: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Linux gives each boot an id; without one every start is taken for a reboot. */
function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

function startKeeper(port: NonNullable<typeof parentPort>, data: KeeperData): void {
  let { configuration } = data;
  let catalogue: Catalogue = catalogueOf(configuration.layers);
  let release = () => {};
  let opened: Keeper | undefined;
  let reserve: DiskReserve | undefined;

  const keeper = (): Keeper => {
    if (opened === undefined) throw new Error("the keeper has not begun");
    return opened;
  };
  const log: Logger = {
    info: (sentence, fields) => channel.note("log", ["info", sentence, fields ?? {}]),
    warn: (sentence, fields) => channel.note("log", ["warn", sentence, fields ?? {}]),
    error: (sentence, fields) => channel.note("log", ["error", sentence, fields ?? {}]),
  };
  const gate: DrawGate = {
    draw: (order, signal) => channel.callUntil(signal, "draw", order),
    drawRun: (orders, signal) => channel.callUntil(signal, "drawRun", orders),
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

  const methods: KeeperMethods = {
    async begin() {
      const { dataDir, store } = configuration;
      try {
        secureDataDirectory(dataDir);
        const lock = lockDataDirectory(dataDir, join(dataDir, "lock.db"));
        reserve = new DiskReserve(join(dataDir, "reserve"));
        const db = openDatabase(join(dataDir, "state.db"), { access: "exclusive", reserve });
        const blobs = createFileBlobStore({ root: data.storeRoot, fsync: store.fsync, instance: data.instance });
        opened = new Keeper({
          db,
          store: blobs,
          gate,
          catalogue: () => catalogue,
          jobOptions: () => configuration.jobs,
          initialQuota: () => configuration.diskQuota,
          eviction: () => configuration.eviction,
          undoSeconds: () => configuration.store.undoSeconds,
          sharedStore: () => configuration.store.shared,
          webhooks: () => configuration.webhooks,
          boot: bootId(),
          now: Date.now,
          monotonicNow: () => performance.timeOrigin + performance.now(),
          random: Math.random,
          tell: (event) => channel.note("jobEvent", [event]),
          log,
        });
        release = () => {
          db.close();
          lock.release();
        };
        return undefined;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { message, isConfiguration: error instanceof StateError && error.code === "newer_version" };
      }
    },
    softTimes: () => keeper().truncations.softTimes,
    start: () => keeper().start(),
    used: (report) => keeper().used(report),
    health() {
      reserve?.look();
      return opened?.health() ?? reserve?.shortage;
    },
    rest: collectGarbage,
    async configure(next) {
      configuration = next;
      catalogue = catalogueOf(next.layers);
      await keeper().layersChanged();
    },
    stop: (graceMs) => keeper().stop(graceMs),
    async close() {
      await opened?.close();
      release();
    },
    rows: (layer) => keeper().rows(layer),
    submit: (request, origin) => keeper().submit(request, origin),
    submitAll: (planned, origin) => keeper().submitAll(planned, origin),
    keyed: (by, key) => keeper().keyed(by, key),
    kill: (scope, layer, by) => keeper().kill(scope, layer, by),
    killTask: (layer, taskId, by) => keeper().killTask(layer, taskId, by),
    cancel: (id, by) => keeper().cancel(id, by),
    pause: (id, by) => keeper().pause(id, by),
    unpause: (id) => keeper().unpause(id),
    change: (id, terms) => keeper().change(id, terms),
    retry: (id, origin) => keeper().retry(id, origin),
    forget: (id) => keeper().forget(id),
    schedules: () => keeper().schedules.schedules(),
    schedule: (name) => keeper().schedules.schedule(name),
    addSchedule: (name, plan, by) => keeper().schedules.addSchedule(name, plan, by),
    putSchedule: (name, plan, by) => keeper().schedules.putSchedule(name, plan, by),
    removeSchedule: (name) => keeper().schedules.removeSchedule(name),
    pauseSchedule: (name) => keeper().schedules.pauseSchedule(name),
    resumeSchedule: (name) => keeper().schedules.resumeSchedule(name),
    runSchedule: (name, by) => keeper().schedules.runSchedule(name, by),
    truncate: (request, by) => keeper().truncations.truncate(request, by),
    truncations: (filter) => keeper().truncations.truncations(filter),
    truncation: (id) => keeper().truncations.truncation(id),
    undoTruncation: (id, by) => keeper().truncations.undoTruncation(id, by),
    reclaimTruncation: (id, by) => keeper().truncations.reclaimTruncation(id, by),
    jobs: (filter) => keeper().jobs(filter),
    job: (id) => keeper().job(id),
    estimate: (request, signal) => keeper().estimates.estimate(request, signal),
    estimateAll: (requests, signal) => keeper().estimates.estimateAll(requests, signal),
    failedTiles: (id, after, limit) => keeper().failedTiles(id, after, limit),
    jobMetrics: () => keeper().jobMetrics(),
    usage: (options) => keeper().usage.usage(options),
    verify: (options) => keeper().usage.verify(options),
    simulate: (choices) => keeper().usage.simulate(choices),
    verification: () => keeper().usage.verification(),
    cancelVerification: () => keeper().usage.cancelVerification(),
    quota: () => keeper().quota(),
    changeQuota: (change) => keeper().changeQuota(change),
    open: (order, missed) => keeper().userWrites.open(order, missed),
    closeCells: (id) => keeper().userWrites.close(id),
    reserve: (id, more) => keeper().userWrites.reserve(id, more),
    wrote: (tileSet, tiles, reservation) => keeper().userWrites.wrote(tileSet, tiles, reservation),
    lost: (tileSet, rect) => keeper().userWrites.lost(tileSet, rect),
    notStored: (layer, reason, who) => keeper().userWrites.notStored(layer, reason, who),
  };
  const channel = new Channel<KeeperMethods, FrontMethods>(port, methods, (method, error) => {
    opened?.noteFailed();
    log.error("the coordinator could not do what the server has reported or ordered", { method, error: String(error) });
  });
}

if (parentPort !== null) startKeeper(parentPort, workerData);
