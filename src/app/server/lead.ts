import { type Configuration, coordinatorConfiguration } from "../../configuration/configuration.ts";
import type { LoadConfiguration } from "../../configuration/in-force/in-force.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import type { Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import { RENDER_CONTROL } from "../../render/render-control.ts";
import type { SessionUse } from "../../state/postgres/session.ts";
import {
  type CalledByMembers,
  SERVING_PROCESSES,
  type ServingProcesses,
  type StartRefusal,
} from "../process/process-methods.ts";
import { StoreNewsExchange } from "../process/store-news-exchange.ts";
import { buildRendering } from "./build-rendering.ts";
import { closeInOrder } from "./close-order.ts";
import { CoordinatorLink, type CoordinatorThread } from "./coordinator-link.ts";
import { ReadinessWatch } from "./readiness-watch.ts";
import type { LocalRenderers, RendererProcesses } from "./renderers/local-renderers.ts";
import type { RendererHosts } from "./renderers/renderer-pool.ts";
import { buildServerSide } from "./server-side.ts";
import { TrafficCollector } from "./traffic-collector.ts";

export interface LeadParts {
  /** A thread started by `startCoordinatorThread`. */
  readonly coordinatorThread: CoordinatorThread;
  readonly rendererProcesses: RendererProcesses;
  /** Ends this process, because the coordinator has ended unexpectedly. */
  readonly exit: () => void;
  readonly configuration: Configuration;
  readonly instance: string;
  /** Who uses the database: a single server, or the lead of a cluster. */
  readonly use: SessionUse;
  readonly load: LoadConfiguration;
  readonly machine: Machine;
  readonly log: Logger;
  /** Builds the process or processes that answer HTTP. */
  readonly buildServing: (
    core: CalledByMembers,
    hosts: RendererHosts,
    storeNews: StoreNewsExchange,
  ) => ServingProcesses | Promise<ServingProcesses>;
  /**
   * Opens the serving processes for requests. Called before the unfinished work of the last process is completed, so
   * that health probes are answered during that work.
   */
  readonly open: (serving: ServingProcesses, renderers: Pick<LocalRenderers, "storesUntil">) => Promise<void>;
}

/** The coordinator, the renders and the parts around them: all of a server except the processes that answer HTTP. */
export interface Lead {
  readonly configuration: () => Configuration;
  readonly isClosing: boolean;
  reload(): Promise<Result<readonly string[], Refusal>>;
  /** Closes these parts and the serving processes. Tiles in flight are finished within the time. */
  close(graceMs: number): Promise<void>;
}

/** Why a lead did not start. */
export interface NotLed {
  readonly refused: StartRefusal;
}

/** Builds the coordinator, the renders and the HTTP interfaces in this order. `closeInOrder` closes them. */
export async function startLead(parts: LeadParts): Promise<Lead | NotLed> {
  const { configuration, instance, use, load, machine, log } = parts;
  const { clock } = machine;
  const telemetry = namesCollector(process.env)
    ? (await import("../process/telemetry.ts")).startTelemetry(clock)
    : undefined;
  const coordinator = new CoordinatorLink(
    parts.coordinatorThread,
    { configuration: coordinatorConfiguration(configuration), instance, use },
    clock,
    parts.exit,
    log,
  );
  let built: ServingProcesses | undefined;
  let watch: ReadinessWatch | undefined;
  // The serving processes are built last, because they call all other parts.
  const serving = localMethods(() => built, SERVING_PROCESSES);
  const storeNews = new StoreNewsExchange(() => watch?.lookNow());
  const rendering = buildRendering({
    storeNews,
    configuration,
    instance,
    // A single server has no lease that could end.
    storesUntilMs: use === "lead" ? 0 : Number.POSITIVE_INFINITY,
    coordinator,
    memory: serving,
    publish: (event) => serving.publish(event),
    rendererProcesses: parts.rendererProcesses,
    clock,
    log,
  });
  const refuseStart = async (refused: StartRefusal): Promise<NotLed> => {
    await coordinator.close();
    return { refused };
  };
  const unclaimed = await coordinator.methods.claim();
  if (unclaimed !== undefined) return refuseStart(unclaimed);

  const traffic = new TrafficCollector(serving, clock);
  const serverSide = buildServerSide(configuration, {
    coordinator,
    rendering,
    serving,
    traffic,
    telemetry,
    load,
    machine,
    log,
  });
  built = await parts.buildServing(serverSide, rendering.renderers, storeNews);
  const { found } = storeNews.join((news) => coordinator.methods.storeNews(news));
  coordinator.attach({
    ...localMethods(() => rendering.renders, RENDER_CONTROL),
    publish: (event) => {
      serving.publish(event);
      telemetry?.jobEvent(event);
    },
    accountsChanged: (accounts) => serving.setAccounts(accounts),
    withObjects: serverSide.withObjects,
    storeNews: found,
    healthChanged: () => watch?.lookNow(),
  });
  const { renders, renderers } = rendering;
  await parts.open(serving, rendering.localRenderers);
  const readiness = new ReadinessWatch({ coordinator, renders, serving, clock, log });
  watch = readiness;
  const refused = await readiness.begin();
  if (refused !== undefined) return refuseStart(refused);
  return {
    configuration: serverSide.configuration,
    reload: serverSide.reload,
    get isClosing() {
      return coordinator.isClosing;
    },
    async close(graceMs) {
      if (coordinator.isClosing) return;
      coordinator.expectEnd();
      // The nodes of a cluster stay ready, because they join the next lead.
      readiness.close(use === "server");
      traffic.close();
      await closeInOrder({ coordinator, serving, renders, renderers, clock }, graceMs);
      rendering.closeLog();
      await coordinator.close();
      await telemetry?.close();
    },
  };
}

/**
 * Returns whether the standard variables name an OpenTelemetry collector. Otherwise no OpenTelemetry code is loaded.
 */
function namesCollector(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return false;
  return Boolean(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"]);
}
