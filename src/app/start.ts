import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Worker } from "node:worker_threads";
import type { Configuration } from "../config/configuration.ts";
import type { RunningConfiguration } from "../config/load.ts";
import type { ConfigurationProblem } from "../config/problem.ts";
import { Channel, localMethods, remoteMethods } from "../lib/channel.ts";
import { collectGarbage } from "../lib/collect-garbage.ts";
import { elapsedMs } from "../lib/elapsed.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import { RenderThrottle } from "../render/render-throttle.ts";
import { Renders } from "../render/renders.ts";
import { UpstreamLimits } from "../render/upstream-limits.ts";
import { UpstreamMeter } from "../render/upstream-meter.ts";
import { createFileTileStore } from "../store/file/file-tile-store.ts";
import { closeInOrder } from "./close-order.ts";
import { namesCollector } from "./collector.ts";
import type { CoordinatorData } from "./coordinator-thread.ts";
import { ServingPool } from "./http-worker-pool.ts";
import { createLogger } from "./logger.ts";
import {
  type CoordinatorMethods,
  LEDGER_ACCESS,
  RENDER_GATE,
  type ServerMethods,
  type StartRefusal,
} from "./process-methods.ts";
import { ReadinessWatch } from "./readiness-watch.ts";
import { Reloads } from "./reloads.ts";
import { RendererPool } from "./renderer-pool.ts";
import { type Core, Serving } from "./serving.ts";

export interface RunningServer {
  /** Such as `http://127.0.0.1:8080/`. */
  readonly address: string;
  readonly configuration: () => Configuration;
  close(): Promise<void>;
  reload(): Promise<Result<readonly string[], Refusal>>;
}

/** The server cannot start. The operator sees the message unchanged. */
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

/** For this time after a read, users count as reading tiles. */
const ACTIVE_MS = 2_000;
/**
 * The processors that jobs leave free while users read tiles: one for the server, and enough for other programs that on
 * two cores a hit takes no longer beside a seed than without one (`npm run bench live-users`).
 */
const CORES_LEFT = 1 + 2 / 3;
/** The least share of one processor for jobs, so that they progress on any machine. */
const LEAST_SHARE = 0.25;
/** Tiles in flight at a shutdown are finished within this time. */
const GRACE_MS = 25_000;

/**
 * Builds one running server: coordinator, renderers, server, protocols, in this order. They are closed in reverse.
 * @throws StartError
 */
export async function startServer(configuration: Configuration, load: LoadConfiguration): Promise<RunningServer> {
  const log = createLogger();
  const storeRoot = join(configuration.dataDir, "tiles");
  mkdirSync(storeRoot, { recursive: true });
  const instance = randomUUID();
  const telemetry = namesCollector(process.env) ? (await import("./telemetry.ts")).startTelemetry() : undefined;

  let current = configuration;
  for (const warning of configuration.warnings) log.warn(warning);

  const coordinatorData: CoordinatorData = { configuration, storeRoot, instance };
  const coordinatorWorker = new Worker(new URL("./coordinator-thread.js", import.meta.url), {
    workerData: coordinatorData,
  });
  const serverMethods: ServerMethods = {
    ...localMethods(() => renders, RENDER_GATE),
    jobEvent: (event) => {
      serving.publish(event);
      telemetry?.told(event);
    },
    log: (level, sentence, fields) => log[level](sentence, fields),
  };
  const coordinator = new Channel<ServerMethods, CoordinatorMethods>(coordinatorWorker, serverMethods);
  let closing = false;
  coordinatorWorker.on("error", (error) =>
    log.error("the coordinator failed", { error: String(error), stack: error.stack }),
  );
  const coordinatorEnded = new Promise<void>((resolve) => {
    coordinatorWorker.on("exit", () => {
      coordinator.close(new Error("the coordinator has ended"));
      if (!closing) {
        log.error("the coordinator has ended; the server cannot go on");
        process.exitCode = 1;
        setTimeout(() => process.exit(1), 100);
      }
      resolve();
    });
  });

  let lastUseMs = Number.NEGATIVE_INFINITY;
  const usersActive = (): boolean => elapsedMs() - lastUseMs < ACTIVE_MS;
  const cores = availableParallelism();
  const renderers = new RendererPool({
    data: {
      layers: configuration.layers,
      storeRoot,
      fsync: configuration.store.fsync,
      instance,
      parentPid: process.pid,
    },
    max: Math.max(1, Math.min(cores, 16)),
    usersActive,
    // A renderer that asks while the coordinator ends must not store anything more.
    reserve: (id, more) => coordinator.call("reserve", id, more).catch(() => false),
    atRest: () => {
      if (closing) return;
      coordinator.note("rest", []);
      // Collecting garbage would delay a hit.
      if (!usersActive()) collectGarbage();
    },
    log,
  });
  const pace = new RenderThrottle({
    share: Math.max(LEAST_SHARE, cores - CORES_LEFT),
    usersActive,
    now: elapsedMs,
  });
  const upstreamLimits = new UpstreamLimits();
  const meter = new UpstreamMeter();
  const renders = new Renders({
    renderers,
    ledger: remoteMethods(coordinator, LEDGER_ACCESS),
    memory: {
      clear: (layer) => serving.clear(layer),
      forget: (keys) => serving.forget(keys),
      expireBefore: (layer, beforeMs) => serving.expireBefore(layer, beforeMs),
    },
    upstreamLimits,
    meter,
    pace,
    now: Date.now,
  });
  renders.configure(configuration.layers);

  const refuseStart = async ({ message, isConfiguration }: StartRefusal): Promise<never> => {
    closing = true;
    await coordinatorWorker.terminate();
    throw new StartError(message, isConfiguration);
  };
  const unclaimed = await coordinator.call("claim");
  if (unclaimed !== undefined) return refuseStart(unclaimed);

  const watch = new ReadinessWatch({
    begin: () => coordinator.call("begin"),
    async began({ kind }) {
      for (const [layer, beforeMs] of await coordinator.call("softTimes")) renders.expireBefore(layer, beforeMs);
      if (kind === "begun") coordinator.note("start", []);
    },
    health: () => coordinator.call("health"),
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
      renders.configure(next.layers);
      renderers.configure(next.layers);
      await serving.configure(current);
      await coordinator.call("configure", current);
      return ignored;
    },
    log,
  });

  const core: Core = {
    operations: coordinator,
    renders: telemetry?.traced(renders) ?? renders,
    compose: (composition, gone) => renderers.compose(composition, gone),
    used(report) {
      lastUseMs = elapsedMs();
      coordinator.note("used", [report]);
    },
    metrics: async () => ({
      ...(await serving.metrics()),
      upstreams: upstreamLimits.states(),
      servers: upstreamLimits.servers().map((one) => ({ ...one, isUp: !renderers.isDown(one.server) })),
      measures: meter.measures(),
      spacedRenders: pace.waiting,
      oneColourTiles: renders.oneColourTiles,
      renderersHung: renderers.hung,
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
          store: createFileTileStore({ root: storeRoot, fsync: configuration.store.fsync, instance }),
          core,
          log,
        });
  const { port } = await serving.listen(configuration.server.host, configuration.server.port);
  const { host } = configuration.server;
  const address = `http://${host.includes(":") ? `[${host}]` : host}:${port}/`;
  log.info("listening", { address, layers: configuration.layers.length, dataDir: configuration.dataDir });
  // Completing the work of the last process may take long. Health probes are answered meanwhile.
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
        log.error("the coordinator cannot be closed in order", { error: String(error) });
      await closeInOrder(
        {
          stopJobs: (graceMs) => coordinator.call("stop", graceMs).catch(notClosed),
          stopServing: (graceMs) => serving.close(graceMs),
          cancelUnanswered: () => renders.cancelUnanswered(),
          cancelAll: () => renders.cancelAll(),
          rendersEnded: () => renders.idle(),
          closeRenderers: () => renderers.close(),
          releaseState: () => coordinator.call("close").catch(notClosed),
        },
        GRACE_MS,
      );
      await coordinatorWorker.terminate();
      await coordinatorEnded;
      await telemetry?.close();
      log.info("closed");
    },
  };
}
