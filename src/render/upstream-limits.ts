import type { ConnectionOptions, Layer, SourceOptions } from "../layer/layer.ts";
import { elapsedMs } from "../lib/elapsed.ts";
import { onceEach } from "../lib/once-each.ts";
import { addressesOf, originOf, serversOf } from "../source/http/servers.ts";
import { UpstreamLimit, type UpstreamLimitState } from "./upstream-limit.ts";

export interface UpstreamState extends UpstreamLimitState {
  readonly upstream: string;
}

/** The limit of each upstream. Layers with the same upstream share its limit. */
export class UpstreamLimits {
  readonly #upstreamLimits = new Map<string, UpstreamLimit>();
  #configured: ReadonlySet<string> = new Set();
  /** The servers of each upstream that has several, by upstream. */
  #servers = new Map<string, ReadonlySet<string>>();
  readonly #now: () => number;

  /** @param now measures durations, ms */
  constructor(now: () => number = elapsedMs) {
    this.#now = now;
  }

  /**
   * Applies the layers of a configuration. If layers of one upstream configure different numbers of connections, the
   * smallest number applies. The limit of an upstream without layers is released with its last connection; an upstream
   * that is configured again before that keeps its limit.
   */
  configure(layers: Iterable<Layer>): void {
    const bounds = new Map<string, Required<ConnectionOptions>>();
    const servers = new Map<string, ReadonlySet<string>>();
    for (const { source } of layers) {
      const key = upstreamOf(source);
      const { connections, jobConnections = connections } = source;
      const before = bounds.get(key) ?? { connections, jobConnections };
      if ("url" in source) {
        const origins = addressesOf(source).map((address) => originOf(source, address));
        servers.set(key, new Set([...(servers.get(key) ?? []), ...origins]));
      }
      bounds.set(key, {
        connections: Math.min(before.connections, connections),
        jobConnections: Math.min(before.jobConnections, jobConnections),
      });
    }
    this.#servers = new Map([...servers].filter(([, origins]) => origins.size > 1));
    this.#configured = new Set(bounds.keys());
    for (const [key, connections] of bounds) {
      const upstreamLimit = this.#upstreamLimits.get(key);
      if (upstreamLimit === undefined)
        this.#upstreamLimits.set(key, new UpstreamLimit(connections, this.#now, () => this.#dropUnconfigured(key)));
      else upstreamLimit.setConnections(connections);
    }
    for (const key of this.#upstreamLimits.keys()) this.#dropUnconfigured(key);
  }

  #dropUnconfigured(key: string): void {
    const upstreamLimit = this.#upstreamLimits.get(key);
    if (upstreamLimit === undefined || this.#configured.has(key) || !upstreamLimit.isUnused) return;
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

  /** The servers of each upstream that has several. */
  servers(): readonly { readonly upstream: string; readonly server: string }[] {
    return [...this.#servers].flatMap(([upstream, origins]) => [...origins].map((server) => ({ upstream, server })));
  }
}

/**
 * Returns the name of a source for metrics: its first address without query. A long segment of the path may be a key,
 * so the name leaves it out.
 */
export const sourceName = onceEach((source: SourceOptions): string => {
  if (!("url" in source)) return upstreamOf(source);
  const [url] = serversOf(source);
  if (url === undefined) return upstreamOf(source);
  const path = url.pathname.replace(/%7B(\w+)%7D/gi, "{$1}").replace(/\/[^/{}]{20,}(?=\/|$)/g, "/…");
  return url.origin + path;
});

/**
 * Returns the upstream of a source: the file of an archive, else scheme, host and port of its first server, without the
 * path. With several addresses the first stands for all, as only a failure of all addresses reaches this module.
 * Computed once for each source: parsing the addresses takes longer than the rest of this module's work for a render.
 */
export const upstreamOf = onceEach((source: SourceOptions): string => {
  switch (source.type) {
    case "demo":
      return "demo";
    case "wms":
    case "xyz":
    case "wmts":
    case "arcgis":
      return serversOf(source)[0]?.origin ?? source.type;
    case "mbtiles":
    case "pmtiles":
      return `file:${source.file}`;
  }
});
