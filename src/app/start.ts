import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import type { Configuration } from "../config/configuration.ts";
import { localMethods } from "../lib/channel.ts";
import { fileFault } from "../lib/file-fault.ts";
import type { Logger } from "../lib/logger.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import { loadStoreKinds } from "../store/open-store.ts";
import { DEFAULT_STORE, directoryOf } from "../store/store-options.ts";
import { buildRendering } from "./build-rendering.ts";
import { closeInOrder } from "./close-order.ts";
import { loadDiskTiers, openConfiguredStores } from "./configured-stores.ts";
import { CoordinatorLink } from "./coordinator-link.ts";
import { ServingPool } from "./http-worker-pool.ts";
import { createLogger } from "./logger.ts";
import { SERVING_PROCESSES, type ServingProcesses, type StartRefusal } from "./process-methods.ts";
import { ReadinessWatch } from "./readiness-watch.ts";
import { buildServerSide, type LoadConfiguration } from "./server-side.ts";
import { type Core, Serving } from "./serving.ts";
import { dataDirectoryFault, listenFault } from "./start-faults.ts";
import { TrafficCollector } from "./traffic-collector.ts";

export interface RunningServer {
  /** The address of the server, such as `http://127.0.0.1:8080/`. */
  readonly address: string;
  readonly configuration: () => Configuration;
  close(): Promise<void>;
  reload(): Promise<Result<readonly string[], Refusal>>;
}

/** The server cannot start. The operator sees the message unchanged. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly isConfiguration: boolean;
  constructor(message: string, options: ErrorOptions & { readonly isConfiguration: boolean }) {
    super(message, options);
    this.isConfiguration = options.isConfiguration;
  }
}

/** Tiles in flight at a shutdown are finished within this time. */
const GRACE_MS = 25_000;

/**
 * Builds one running server: coordinator, renders, HTTP interfaces, HTTP server, in this order. They are closed in
 * reverse.
 * @throws StartError
 */
export async function startServer(configuration: Configuration, load: LoadConfiguration): Promise<RunningServer> {
  const log = createLogger();
  makeStoreDirectories(configuration);
  const instance = randomUUID();
  const telemetry = namesCollector(process.env) ? (await import("./telemetry.ts")).startTelemetry() : undefined;
  for (const warning of configuration.warnings) log.warn(warning);

  const coordinator = new CoordinatorLink({ configuration, instance }, log);
  let built: ServingProcesses | undefined;
  // The processes that serve are built last, as they call all other parts.
  const serving = localMethods<ServingProcesses>(() => built, SERVING_PROCESSES);
  const rendering = buildRendering({
    configuration,
    instance,
    coordinator,
    memory: serving,
    publish: (event) => serving.publish(event),
    log,
  });
  const refuseStart = async ({ message, isConfiguration }: StartRefusal): Promise<never> => {
    await coordinator.close();
    throw new StartError(message, { isConfiguration });
  };
  const unclaimed = await coordinator.channel.call("claim");
  if (unclaimed !== undefined) return refuseStart(unclaimed);

  const traffic = new TrafficCollector(serving);
  const serverSide = buildServerSide(configuration, { coordinator, rendering, serving, traffic, telemetry, load, log });
  built = await buildServing(configuration, instance, serverSide, log);
  coordinator.attach({
    renders: rendering.renders,
    publish: (event) => {
      serving.publish(event);
      telemetry?.jobEvent(event);
    },
    accountsChanged: (accounts) => serving.setAccounts(accounts),
    withObjects: serverSide.withObjects,
  });
  const address = await listen(serving, configuration);
  log.info("listening", { address, layers: configuration.layers.length, dataDir: configuration.dataDir });
  // Completing the work of the last process may take long. Health probes are answered meanwhile.
  const { renders, renderers } = rendering;
  const watch = new ReadinessWatch({ coordinator, renders, serving, log });
  const refused = await watch.begin();
  if (refused !== undefined) return refuseStart(refused);
  return {
    address,
    configuration: serverSide.configuration,
    reload: serverSide.reload,
    async close() {
      if (coordinator.isClosing) return;
      coordinator.expectEnd();
      watch.close();
      traffic.close();
      await closeInOrder({ coordinator, serving, renders, renderers }, GRACE_MS);
      rendering.closeLog();
      await coordinator.close();
      await telemetry?.close();
      log.info("closed");
    },
  };
}

/**
 * Returns whether the standard variables name an OpenTelemetry collector. Without one, no OpenTelemetry code is loaded.
 */
function namesCollector(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return false;
  return Boolean(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"]);
}

/** Builds the process, or the processes, that answer HTTP. */
async function buildServing(
  configuration: Configuration,
  instance: string,
  core: Core,
  log: Logger,
): Promise<ServingProcesses> {
  if (configuration.server.workers > 1) return new ServingPool(configuration, { instance }, core, log);
  const stores = openConfiguredStores(configuration, instance, await loadStoreKinds(configuration.stores), "server");
  const diskTiers = (await loadDiskTiers(configuration.stores))?.(configuration, log);
  return new Serving({ configuration, eventsId: instance, stores, diskTiers, core, log });
}

/** @throws StartError */
function makeStoreDirectories({ dataDir, stores }: Configuration): void {
  for (const store of stores) {
    const directory = directoryOf(store);
    try {
      if (directory !== undefined) mkdirSync(directory, { recursive: true });
    } catch (error) {
      const message =
        store.id === DEFAULT_STORE
          ? dataDirectoryFault(error, dataDir)
          : `the directory ${directory} of the store ${JSON.stringify(store.id)} cannot be made: ${fileFault(error)}`;
      throw new StartError(message, { cause: error, isConfiguration: false });
    }
  }
}

/** Listens. Returns the server's address. */
async function listen(serving: ServingProcesses, { server }: Configuration): Promise<string> {
  const { host } = server;
  const { port } = await serving.listen(host, server.port).catch(async (error: unknown) => {
    throw new StartError(await listenFault(error, host, server.port), { cause: error, isConfiguration: false });
  });
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}/`;
}
