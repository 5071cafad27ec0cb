import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Worker } from "node:worker_threads";
import { DrawPace } from "../cache/draw-pace.ts";
import { Draws, type LedgerGate } from "../cache/draws.ts";
import { Governors } from "../cache/governors.ts";
import { UpstreamMeter } from "../cache/upstream-meter.ts";
import type { Configuration } from "../config/configuration.ts";
import type { RunningConfiguration } from "../config/load.ts";
import type { ConfigurationProblem } from "../config/problem.ts";
import { type Catalogue, catalogueOf } from "../layer/catalogue.ts";
import { Channel } from "../lib/channel.ts";
import { collectGarbage } from "../lib/collect-garbage.ts";
import { elapsedMs } from "../lib/elapsed.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import { createFileBlobStore } from "../store/file-blob-store.ts";
import { closeInOrder } from "./close-order.ts";
import { namesCollector } from "./collector.ts";
import type { FrontMethods, KeeperData, KeeperMethods, StartRefusal } from "./keeper-thread.ts";
import { createLogger } from "./logger.ts";
import { PainterPool } from "./painter-pool.ts";
import { ReadinessWatch } from "./readiness-watch.ts";
import { Reloads } from "./reloads.ts";
import { type Core, Serving } from "./serving.ts";
import { ServingPool } from "./serving-pool.ts";

export interface RunningServer {
  /** Such as `http://127.0.0.1:8080/`. */
  readonly address: string;
  readonly configuration: () => Configuration;
  close(): Promise<void>;
  reload(): Promise<Result<readonly string[], Refusal>>;
}

/** The server cannot start: told to the operator as it is. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly isConfiguration: boolean;
  constructor(message: string, isConfiguration: boolean) {
    super(message);
    this.isConfiguration = isConfiguration;
  }
}

/** Loads the configuration that is to replace the one of the running server. */
export type LoadConfiguration = (
  running: RunningConfiguration,
) => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;

/** After a read users are taken for reading on for this long. */
const ACTIVE_MS = 2_000;
/**
 * What jobs leave of the processors while users read: one for the server, and so much for whatever else there is that on
 * two cores a hit takes no longer beside a seed than without (`npm run bench live-users`).
 */
const CORES_LEFT = 1 + 2 / 3;
/** Of one processor, however few there are: a job goes on. */
const LEAST_SHARE = 0.25;
/** Tiles in flight at a shutdown are finished within this time (decisions 9). */
const GRACE_MS = 25_000;

/**
 * Builds one running server: keeper, painters, front, doors, in this order; closed in reverse.
 * @throws StartError
 */
export async function startServer(configuration: Configuration, load: LoadConfiguration): Promise<RunningServer> {
  const log = createLogger();
  const storeRoot = join(configuration.dataDir, "tiles");
  mkdirSync(storeRoot, { recursive: true });
  const instance = randomUUID();
  const telemetry = namesCollector(process.env) ? (await import("./telemetry.ts")).startTelemetry() : undefined;

  let current = configuration;
  let catalogue: Catalogue = catalogueOf(configuration.layers);
  for (const warning of configuration.warnings) log.warn(warning);

  const keeperData: KeeperData = { configuration, storeRoot, instance };
  const keeperWorker = new Worker(new URL("./keeper-thread.js", import.meta.url), { workerData: keeperData });
  const frontMethods: FrontMethods = {
    draw: (order, signal) => draws.draw(order, signal),
    drawRun: (orders, signal) => draws.drawRun(orders, signal),
    pause: (layer) => draws.pause(layer),
    resume: (layer) => draws.resume(layer),
    renew: (layer) => draws.renew(layer),
    overtake: (layer) => draws.overtake(layer),
    endRuns: () => draws.endRuns(),
    truncated: (layer) => draws.truncated(layer),
    forget: (layer) => draws.forget(layer),
    sweep: (signal) => draws.sweep(signal),
    expireBefore: (layer, beforeMs) => draws.expireBefore(layer, beforeMs),
    evicted: (tileSet, rect) => draws.evicted(tileSet, rect),
    jobEvent: (event) => {
      serving.publish(event);
      telemetry?.told(event);
    },
    log: (level, sentence, fields) => log[level](sentence, fields),
  };
  const keeper = new Channel<FrontMethods, KeeperMethods>(keeperWorker, frontMethods);
  let closing = false;
  keeperWorker.on("error", (error) => log.error("the keeper failed", { error: String(error), stack: error.stack }));
  const keeperEnded = new Promise<void>((resolve) => {
    keeperWorker.on("exit", () => {
      keeper.close(new Error("the keeper has ended"));
      if (!closing) {
        log.error("the keeper has ended; the server cannot go on");
        process.exitCode = 1;
        setTimeout(() => process.exit(1), 100);
      }
      resolve();
    });
  });

  let lastUseMs = Number.NEGATIVE_INFINITY;
  const usersActive = (): boolean => elapsedMs() - lastUseMs < ACTIVE_MS;
  const ledger: LedgerGate = {
    open: (order, missed) => keeper.call("open", order, missed),
    closeCells: (id) => keeper.note("closeCells", [id]),
    wrote: (tileSet, tiles, reservation) => keeper.note("wrote", [tileSet, tiles, reservation]),
    lost: (tileSet, rect) => keeper.note("lost", [tileSet, rect]),
    notStored: (layer, reason, who) => keeper.note("notStored", [layer, reason, who]),
  };
  const cores = availableParallelism();
  const painters = new PainterPool({
    data: {
      layers: configuration.layers,
      storeRoot,
      fsync: configuration.store.fsync,
      instance,
      parentPid: process.pid,
    },
    max: Math.max(1, Math.min(cores, 16)),
    usersActive,
    // A renderer that asks while the coordinator ends stores nothing more.
    reserve: (id, more) => keeper.call("reserve", id, more).catch(() => false),
    atRest: () => {
      if (closing) return;
      keeper.note("rest", []);
      // A hit would have to wait.
      if (!usersActive()) collectGarbage();
    },
    log,
  });
  const pace = new DrawPace({
    share: Math.max(LEAST_SHARE, cores - CORES_LEFT),
    usersActive,
    now: elapsedMs,
  });
  const governors = new Governors();
  const meter = new UpstreamMeter();
  const draws = new Draws({
    painters,
    ledger,
    memory: {
      clear: (layer) => serving.clear(layer),
      forget: (keys) => serving.forget(keys),
      expireBefore: (layer, beforeMs) => serving.expireBefore(layer, beforeMs),
    },
    governors,
    meter,
    pace,
    layer: (name) => catalogue.layers.get(name),
    now: Date.now,
  });
  draws.configure(configuration.layers);

  const refuseStart = async ({ message, isConfiguration }: StartRefusal): Promise<never> => {
    closing = true;
    await keeperWorker.terminate();
    throw new StartError(message, isConfiguration);
  };
  const unclaimed = await keeper.call("claim");
  if (unclaimed !== undefined) return refuseStart(unclaimed);

  const watch = new ReadinessWatch({
    begin: () => keeper.call("begin"),
    async began({ kind }) {
      for (const [layer, beforeMs] of await keeper.call("softTimes")) draws.expireBefore(layer, beforeMs);
      if (kind === "begun") keeper.note("start", []);
    },
    health: () => keeper.call("health"),
    tell(readiness) {
      if (!readiness.ready && !closing) log.warn("the server is not ready", { reason: readiness.reason });
      return serving.ready(readiness);
    },
  });

  const reloads = new Reloads({
    load: () => load({ users: current.users.length, layers: current.layers.length }),
    async apply(next) {
      const { host, port, workers, memoryTierBytes } = current.server;
      const server = { ...next.server, host, port, workers, memoryTierBytes };
      const ignored = [
        ...(["dataDir", "store"] as const).filter((key) => !isDeepStrictEqual(next[key], current[key])),
        ...(["host", "port", "workers", "memoryTierBytes"] as const)
          .filter((key) => next.server[key] !== server[key])
          .map((key) => `server.${key === "memoryTierBytes" ? "memoryTierMiB" : key}`),
      ];
      current = { ...next, server, dataDir: current.dataDir, store: current.store };
      catalogue = catalogueOf(next.layers);
      draws.configure(next.layers);
      painters.configure(next.layers);
      await serving.configure(current);
      await keeper.call("configure", current);
      return ignored;
    },
    log,
  });

  const core: Core = {
    operations: keeper,
    draws: telemetry?.traced(draws) ?? draws,
    compose: (composition, gone) => painters.compose(composition, gone),
    used(report) {
      lastUseMs = elapsedMs();
      keeper.note("used", [report]);
    },
    metrics: async () => ({
      ...(await serving.metrics()),
      upstreams: governors.states(),
      servers: governors.servers().map((one) => ({ ...one, isUp: !painters.isDown(one.server) })),
      measures: meter.measures(),
      spacedDraws: pace.waiting,
      uniformTiles: draws.uniformTiles,
      paintersHung: painters.hung,
    }),
    reload: () => reloads.reload(),
  };
  const { workers, memoryTierBytes } = configuration.server;
  const serving =
    workers > 1
      ? new ServingPool({ data: { configuration, memoryTierBytes, storeRoot, instance }, workers, core, log })
      : new Serving({
          configuration,
          memoryTierBytes,
          eventsId: instance,
          store: createFileBlobStore({ root: storeRoot, fsync: configuration.store.fsync, instance }),
          core,
          log,
        });
  const { port } = await serving.listen(configuration.server.host, configuration.server.port);
  const { host } = configuration.server;
  const address = `http://${host.includes(":") ? `[${host}]` : host}:${port}/`;
  log.info("listening", { address, layers: configuration.layers.length, dataDir: configuration.dataDir });
  // What the last process left may take long: probes are answered meanwhile.
  const refused = await watch.begin();
  if (refused !== undefined) return refuseStart(refused);

  return {
    address,
    configuration: () => current,
    reload: () => reloads.reload(),
    async close() {
      if (closing) return;
      closing = true;
      watch.close();
      const notClosed = (error: unknown): void =>
        log.error("the keeper cannot be closed in order", { error: String(error) });
      await closeInOrder(
        {
          stopJobs: (graceMs) => keeper.call("stop", graceMs).catch(notClosed),
          stopServing: (graceMs) => serving.close(graceMs),
          cancelUnanswered: () => draws.cancelUnanswered(),
          cancelAll: () => draws.cancelAll(),
          rendersEnded: () => draws.idle(),
          closeRenderers: () => painters.close(),
          releaseState: () => keeper.call("close").catch(notClosed),
        },
        GRACE_MS,
      );
      await keeperWorker.terminate();
      await keeperEnded;
      await telemetry?.close();
      log.info("closed");
    },
  };
}
