import { createHash } from "node:crypto";
import type { Layer } from "../../layer/layer.ts";
import { type ConnectionOptions, pathOf, type SourceOptions } from "../../layer/source-options.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { onceEach } from "../../lib/once-each.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { addressesOf, originOf, serversOf } from "../../source/http/servers.ts";
import type { UpstreamHealthView, UpstreamView } from "./upstream-documents.ts";
import type { UpstreamAnswering } from "./upstream-health.ts";
import { UpstreamLimit, type UpstreamLimitState } from "./upstream-limit.ts";

export interface UpstreamState extends UpstreamLimitState {
  readonly upstream: string;
}

/** The change of an upstream's state. */
export type UpstreamChanged = (change: {
  readonly upstream: string;
  readonly state: UpstreamAnswering;
  readonly before: UpstreamAnswering;
  readonly health: UpstreamHealthView;
}) => void;

/** A digest, because the upstream's address would need escapes in a path, which some proxies decode. */
const idOf = (upstream: string): string => createHash("sha256").update(upstream).digest("hex").slice(0, 12);

/** Returns the id of the upstream of a source, as in `UpstreamView`. */
export const upstreamIdOf = onceEach((source: SourceOptions): string => idOf(upstreamOf(source)));

/** The limit of each upstream. Layers with the same upstream share a limit. */
export class UpstreamLimits {
  readonly #upstreamLimits = new Map<string, UpstreamLimit>();
  #layers: readonly Layer[] = [];
  /** The configured connections of each upstream, in the order of their first layers. */
  readonly #bounds = new Map<string, { connections: number; jobConnections: number }>();
  /** The servers of each upstream whose sources name several addresses. */
  readonly #servers = new Map<string, Set<string>>();
  readonly #clock: Clock;
  readonly #changed: UpstreamChanged;

  /**
   * @param changed called when an upstream has answered for the first time, when it counts as down, and when it answers
   *   again
   */
  constructor(clock: Clock, changed: UpstreamChanged = () => {}) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /**
   * Applies the layers of a configuration. If layers of one upstream configure different numbers of connections, the
   * smallest number applies. The limit of an upstream without layers is released with its last connection. If the
   * upstream is configured again before that, it keeps its limit.
   */
  configure(layers: readonly Layer[]): void {
    this.#layers = layers;
    this.#bounds.clear();
    this.#servers.clear();
    for (const { source } of layers) this.#include(source);
    for (const key of this.#bounds.keys()) this.#apply(key);
    for (const key of this.#upstreamLimits.keys()) this.#dropUnconfigured(key);
  }

  /**
   * Applies a new layer.
   * @param layers all layers; the new layer is the last
   */
  add(layers: readonly Layer[], { source }: Layer): void {
    this.#layers = layers;
    this.#include(source);
    this.#apply(upstreamOf(source));
  }

  #include(source: SourceOptions): void {
    const key = upstreamOf(source);
    const { connections, jobConnections = connections } = source;
    const bound = this.#bounds.get(key);
    if (bound === undefined) this.#bounds.set(key, { connections, jobConnections });
    else {
      bound.connections = Math.min(bound.connections, connections);
      bound.jobConnections = Math.min(bound.jobConnections, jobConnections);
    }
    // A single address of a source is the upstream's address, so it is not listed.
    if (!("url" in source) || addressesOf(source).length < 2) return;
    const servers = this.#servers.get(key) ?? new Set();
    for (const address of addressesOf(source)) servers.add(originOf(source, address));
    this.#servers.set(key, servers);
  }

  #apply(key: string): void {
    const bound = this.#bounds.get(key);
    if (bound === undefined) return;
    const upstreamLimit = this.#upstreamLimits.get(key);
    if (upstreamLimit === undefined) this.#upstreamLimits.set(key, this.#limit(key, { ...bound }));
    else upstreamLimit.setConnections({ ...bound });
  }

  #limit(key: string, connections: ConnectionOptions): UpstreamLimit {
    const limit: UpstreamLimit = new UpstreamLimit(
      connections,
      this.#clock,
      () => this.#dropUnconfigured(key),
      (state, before) => this.#changed({ upstream: key, state, before, health: limit.health.view(state === "down") }),
    );
    return limit;
  }

  #dropUnconfigured(key: string): void {
    const upstreamLimit = this.#upstreamLimits.get(key);
    if (upstreamLimit === undefined || this.#bounds.has(key) || !upstreamLimit.isUnused) return;
    upstreamLimit.close();
    this.#upstreamLimits.delete(key);
  }

  of(layer: Layer): UpstreamLimit {
    const upstreamLimit = this.#upstreamLimits.get(upstreamOf(layer.source));
    if (upstreamLimit === undefined) throw new Error(`no upstream for layer ${layer.name}`);
    return upstreamLimit;
  }

  states(): UpstreamState[] {
    return [...this.#upstreamLimits].map(([upstream, upstreamLimit]) => ({ upstream, ...upstreamLimit.state() }));
  }

  /** Returns the configured upstreams, in the order of their first layers. */
  views(): UpstreamView[] {
    const names = new Map<string, LayerName[]>([...this.#bounds.keys()].map((upstream) => [upstream, []]));
    for (const { name, source } of this.#layers) names.get(upstreamOf(source))?.push(name);
    return [...this.#bounds.keys()].flatMap((upstream) => {
      const upstreamLimit = this.#upstreamLimits.get(upstream);
      if (upstreamLimit === undefined) return [];
      const { inUse, allowed, configured, usersWaiting, jobsWaiting, down, coolDownMs } = upstreamLimit.state();
      return [
        {
          id: idOf(upstream),
          origin: upstream,
          layers: names.get(upstream) ?? [],
          ...upstreamLimit.health.view(down),
          connections: { inUse, allowed, configured },
          waiting: { users: usersWaiting, jobs: jobsWaiting },
          pausedUntil: coolDownMs > 0 ? isoTime(this.#clock.now() + coolDownMs) : null,
        },
      ];
    });
  }

  /** Returns the limit and the layers of the configured upstream with an id. Undefined if no upstream has the id. */
  find(id: string): { readonly upstreamLimit: UpstreamLimit; readonly layers: readonly LayerName[] } | undefined {
    const upstream = [...this.#bounds.keys()].find((one) => idOf(one) === id);
    const upstreamLimit = upstream === undefined ? undefined : this.#upstreamLimits.get(upstream);
    if (upstream === undefined || upstreamLimit === undefined) return undefined;
    const own = this.#layers.filter(({ source }) => upstreamOf(source) === upstream);
    return { upstreamLimit, layers: own.map(({ name }) => name) };
  }

  /** Returns the servers of each upstream that has several. */
  servers(): readonly { readonly upstream: string; readonly server: string }[] {
    return [...this.#servers].flatMap(([upstream, servers]) =>
      servers.size < 2 ? [] : [...servers].map((server) => ({ upstream, server })),
    );
  }
}

/**
 * Returns the name of a source for metrics: its first address, without the query and without long path segments, which
 * may be keys.
 */
export const sourceName = onceEach((source: SourceOptions): string => {
  if (!("url" in source)) return upstreamOf(source);
  const [url] = serversOf(source);
  return url === undefined ? upstreamOf(source) : shownAddress(url);
});

/** Returns an address without credentials, query and long path segments, because each of them may be a secret. */
export const shownAddress = ({ origin, pathname }: Pick<URL, "origin" | "pathname">): string =>
  origin + pathname.replace(/%7B(\w+)%7D/gi, "{$1}").replace(/\/[^/{}]{20,}(?=\/|$)/g, "/…");

/**
 * Returns the upstream of a source: the file of an archive or a cache, else scheme, host and port of its first server,
 * without the path. If a source has several addresses, the first represents all, because only a failure of all
 * addresses reaches this module. Computed once per source: parsing the addresses takes longer than all other work of
 * this module for a render.
 */
export const upstreamOf = onceEach((source: SourceOptions): string => {
  if ("url" in source) return serversOf(source)[0]?.origin ?? source.type;
  const path = pathOf(source);
  return path === undefined ? source.type : `file:${path}`;
});
