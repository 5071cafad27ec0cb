import type { Configuration } from "../../configuration/configuration.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import type { RenderMetrics } from "../../http/metrics/metrics-sample.ts";
import { collectGarbage } from "../../lib/process/collect-garbage.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { testLayer } from "../../render/dispatch/layer-tests.ts";
import { RenderDispatcher } from "../../render/dispatch/render-dispatcher.ts";
import { RenderThrottle } from "../../render/dispatch/render-throttle.ts";
import type { MemoryTiles } from "../../render/memory-tiles.ts";
import type { TestOrder } from "../../render/renderer/test-render.ts";
import { UpstreamLimits } from "../../render/upstream/upstream-limits.ts";
import { UpstreamMeter } from "../../render/upstream/upstream-meter.ts";
import { probeUpstream } from "../../render/upstream/upstream-probes.ts";
import type { StoreNewsExchange } from "../process/store-news-exchange.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import { LocalRenderers, type RendererProcesses } from "./renderers/local-renderers.ts";
import { RendererPool } from "./renderers/renderer-pool.ts";

/**
 * The processors that jobs leave free while users read tiles: one for the server, and 2/3 for other programs. With
 * them, on two cores, a hit takes no longer during a seed than without one (`npm run bench live-users`).
 */
const CORES_LEFT = 1 + 2 / 3;
/** The least share of one processor for jobs, so that they always progress. */
const LEAST_SHARE = 0.25;
/** Users count as reading tiles for this time after a read. */
const ACTIVE_MS = 2_000;

/** Builds the limits of the upstreams. Each change of an upstream's state is logged and published. */
function buildUpstreamLimits(publish: (event: ServerEvent) => void, clock: Clock, log: Logger): UpstreamLimits {
  const upstreamLimits: UpstreamLimits = new UpstreamLimits(clock, ({ upstream, state, before, health }) => {
    const { lastError } = health;
    if (state === "down")
      log.warn("an upstream is down", { upstream, class: lastError?.class, reason: lastError?.message });
    else if (before === "down") log.info("an upstream is back", { upstream });
    // Report in a later turn, after the health has recorded the response that changed the state.
    clock.soon(() => {
      const view = upstreamLimits.views().find((one) => one.origin === upstream);
      if (view !== undefined) publish({ kind: "upstream", upstream: view });
    });
  });
  return upstreamLimits;
}

export type Rendering = ReturnType<typeof buildRendering>;

/** Builds the renders, and the renderers that perform them. The first render starts a renderer. */
export function buildRendering(parts: {
  readonly configuration: Configuration;
  readonly instance: string;
  /** After this time of `Clock.machineNow` renderers store nothing, until a later time is set. */
  readonly storesUntilMs: number;
  readonly coordinator: CoordinatorLink;
  readonly memory: MemoryTiles;
  readonly publish: (event: ServerEvent) => void;
  readonly storeNews: StoreNewsExchange;
  readonly rendererProcesses: RendererProcesses;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { configuration, instance, coordinator, memory, publish, storeNews, clock, log } = parts;
  let lastReadMs = Number.NEGATIVE_INFINITY;
  const usersActive = (): boolean => clock.monotonicNow() - lastReadMs < ACTIVE_MS;
  const localRenderers = new LocalRenderers(
    {
      stores: configuration.stores,
      fsync: configuration.store.fsync,
      instance,
      storesUntilMs: parts.storesUntilMs,
    },
    configuration.cluster?.node,
    storeNews,
    parts.rendererProcesses,
  );
  const renderers = new RendererPool({
    local: localRenderers,
    clock,
    layers: configuration.layers,
    usersActive,
    lostWriter: (mayStoreMs) => coordinator.methods.lostWriter(mayStoreMs),
    // A renderer that requests space while the coordinator is ending must store nothing more.
    reserve: (id, more) => coordinator.methods.reserve(id, more).catch(() => false),
    atRest: () => {
      if (coordinator.isClosing) return;
      coordinator.methods.collectGarbage();
      // Garbage collection would delay a hit.
      if (!usersActive()) collectGarbage();
    },
    log,
  });
  const throttle = new RenderThrottle({
    share: () => renderers.cores.reduce((sum, cores) => sum + Math.max(LEAST_SHARE, cores - CORES_LEFT), 0),
    usersActive,
    clock,
  });
  const upstreamLimits = buildUpstreamLimits(publish, clock, log);
  const failedTiles = new RepeatedLog((fields) => log.warn("tiles could not be rendered for users", fields));
  const meter = new UpstreamMeter();
  const renders = new RenderDispatcher({
    renderers,
    ledger: coordinator.methods,
    memory,
    upstreamLimits,
    meter,
    throttle,
    failedForUser: (layer, { failure, message }) =>
      failedTiles.add(`${layer}\n${failure}`, { layer, class: failure, message }),
    clock,
  });
  renders.configure(configuration.layers);
  return {
    /** Logs the failed tiles that have not been logged yet. Called after the last render. */
    closeLog: () => failedTiles.close(),
    renders,
    renderers,
    localRenderers,
    /** Records that users are reading tiles now. */
    tilesRead: () => {
      lastReadMs = clock.monotonicNow();
    },
    upstreams: () => upstreamLimits.views(),
    probeUpstream: (id: string, gone: AbortSignal) => probeUpstream({ renderers, upstreamLimits, clock }, id, gone),
    testLayer: (order: TestOrder, gone: AbortSignal) => testLayer({ renderers, upstreamLimits, clock }, order, gone),
    /** Returns the metrics of the server, without those of the serving processes. */
    metrics: (): RenderMetrics => ({
      upstreams: upstreamLimits.states(),
      servers: upstreamLimits.servers().map((one) => ({ ...one, isUp: !renderers.isDown(one.server) })),
      measures: meter.measures(),
      throttledRenders: throttle.waiting,
      renderersHung: renderers.hung,
    }),
  };
}
