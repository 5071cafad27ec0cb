import { waitSeconds } from "../lib/wait-seconds.ts";
import type { DrawFailure } from "./draw.ts";
import type { Refused } from "./governor.ts";
import type { TileFailure } from "./tile-reader.ts";
import type { UserDraw } from "./user-draws.ts";

const REFUSED: Readonly<Record<Refused["why"], string>> = {
  down: "The map server is down.",
  queue_full: "Too many requests wait for the map server.",
  queue_slow: "The map server is too slow for all who wait for it.",
};

/** What a user is told when the upstream gave nothing (decisions 9). */
export function failureOf(
  drawn: Extract<UserDraw, { kind: "refused" | "remembered" | "layer_removed" | "cancelled" }> | DrawFailure,
): TileFailure {
  switch (drawn.kind) {
    case "refused":
      return {
        status: 503,
        message: REFUSED[drawn.why],
        retryAfterSeconds: drawn.retryAfterSeconds,
      };
    case "remembered": {
      const failure = upstreamFailure(drawn.failure);
      // An upstream may have asked for longer.
      const wait = Math.max(drawn.retryAfterSeconds, failure.retryAfterSeconds ?? 0);
      return { ...failure, retryAfterSeconds: wait };
    }
    case "layer_removed":
      return { status: 404, message: "The layer has been removed." };
    case "cancelled":
      return { status: 503, message: "The server is shutting down.", retryAfterSeconds: 1 };
    case "failed":
      return upstreamFailure(drawn);
  }
}

function upstreamFailure({ failure, message, retryAfterMs }: DrawFailure): TileFailure {
  if (failure === "timeout") return { status: 504, message: `The map server did not answer in time: ${message}` };
  if (failure === "no_tile") return { status: 404, isHole: true, message: `There is no tile here: ${message}` };
  if (failure === "busy") {
    return {
      status: 503,
      message: `The map server is busy: ${message}`,
      retryAfterSeconds: waitSeconds(retryAfterMs ?? 1000),
    };
  }
  return { status: 502, message: `The map server did not draw the tile: ${message}` };
}
