import { isNoTileMark } from "../layer/no-tile-mark.ts";
import { waitSeconds } from "../lib/time/wait-seconds.ts";
import type { RenderFailure, RenderOutcome } from "../render/render-order.ts";
import type { PermitRefusal } from "../render/upstream/upstream-limit.ts";
import type { RenderedForUser } from "../render/user-renders.ts";
import { type Question, UPSTREAM_HAS_NONE } from "../source/source.ts";
import type { ServedTile, TileFailure, TileOutcome } from "./tile-reader.ts";

const REFUSED: Readonly<Record<PermitRefusal["why"], string>> = {
  down: "The map server is down.",
  queue_full: "Too many requests wait for the map server.",
  queue_slow: "The map server is too slow for the number of waiting requests.",
};

export const NOT_CACHED: TileFailure = {
  code: "not_cached",
  message: "No fresh tile is stored, and the request accepts only a stored tile (Cache-Control: only-if-cached).",
};

/** Returns the answer for a stored tile. For a mark, the answer is that the upstream has no tile. */
export const outcomeOf = (tile: ServedTile): TileOutcome =>
  isNoTileMark(tile.bytes)
    ? { kind: "failure", failure: noTile(UPSTREAM_HAS_NONE), mark: tile }
    : { kind: "tile", tile };

const noTile = (why: string): TileFailure => ({ code: "no_tile", message: `There is no tile here: ${why}` });

export const STORE_AWAY: TileFailure = {
  code: "store_unavailable",
  message: "The store of the tiles is away.",
  retryAfterSeconds: 5,
};

/** Describes what a map server failed to do, by the kind of request. */
const UNDONE: Readonly<Record<"tile" | Question["kind"], string>> = {
  tile: "render the tile",
  feature_info: "answer GetFeatureInfo",
  legend: "render the legend",
  mask: "render the raster",
};

/** Returns the user's answer when the upstream did not return what was requested. */
export function failureOf(
  rendered: Exclude<RenderOutcome<RenderedForUser>, { readonly kind: "rendered" | "stored" }>,
  asked: keyof typeof UNDONE = "tile",
): TileFailure {
  switch (rendered.kind) {
    case "refused":
      return {
        code: "upstream_busy",
        message: REFUSED[rendered.why],
        retryAfterSeconds: rendered.retryAfterSeconds,
      };
    case "remembered": {
      const failure = upstreamFailure(rendered.failure, asked);
      // The upstream's `Retry-After` may be longer.
      const wait = Math.max(rendered.retryAfterSeconds, failure.retryAfterSeconds ?? 0);
      return { ...failure, retryAfterSeconds: wait };
    }
    case "layer_removed":
      return { code: "layer_removed", message: "The layer has been removed." };
    case "cancelled":
      return { code: "shutting_down", message: "The server is shutting down.", retryAfterSeconds: 1 };
    case "failed":
      return upstreamFailure(rendered, asked);
  }
}

function upstreamFailure({ failure, message, retryAfterMs }: RenderFailure, asked: keyof typeof UNDONE): TileFailure {
  if (failure === "timeout")
    return { code: "upstream_timeout", message: `The map server did not answer in time: ${message}` };
  if (failure === "no_tile") return noTile(message);
  if (failure === "busy") {
    return {
      code: "upstream_busy",
      message: `The map server is busy: ${message}`,
      retryAfterSeconds: waitSeconds(retryAfterMs ?? 1000),
    };
  }
  return { code: "upstream_failed", message: `The map server did not ${UNDONE[asked]}: ${message}` };
}
