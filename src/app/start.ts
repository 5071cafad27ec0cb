import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { pino } from "pino";
import { Draws, type LedgerGate } from "../cache/draws.ts";
import { askFeatureInfo } from "../cache/feature-info.ts";
import { MapRenderer } from "../cache/map-renderer.ts";
import { MemoryTier } from "../cache/memory-tier.ts";
import { TileCache } from "../cache/tile-cache.ts";
import { UseRecorder } from "../cache/use-recorder.ts";
import type { Configuration } from "../config/configuration.ts";
import { type ConfigurationProblem, problemText } from "../config/problem.ts";
import { JobEvents } from "../http/api/job-events.ts";
import { Authenticator } from "../http/auth/credentials.ts";
import { clientAddress } from "../http/request.ts";
import { createHttpServer } from "../http/server.ts";
import { createTileDoors } from "../http/tiles/tile-door.ts";
import type { Operations } from "../jobs/operations.ts";
import { type Catalogue, catalogueOf } from "../layer/catalogue.ts";
import { Channel } from "../lib/channel.ts";
import type { Logger } from "../lib/logger.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { createFileBlobStore } from "../store/file-blob-store.ts";
import type { FrontMethods, KeeperData, KeeperMethods } from "./keeper-thread.ts";
import { PainterPool } from "./painter-pool.ts";

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
}

export type LoadConfiguration = () => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;

/** How often the keeper is told which tiles were read. */
const USE_MS = 250;
/** After a read users are taken for reading on for this long. */
const ACTIVE_MS = 2_000;
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
  const jobEvents = new JobEvents(instance.slice(0, 8));

  let current = configuration;
  let catalogue: Catalogue = catalogueOf(configuration.layers);
  for (const warning of configuration.warnings) log.warn(warning);

  const memory = new MemoryTier(configuration.server.memoryTierBytes);
  const store = createFileBlobStore({ root: storeRoot, fsync: configuration.store.fsync, instance });
  let sweeping: AbortController | undefined;
  const jobDraws = new Map<number, AbortController>();

  const keeperData: KeeperData = { configuration, storeRoot, instance };
  const keeperWorker = new Worker(new URL("./keeper-thread.js", import.meta.url), { workerData: keeperData });
  const frontMethods: FrontMethods = {
    async draw(id, order) {
      const abort = new AbortController();
      jobDraws.set(id, abort);
      try {
        return await draws.draw(order, abort.signal);
      } finally {
        jobDraws.delete(id);
      }
    },
    cancelDraw: (id) => jobDraws.get(id)?.abort(new Error("cancelled")),
    pause: (layer) => draws.pause(layer),
    resume: (layer) => draws.resume(layer),
    forget: (layer) => draws.forget(layer),
    async sweep() {
      sweeping = new AbortController();
      await draws.sweep(sweeping.signal);
    },
    cancelSweep: () => sweeping?.abort(),
    evicted: (tileSet, rect) => draws.evicted(tileSet, rect),
    jobEvent: (event) => jobEvents.publish(event),
    log: (level, sentence, fields) => log[level](sentence, fields),
  };
  const keeper = new Channel<FrontMethods, KeeperMethods>(keeperWorker, frontMethods);
  let keeperLost: string | undefined;
  let closing = false;
  keeperWorker.on("error", (error) => log.error("the keeper failed", { error: String(error), stack: error.stack }));
  const keeperEnded = new Promise<void>((resolve) => {
    keeperWorker.on("exit", () => {
      keeper.close(new Error("the keeper has ended"));
      if (!closing) {
        keeperLost = "the keeper has ended";
        log.error("the keeper has ended; the server cannot go on");
        process.exitCode = 1;
        setTimeout(() => process.exit(1), 100);
      }
      resolve();
    });
  });

  const uses = new UseRecorder(Date.now);
  let lastUseMs = 0;
  const tellUses = (): void => {
    const report = uses.drain();
    if (report === undefined) return;
    lastUseMs = Date.now();
    keeper.note("used", [report]);
  };
  const ledger: LedgerGate = {
    open(tileSet, rect, missed) {
      // First what was read before: room may have to be made for this one.
      tellUses();
      return keeper.call("open", tileSet, rect, missed);
    },
    closeCells: (id) => keeper.note("closeCells", [id]),
    wrote: (tileSet, tiles) => keeper.note("wrote", [tileSet, tiles]),
    lost: (tileSet, rect) => keeper.note("lost", [tileSet, rect]),
  };
  const painters = new PainterPool({
    data: {
      layers: configuration.layers,
      storeRoot,
      fsync: configuration.store.fsync,
      instance,
      parentPid: process.pid,
    },
    max: Math.max(1, Math.min(availableParallelism(), 16)),
    usersActive: () => Date.now() - lastUseMs < ACTIVE_MS,
    log,
  });
  const draws = new Draws({
    painters,
    ledger,
    memory,
    layer: (name) => catalogue.layers.get(name),
    now: Date.now,
  });
  draws.configure(configuration.layers);

  const refused = await keeper.call("begin");
  if (refused !== undefined) {
    closing = true;
    await keeperWorker.terminate();
    throw new StartError(refused);
  }

  const cache = new TileCache({
    store,
    memory,
    draws,
    uses,
    shared: () => current.store.shared,
    now: Date.now,
  });
  const operations = operationsOf(keeper, tellUses);
  const authenticator = new Authenticator(configuration.users);
  let keeperFailure: string | undefined;
  const healthTimer = setInterval(() => {
    keeper.call("health").then(
      (failure) => {
        keeperFailure = failure;
      },
      (error: unknown) => {
        keeperFailure = String(error);
      },
    );
  }, 1_000);
  healthTimer.unref();
  const useTimer = setInterval(tellUses, USE_MS);
  useTimer.unref();

  const reload = async (): Promise<Result<readonly string[], Refusal>> => {
    const loaded = await load();
    if (!loaded.ok) {
      const details = loaded.error.map(problemText);
      log.error("the configuration was not reloaded", { problems: details });
      return refuse({
        code: "bad_configuration",
        message: "The configuration is not valid and was not loaded.",
        details,
      });
    }
    const next = loaded.value;
    const fixed = ["dataDir", "store"] as const;
    const ignored = fixed.filter((key) => JSON.stringify(next[key]) !== JSON.stringify(current[key]));
    if (next.server.host !== current.server.host || next.server.port !== current.server.port)
      log.warn("host and port change at the next start");
    for (const key of ignored) log.warn("this change needs a restart", { key });
    const warnings = [...next.warnings, ...ignored.map((key) => `${key} changes at the next start`)];
    current = { ...next, dataDir: current.dataDir, store: current.store };
    catalogue = catalogueOf(next.layers);
    for (const layer of next.layers) memory.clear(layer.name);
    draws.configure(next.layers);
    painters.configure(next.layers);
    authenticator.setUsers(next.users);
    await keeper.call("configure", current);
    log.info("the configuration has been reloaded", { layers: next.layers.length });
    return ok(warnings);
  };

  const http = createHttpServer({
    server: () => current.server,
    compat: () => current.compat,
    catalogue: () => catalogue,
    jobOptions: () => current.jobs,
    operations,
    jobEvents,
    metrics: () => ({
      tiles: cache.counts,
      memory: { bytes: memory.bytes, limitBytes: memory.limitBytes },
      upstreams: draws.upstreams(),
      measures: draws.meter.measures(),
      listeners: jobEvents.listeners,
    }),
    authenticator,
    tileDoors: createTileDoors({
      catalogue: () => catalogue,
      reader: cache,
      featureInfo: (query) => askFeatureInfo(draws, query),
      maps: new MapRenderer({ tiles: cache, compose: (composition) => painters.compose(composition) }),
      authorised: async (request) => {
        if (!authenticator.usersConfigured()) return true;
        const address = clientAddress(request, current.server);
        const checked = await authenticator.check(request.headers.authorization, address);
        return checked.kind === "user";
      },
    }),
    readiness: () => {
      if (closing) return { ready: false, reason: "shutting down" };
      const why = keeperLost ?? keeperFailure;
      return why === undefined ? { ready: true } : { ready: false, reason: why };
    },
    reload,
    log,
  });
  const { port } = await http.listen(configuration.server.host, configuration.server.port);
  keeper.note("start", []);
  const { host } = configuration.server;
  const address = `http://${host.includes(":") ? `[${host}]` : host}:${port}/`;
  log.info("listening", { address, layers: configuration.layers.length, dataDir: configuration.dataDir });

  return {
    address,
    configuration: () => current,
    reload,
    async close() {
      if (closing) return;
      closing = true;
      const deadline = Date.now() + GRACE_MS;
      const left = () => Math.max(0, deadline - Date.now());
      clearInterval(healthTimer);
      clearInterval(useTimer);
      tellUses();
      // Whoever waits for a job, or listens, is let go: they would hold the server for minutes.
      jobEvents.close();
      // Jobs and users finish what is in flight together.
      const keeperStopped = keeper.call("close", left());
      await http.close(left());
      await Promise.race([keeperStopped, new Promise((resolve) => setTimeout(resolve, left() + 2_000).unref())]);
      draws.cancelAll();
      await draws.idle();
      await painters.close();
      await keeperWorker.terminate();
      await keeperEnded;
      await store[Symbol.asyncDispose]();
      log.info("closed");
    },
  };
}

/** `tellUses`: the keeper is told what was read before it decides what is cold. */
function operationsOf(keeper: Channel<FrontMethods, KeeperMethods>, tellUses: () => void): Operations {
  return {
    rows: (layer) => keeper.call("rows", layer),
    submit(request, origin) {
      tellUses();
      return keeper.call("submit", request, origin);
    },
    keyed: (by, key) => keeper.call("keyed", by, key),
    kill: (scope, layer, by) => keeper.call("kill", scope, layer, by),
    killTask: (layer, taskId, by) => keeper.call("killTask", layer, taskId, by),
    cancel: (id, by) => keeper.call("cancel", id, by),
    pause: (id, by) => keeper.call("pause", id, by),
    unpause: (id) => keeper.call("unpause", id),
    retry(id, origin) {
      tellUses();
      return keeper.call("retry", id, origin);
    },
    forget: (id) => keeper.call("forget", id),
    truncateLayer: (layer) => keeper.call("truncateLayer", layer),
    truncateParameters: (layer, values) => keeper.call("truncateParameters", layer, values),
    truncateOrphans: (layer) => keeper.call("truncateOrphans", layer),
    jobs: (filter) => keeper.call("jobs", filter),
    job: (id) => keeper.call("job", id),
    failedTiles: (id, after, limit) => keeper.call("failedTiles", id, after, limit),
    jobMetrics: () => keeper.call("jobMetrics"),
    usage: (options) => keeper.call("usage", options),
    verify: (options) => keeper.call("verify", options),
    simulate(choices) {
      tellUses();
      return keeper.call("simulate", choices);
    },
    verification: () => keeper.call("verification"),
    cancelVerification: () => keeper.call("cancelVerification"),
    quota: () => keeper.call("quota"),
    changeQuota(change) {
      tellUses();
      return keeper.call("changeQuota", change);
    },
  };
}

/** JSON lines on stderr: stdout belongs to what a person asked for. */
function createLogger(): Logger {
  const level = process.env["NUTHATCH_LOG_LEVEL"] ?? "info";
  const logger = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
  return {
    info: (sentence, fields) => logger.info(fields ?? {}, sentence),
    warn: (sentence, fields) => logger.warn(fields ?? {}, sentence),
    error: (sentence, fields) => logger.error(fields ?? {}, sentence),
  };
}
