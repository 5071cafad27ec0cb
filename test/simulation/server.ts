import type { ClaimedState } from "../../src/app/coordinator/claimed-state.ts";
import type { CoordinatorData } from "../../src/app/coordinator/coordinator-host.ts";
import { startCoordinator } from "../../src/app/coordinator/start-coordinator.ts";
import { openConfiguredStores } from "../../src/app/process/configured-stores.ts";
import type { CalledByMembers, ServingProcesses } from "../../src/app/process/process-methods.ts";
import type { StoreNewsExchange } from "../../src/app/process/store-news-exchange.ts";
import { Renderer } from "../../src/app/renderer/renderer.ts";
import { CALLED_BY_RENDERER, RENDERER } from "../../src/app/renderer/renderer-methods.ts";
import type { CoordinatorThread } from "../../src/app/server/coordinator-link.ts";
import { type Lead, startLead } from "../../src/app/server/lead.ts";
import type { RendererProcesses } from "../../src/app/server/renderers/local-renderers.ts";
import type { RendererEnd } from "../../src/app/server/renderers/renderer-host.ts";
import { ServedTiles } from "../../src/app/serving/served-tiles.ts";
import { prepareEach } from "../../src/app/serving/store-faults.ts";
import type { TileOutcome, TileRequest } from "../../src/cache/tile-reader.ts";
import type { Configuration } from "../../src/configuration/configuration.ts";
import type { ServerEvent } from "../../src/coordinator/server-event.ts";
import { type Readiness, STARTING } from "../../src/http/readiness.ts";
import { noTraffic } from "../../src/http/tiles/tile-traffic.ts";
import { catalogueOf } from "../../src/layer/catalogue.ts";
import type { Machine } from "../../src/lib/machine.ts";
import { Channel } from "../../src/lib/process/channel.ts";
import type { Logger } from "../../src/lib/process/logger.ts";
import type { Message } from "../../src/lib/process/message.ts";
import { localMethods } from "../../src/lib/process/method-table.ts";
import { ok } from "../../src/lib/result.ts";
import { loadStoreKinds } from "../../src/store/open-store.ts";
import { seededRandom } from "../support/random.ts";
import type { SimulatedDatabase } from "./database.ts";
import type { SimulatedDisk } from "./disk.ts";
import { link } from "./link.ts";
import { type Scheduler, SimulatedProcess } from "./scheduler.ts";
import type { SimulatedUpstream } from "./upstream.ts";

/** The most renderers of the machine for users, and for jobs. */
const CORES = 3;
/** The time, ms, that a renderer process takes to load its code. */
const LOADING_MS = 120;

/** The machine of a server, and what lies outside of it. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly disk: SimulatedDisk;
  readonly database: SimulatedDatabase;
  readonly upstream: SimulatedUpstream;
  readonly configuration: Configuration;
  readonly log: (level: string, sentence: string, fields: object) => void;
  readonly published: (event: ServerEvent) => void;
  /** The id of the machine's boot. */
  readonly boot: string;
}

/** One run of a server, from its start to its end: its processes and threads, in this process. */
export class SimulatedServer {
  readonly process: SimulatedProcess;
  readonly renderers = new Set<SimulatedProcess>();
  readonly #in: Surroundings;
  #coordinator: SimulatedProcess | undefined;
  #tiles: ServedTiles | undefined;
  #core: CalledByMembers | undefined;
  #lead: Lead | undefined;
  readiness: Readiness = STARTING;

  constructor(surroundings: Surroundings) {
    this.#in = surroundings;
    this.process = this.#newProcess("server");
  }

  #newProcess(name: string): SimulatedProcess {
    return new SimulatedProcess(name, this.#in.scheduler, () => this.#in.disk.aheadMs);
  }

  get coordinator(): SimulatedProcess | undefined {
    return this.#coordinator;
  }

  #machineOf(owner: SimulatedProcess): Machine {
    const { disk, scheduler } = this.#in;
    return { clock: owner.clock, disk: disk.seenBy(owner), random: seededRandom(scheduler.chance.below(2 ** 31)) };
  }

  start(): void {
    const { configuration, log } = this.#in;
    const machine = this.#machineOf(this.process);
    const instance = machine.random.uuid();
    const logger: Logger = {
      info: (sentence, fields = {}) => log("info", sentence, fields),
      warn: (sentence, fields = {}) => log("warn", sentence, fields),
      error: (sentence, fields = {}) => log("error", sentence, fields),
    };
    prepareEach(configuration, machine, logger);
    void startLead({
      coordinatorThread: this.#startCoordinator(),
      rendererProcesses: this.#rendererProcesses(),
      exit: () => this.process.die(),
      configuration,
      instance,
      use: "server",
      load: async () => ok(configuration),
      machine,
      log: logger,
      buildServing: (core, _, storeNews) => this.#buildServing(core, storeNews, instance, machine, logger),
      open: async () => {},
    }).then(
      (lead) => {
        if ("refused" in lead) this.#refuse(lead.refused.message);
        else this.#lead = lead;
      },
      (error: unknown) => {
        this.#refuse(String(error));
      },
    );
  }

  /** The program ends, and its service manager starts it again. */
  #refuse(reason: string): void {
    if (!this.process.isAlive) return;
    this.#in.log("error", "the server does not start", { reason });
    this.process.die();
  }

  #startCoordinator(): CoordinatorThread {
    const { scheduler, database, boot } = this.#in;
    const { chance } = scheduler;
    const coordinator = this.#newProcess("coordinator");
    this.#coordinator = coordinator;
    this.process.whenEnded(() => coordinator.die());
    const [end, inner] = link(scheduler, [this.process, coordinator], () => (1 + chance.below(30)) / 100);
    const machine = this.#machineOf(coordinator);
    let hasData = false;
    const listeners: ((message: Message) => void)[] = [];
    inner.on("message", (message) => {
      if (hasData) for (const listener of listeners) listener(message);
      hasData = true;
      if (listeners.length > 0) return;
      const port = {
        postMessage: (answer: Message) => inner.postMessage(answer),
        on: (_: "message", listener: (message: Message) => void) => void listeners.push(listener),
      };
      startCoordinator(port, message as unknown as CoordinatorData, {
        machine,
        bootId: () => boot,
        claimEmbedded: () => claimed(database, coordinator),
        claimPostgres: () => {
          throw new Error("the simulated state is embedded");
        },
        exit: () => coordinator.die(),
      });
    });
    const on = (event: string, listener: (value: never) => void): void => {
      if (event === "message") end.on("message", listener as (message: Message) => void);
      if (event === "exit") coordinator.whenEnded(() => this.process.later(0, listener as () => void));
    };
    return {
      postMessage: (message) => end.postMessage(message),
      on,
      once: on,
      terminate: async () => coordinator.die(),
    };
  }

  #rendererProcesses(): RendererProcesses {
    return { most: CORES, start: (_, ended) => this.#startRenderer(ended) };
  }

  #startRenderer(ended: (end: RendererEnd) => void) {
    const { scheduler, upstream } = this.#in;
    const { chance } = scheduler;
    const renderer = this.#newProcess("renderer");
    this.renderers.add(renderer);
    const readyMs = scheduler.nowMs + LOADING_MS + chance.below(LOADING_MS);
    const [port, inner] = link(scheduler, [this.process, renderer], () =>
      Math.max((2 + chance.below(60)) / 100, readyMs - scheduler.nowMs),
    );
    let wasKilled = false;
    renderer.whenEnded(() => {
      this.renderers.delete(renderer);
      this.process.later(0.2, () =>
        ended({ kind: "exited", code: wasKilled ? null : 0, signal: wasKilled ? "SIGKILL" : null }),
      );
    });
    // The end of the connection arrives a moment after the end of the parent.
    this.process.whenEnded(() => renderer.later(chance.below(30) / 10, () => renderer.die()));
    let one: Renderer | undefined;
    const channel = new Channel(
      inner,
      localMethods(() => one, RENDERER),
      CALLED_BY_RENDERER,
    );
    let processorMs = 0;
    one = new Renderer(channel.remote, this.#machineOf(renderer), {
      parentPid: () => (this.process.isAlive ? process.pid : 1),
      processorMs: () => {
        processorMs += 4;
        return processorMs;
      },
      createSource: async (options) => upstream.source(options, renderer),
      exit: () => renderer.die(),
    });
    return {
      port,
      pid: undefined,
      kill: () => {
        wasKilled = true;
        renderer.die();
      },
    };
  }

  async #buildServing(
    core: CalledByMembers,
    storeNews: StoreNewsExchange,
    instance: string,
    machine: Machine,
    log: Logger,
  ): Promise<ServingProcesses> {
    const { configuration } = this.#in;
    const kinds = await loadStoreKinds(configuration.stores);
    const stores = openConfiguredStores(configuration, instance, kinds, "server", machine, (news) => found(news));
    const { found } = storeNews.join(stores.tell);
    const tiles = new ServedTiles({
      configuration: () => configuration,
      catalogue: () => catalogueOf(configuration.layers),
      store: stores.store,
      diskTiers: undefined,
      core,
      isCutOff: undefined,
      clientOf: () => "client",
      authorised: async () => true,
      clock: machine.clock,
      log,
    });
    this.#tiles = tiles;
    this.#core = core;
    return {
      clear: (layer) => tiles.clear(layer),
      remove: (keys) => tiles.remove(keys),
      expireBefore: (layer, beforeMs) => tiles.expireBefore(layer, beforeMs),
      publish: (event) => this.#in.published(event),
      setAccounts() {},
      metrics: async () => ({ ...tiles.metrics(), failedRenewals: new Map(), failedChanges: 0, listeners: 0 }),
      collectTraffic: async () => new Map([["styled", noTraffic()]]),
      storesFault: async () => undefined,
      configure: async () => {},
      configureLayer: async () => {},
      renewMasks: async () => {},
      ready: async (readiness) => {
        this.readiness = readiness;
      },
      listen: async () => ({ port: 0 }),
      close: async () => {
        tiles.endReports();
        await tiles.close();
      },
    };
  }

  /** Whether HTTP requests are answered, as the HTTP server decides it. */
  get answers(): boolean {
    return this.process.isAlive && (this.readiness.ready || this.readiness.isStarting !== true);
  }

  /**
   * Sends a request to the server. Undefined if it has died before the answer, or does not answer requests.
   * @throws the error of the work
   */
  #request<T>(work: (core: CalledByMembers, tiles: ServedTiles) => T | Promise<T>): Promise<T | undefined> {
    const { scheduler } = this.#in;
    return new Promise((resolve, reject) => {
      this.process.whenEnded(() => resolve(undefined));
      if (!this.process.isAlive) return resolve(undefined);
      const answer = async (): Promise<void> => {
        const [core, tiles] = [this.#core, this.#tiles];
        if (!this.answers || core === undefined || tiles === undefined) return resolve(undefined);
        try {
          const answered = await work(core, tiles);
          this.process.later(0.1, () => resolve(answered));
        } catch (error) {
          if (this.process.isAlive) reject(error);
        }
      };
      this.process.later(scheduler.chance.below(30) / 100, () => void answer());
    });
  }

  read(request: TileRequest, client: string, gone: AbortSignal): Promise<TileOutcome | undefined> {
    return this.#request((_, { reader }) => reader.read(request, () => ({ client, gone })));
  }

  operate<T>(work: (core: CalledByMembers) => Promise<T>): Promise<T | undefined> {
    return this.#request((core) => work(core));
  }

  /** Ends the server in order. */
  async close(): Promise<void> {
    const lead = this.#lead;
    if (lead === undefined) return this.process.die();
    const ended = new Promise<void>((resolve) => this.process.whenEnded(resolve));
    this.process.later(0, () => void lead.close(5_000).then(() => this.process.die()));
    await ended;
  }
}

function claimed(database: SimulatedDatabase, owner: SimulatedProcess): ClaimedState {
  return {
    db: database.seenBy(owner),
    loss: undefined,
    connect() {},
    trouble: async () => undefined,
    lookAtDisk: () => false,
    adopted() {},
    begun() {},
    release() {},
  };
}
