import type { ConnectionOptions, Layer, SourceOptions } from "../layer/layer.ts";
import { elapsedMs } from "../lib/elapsed.ts";
import { onceEach } from "../lib/once-each.ts";
import { addressesOf, originOf, serversOf } from "../source/http/servers.ts";
import { UpstreamLimit, type UpstreamLimitState } from "./upstream-limit.ts";

export interface UpstreamState extends UpstreamLimitState {
  readonly upstream: string;
}

/** The upstream limit of each upstream. Layers in front of one share its connections. */
export class UpstreamLimits {
  readonly #upstreamLimits = new Map<string, UpstreamLimit>();
  #configured: ReadonlySet<string> = new Set();
  /** By upstream, of those that have several. */
  #servers = new Map<string, ReadonlySet<string>>();
  readonly #now: () => number;

  /** @param now measures durations, ms */
  constructor(now: () => number = elapsedMs) {
    this.#now = now;
  }

  /**
   * Where layers of one upstream disagree about its connections the smallest bound holds. The upstream limit of an upstream that
   * no layer has any more is released when its last connection is: until then an upstream that comes back shares it.
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
 * The upstream behind a source: an archive's file; else scheme, host and port of its first server, whatever the path. With
 * several addresses the first stands for all: a failure that comes up here is one of them all. Once for each source: reading
 * addresses takes longer than all else that is done here for a render.
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
