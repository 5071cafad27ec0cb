import type { ServedTile } from "../../../cache/tile-reader.ts";
import type { Zoom } from "../../../grid/grid-set.ts";
import { valueAt } from "../../../layer/by-zoom.ts";
import type { Layer } from "../../../layer/layer.ts";

/** The facts that a lifetime depends on: of a tile, or of the oldest tile of a map. */
export type Aging = Pick<ServedTile, "modifiedMs" | "isStale" | "detail">;

type Expiring = Pick<
  Layer,
  "expireCacheSeconds" | "expireClientSeconds" | "expireCdnSeconds" | "staleClientSeconds" | "secured"
>;

/** The seconds for which a copy may be used. `no-cache` requires a revalidation each time. Undefined for no header. */
export type Lifetime = number | "no-cache" | undefined;

/** A node that is cut off does not know whether the tile has been truncated. */
const isStale = ({ isStale: stale, detail }: Aging): boolean => stale === true || detail === "cut-off";

/** Returns the most seconds for which copies of a tile may be used. Infinity if the tile sets no limit. */
function limitOf(layer: Expiring, z: Zoom, tile: Aging, nowMs: number): number {
  if (isStale(tile)) return layer.staleClientSeconds;
  const seconds = valueAt(layer.expireCacheSeconds, z);
  if (seconds <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, Math.floor((tile.modifiedMs - nowMs) / 1000) + seconds);
}

/**
 * Returns the lifetime of a tile at clients: the lifetime in the layer, at most until the tile itself expires. Copies
 * of a stale tile may be used for `staleClientSeconds`. An undefined `tile` sets no limit.
 */
export function clientLifetime(layer: Expiring, z: Zoom, tile: Aging | undefined, nowMs: number): Lifetime {
  const wanted = valueAt(layer.expireClientSeconds, z);
  if (wanted === "no-cache") return wanted;
  if (tile === undefined) return wanted > 0 ? wanted : undefined;
  const limit = limitOf(layer, z, tile, nowMs);
  // Without a header a cache chooses a lifetime itself (RFC 9111, 4.2.2), which must not happen for a stale tile.
  if (isStale(tile)) return limit === 0 ? "no-cache" : wanted > 0 ? Math.min(wanted, limit) : limit;
  return wanted > 0 ? Math.min(wanted, limit) : undefined;
}

/** Returns the lifetime in shared caches of a CDN. Undefined for a secured layer, whose tiles must not be shared. */
export function cdnLifetime(layer: Expiring, z: Zoom, tile: Aging | undefined, nowMs: number): Lifetime {
  const wanted = layer.expireCdnSeconds;
  if (wanted === undefined || layer.secured) return undefined;
  if (tile === undefined) return wanted;
  const limit = limitOf(layer, z, tile, nowMs);
  return limit === 0 && isStale(tile) ? "no-cache" : Math.min(wanted, limit);
}

/** Returns the shortest of lifetimes. A picture without a header of its own leaves the whole picture without one. */
export function shortest(lifetimes: readonly Lifetime[]): Lifetime {
  if (lifetimes.includes("no-cache")) return "no-cache";
  const seconds = lifetimes.flatMap((lifetime) => (typeof lifetime === "number" ? [lifetime] : []));
  return seconds.length < lifetimes.length ? undefined : Math.min(...seconds);
}

/** Returns the headers of both lifetimes. Empty if they have no directives. */
export function cacheHeaders(client: Lifetime, cdn: Lifetime, secured: boolean): readonly string[] {
  const directives = [
    ...(client === undefined ? [] : client === "no-cache" ? [client] : [`max-age=${client}`, "must-revalidate"]),
    ...(secured ? ["private"] : []),
  ];
  return [
    ...(directives.length === 0 ? [] : ["Cache-Control", directives.join(", ")]),
    ...(cdn === undefined ? [] : ["CDN-Cache-Control", cdn === "no-cache" ? cdn : `max-age=${cdn}`]),
  ];
}
