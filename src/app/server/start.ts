import { accessSync, constants, mkdirSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import type { Configuration } from "../../configuration/configuration.ts";
import type { LoadConfiguration } from "../../configuration/in-force/in-force.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import { thisMachine } from "../../lib/this-machine.ts";
import { loadStoreKinds, type OpenedStores } from "../../store/open-store.ts";
import { loadDiskTiers, openConfiguredStores } from "../process/configured-stores.ts";
import { createLogger } from "../process/logger.ts";
import type { CalledByMembers, ServingProcesses } from "../process/process-methods.ts";
import { dataDirectoryFault, listenFault } from "../process/start-faults.ts";
import type { StoreNewsExchange } from "../process/store-news-exchange.ts";
import { Serving } from "../serving/serving.ts";
import { prepareEach } from "../serving/store-faults.ts";
import { exitAfterFault } from "./coordinator-link.ts";
import { HttpWorkerPool } from "./http-worker-pool.ts";
import { startLead } from "./lead.ts";
import { ForkedRenderers } from "./renderers/local-renderers.ts";

export interface RunningServer {
  /** The address of the server, such as `http://127.0.0.1:8080/`. */
  readonly address: string;
  readonly configuration: () => Configuration;
  close(): Promise<void>;
  reload(): Promise<Result<readonly string[], Refusal>>;
}

/** The server cannot start. The message is shown to the operator unchanged. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly isConfiguration: boolean;
  constructor(message: string, options: ErrorOptions & { readonly isConfiguration: boolean }) {
    super(message, options);
    this.isConfiguration = options.isConfiguration;
  }
}

/** Time for tiles in flight at a shutdown. */
const GRACE_MS = 25_000;

/**
 * Starts one server that uses its database alone.
 * @throws StartError
 */
export async function startServer(
  configuration: Configuration,
  load: LoadConfiguration,
  coordinatorThread: Worker,
): Promise<RunningServer> {
  const log = createLogger(thisMachine.clock);
  makeStoreDirectories(configuration, log);
  const instance = thisMachine.random.uuid();
  logNotices(configuration, log);
  let address = "";
  const lead = await startLead({
    coordinatorThread,
    rendererProcesses: new ForkedRenderers(log),
    exit: () => exitAfterFault(thisMachine.clock),
    configuration,
    instance,
    use: "server",
    load,
    machine: thisMachine,
    log,
    buildServing: (core, _, storeNews) => buildServing(configuration, instance, core, storeNews, log),
    async open(serving) {
      address = await listen(serving, configuration);
      log.info("listening", { address, layers: configuration.layers.length, dataDir: configuration.dataDir });
    },
  });
  if ("refused" in lead) throw new StartError(lead.refused.message, lead.refused);
  return {
    address,
    configuration: lead.configuration,
    reload: lead.reload,
    async close() {
      if (lead.isClosing) return;
      await lead.close(GRACE_MS);
      log.info("closed");
    },
  };
}

/**
 * Logs the warnings about the configuration, and whether management is open. Called at the start of a server or a node.
 */
export function logNotices({ warnings, users }: Pick<Configuration, "warnings" | "users">, log: Logger): void {
  for (const warning of warnings) log.warn(warning);
  if (users.length === 0)
    log.info("the configuration has no users: without accounts management is open to all programs of this machine");
}

/** Builds the process or processes that answer HTTP. */
async function buildServing(
  configuration: Configuration,
  instance: string,
  core: CalledByMembers,
  storeNews: StoreNewsExchange,
  log: Logger,
): Promise<ServingProcesses> {
  if (configuration.server.workers > 1)
    return new HttpWorkerPool({ configuration, instance, core, storeNews, ...thisMachine, log });
  const stores = await openStoresToServe(configuration, instance, storeNews);
  const diskTiers = (await loadDiskTiers(configuration.stores))?.(configuration, thisMachine, log);
  return new Serving({
    configuration,
    eventsId: instance,
    stores,
    diskTiers,
    core,
    machine: thisMachine,
    log,
  });
}

/** Opens the stores of a serving process that is not an HTTP worker. */
export async function openStoresToServe(
  configuration: Configuration,
  instance: string,
  storeNews: StoreNewsExchange,
): Promise<OpenedStores> {
  const kinds = await loadStoreKinds(configuration.stores);
  const stores: OpenedStores = openConfiguredStores(configuration, instance, kinds, "server", thisMachine, (news) =>
    found(news),
  );
  const { found } = storeNews.join(stores.tell);
  return stores;
}

/**
 * Makes the directories of the stores. A store that cannot be used affects only its own layers, and is tried again.
 * @throws StartError if the data directory cannot be used
 */
export function makeStoreDirectories({ dataDir, stores }: Configuration, log: Logger): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new StartError(dataDirectoryFault(error, dataDir), { cause: error, isConfiguration: false });
  }
  prepareEach({ dataDir, stores }, thisMachine, log);
}

/** Listens, and returns the server's address. @throws StartError */
export async function listen(serving: Pick<ServingProcesses, "listen">, { server }: Configuration): Promise<string> {
  const { host } = server;
  const { port } = await serving.listen(host, server.port).catch(async (error: unknown) => {
    throw new StartError(await listenFault(error, host, server.port, thisMachine.clock), {
      cause: error,
      isConfiguration: false,
    });
  });
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}/`;
}
