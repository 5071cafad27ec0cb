import type { FormatName, TileSet } from "../layer/tile-set.ts";
import { defined } from "../lib/defined.ts";
import { SourceError } from "../source/source.ts";
import {
  type FilledMetatile,
  measuresOf,
  type RenderFailure,
  type RenderOrder,
  type RenderOutcome,
  tileSetsOf,
  type WrittenTile,
} from "./render-order.ts";
import type { StoredTiles, StoreFailure } from "./renderer/store-tiles.ts";
import type { FailedRequest, RendererResult } from "./renderers.ts";
import type { Refused } from "./user-renders.ts";

export const CANCELLED = { kind: "cancelled" } as const;

export const LAYER_REMOVED = { kind: "layer_removed" } as const;

export const RENDERER_ENDED: RenderFailure = {
  kind: "failed",
  failure: "store",
  message: "the renderer died",
  retryAfterMs: undefined,
};

/** Returns the part of a failure that is reported to users and jobs. */
export const toFailure = ({
  failure,
  message,
  retryAfterMs,
  isPermanent,
}: Omit<RenderFailure, "kind">): RenderFailure => ({
  kind: "failed",
  failure,
  message,
  retryAfterMs,
  ...defined({ isPermanent }),
});

/**
 * Converts a SourceError to a failed request.
 * @throws any other error
 */
export function failedRequest(error: unknown, upstreamMs: number): FailedRequest {
  if (!(error instanceof SourceError)) throw error;
  const { failure, message, retryAfterMs, isPermanent } = error;
  return { kind: "failed", failure, message, retryAfterMs, upstreamMs, ...(isPermanent ? { isPermanent } : {}) };
}

/** Returns whether a render of an order fills a format. */
export const fills = ({ tileSet, beside = [] }: RenderOrder, format: FormatName): boolean =>
  tileSet.format === format || beside.includes(format);

/** Returns the metatile and tile sets that an order fills. */
export const filledMetatile = ({ tileSet, beside, rect }: RenderOrder): FilledMetatile =>
  beside === undefined ? { tileSet, rect } : { tileSet, beside, rect };

/**
 * Converts the result of a render to the outcome for a job.
 * @param order the job's order
 * @param rendered the order of the render, which the job may have joined
 */
export function toOutcome(order: RenderOrder, rendered: RenderOrder, result: RendererResult | Refused): RenderOutcome {
  const outcome = outcomeOf(order, rendered, result);
  return result.kind === "rendered" || result.kind === "failed" ? { ...outcome, ...measuresOf(result) } : outcome;
}

function outcomeOf(
  { watched, tileSet }: RenderOrder,
  rendered: RenderOrder,
  result: RendererResult | Refused,
): RenderOutcome {
  switch (result.kind) {
    case "rendered": {
      const written = writtenIn(tileSet.format, rendered, result);
      if (result.refused === true) return { kind: "full", reason: "there is no room for it in the store" };
      if (result.stale) return { kind: "stale" };
      if (result.storeFailure !== undefined) return notStored(result.storeFailure);
      return {
        kind: "stored",
        bytes: written.reduce((sum, tile) => sum + (tile.unchanged === undefined ? tile.bytes : 0), 0),
        unchanged: written.flatMap(({ unchanged, x, y }) => (unchanged === undefined ? [] : [{ x, y }])),
        ...(watched === true ? { written } : {}),
        ...(result.hasNoTile === true ? { hasNoTile: true } : {}),
      };
    }
    case "failed":
      return toFailure(result);
    case "cancelled":
    case "refused":
      return CANCELLED;
    case "lost":
      return RENDERER_ENDED;
  }
}

/** Returns the outcome of a render whose tiles the store did not take. */
function notStored({ code, message }: StoreFailure): RenderOutcome {
  switch (code) {
    case "full":
      return { kind: "full", reason: message };
    case "read_only":
    case "unavailable":
      return { kind: "store_away", reason: message };
    case "corrupt":
      return toFailure({ failure: "store", message, retryAfterMs: undefined });
  }
}

/** Returns the tiles that a render wrote in one of its formats. */
function writtenIn(
  format: FormatName,
  { tileSet, beside = [] }: RenderOrder,
  { written, writtenBeside = [] }: StoredTiles,
): readonly WrittenTile[] {
  return tileSet.format === format ? written : (writtenBeside[beside.indexOf(format)] ?? []);
}

/** Groups the written tiles by tile set. Most orders of a batch share one tile set. */
export function writtenByTileSet(
  orders: readonly RenderOrder[],
  results: readonly RendererResult[],
): Map<TileSet, WrittenTile[]> {
  const byTileSet = new Map<TileSet, WrittenTile[]>();
  for (const [i, result] of results.entries()) {
    const order = orders[i];
    if (order === undefined || result.kind !== "rendered") continue;
    for (const tileSet of tileSetsOf(order)) {
      const written = writtenIn(tileSet.format, order, result);
      const known = byTileSet.get(tileSet);
      if (known === undefined) byTileSet.set(tileSet, [...written]);
      else known.push(...written);
    }
  }
  return byTileSet;
}
