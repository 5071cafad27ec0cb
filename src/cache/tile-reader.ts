import type { TileIndex } from "../grid/grid-set.ts";
import type { Parameters } from "../layer/filter/parameter-filter.ts";
import type { OfferedTiles } from "../layer/layer.ts";
import type { TileSet } from "../layer/tile-set.ts";

/** A request for a tile, which a protocol has checked to be well-formed and inside the layer's coverage. */
export interface TileRequest extends OfferedTiles {
  readonly parameters: Parameters;
  readonly index: TileIndex;
}

/** Returns the tile set of a requested tile. */
export const tileSetOf = ({ layer, subset, format, parameters }: TileRequest): TileSet => ({
  layer: layer.name,
  gridSet: subset.gridSet.id,
  format: format.mimeType,
  parametersId: parameters.id,
});

/** A tile, with the headers that do not change while it is cached. */
export interface ServedTile {
  readonly bytes: Uint8Array;
  /** A strong, quoted entity tag, computed from the bytes. */
  readonly etag: string;
  /** ms since 1970, whole seconds. */
  readonly modifiedMs: number;
  /** The same time in ms, not rounded. */
  readonly writtenMs: number;
  readonly cacheResult: "HIT" | "MISS";
  /** Why the request waited for the source (RFC 9211, 2.2). Undefined if it did not wait. */
  readonly forwarded: "miss" | "stale" | "bypass" | undefined;
  /** Set if the tile has expired, or was truncated softly. It is served until it has been rendered again. */
  readonly isStale?: true;
  /** `cut-off`: the serving node does not reach its lead, so the tile may have been truncated. */
  readonly detail?: "cut-off";
}

/** Why there is no tile or map. `http/errors.ts` maps every code to a status. */
export type TileFailureCode =
  | "no_tile" // the source reports that it has no tile; not an error, but a map has a hole there
  | "layer_removed"
  | "upstream_failed"
  | "upstream_timeout"
  | "upstream_busy" // the upstream is down or busy, or too many requests wait for it
  | "too_many_maps"
  | "damaged_tile" // a stored tile cannot be decoded
  | "store_unavailable" // the tile may be stored, but its store is unavailable
  | "not_cached" // the tile is not stored, and the user wants only a stored tile
  | "shutting_down"
  | "client_gone"; // no client receives this failure

/**
 * A request without a tile. The user gets the message, which contains neither the upstream's address nor credentials.
 */
export interface TileFailure {
  readonly code: TileFailureCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export type TileOutcome =
  | { readonly kind: "tile"; readonly tile: ServedTile }
  /** A request filter has refused the tile. A map has a hole there. */
  | { readonly kind: "filtered"; readonly filter: string; readonly debug: boolean }
  | {
      readonly kind: "failure";
      readonly failure: TileFailure;
      /** The stored mark behind the answer `no_tile`. It provides the headers. */
      readonly mark?: ServedTile;
    };

/** The user who sent a request. */
export interface Requester {
  /** Equal for users who share a turn, which are the users of one network address. */
  readonly client: string;
  /** Fires when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Whether the user wants only a stored tile, so that nothing is rendered. */
  readonly onlyIfCached?: boolean;
}

/** Returns the user of a request. Called only if the request may need a render, never for a fresh hit. */
export type RequesterOf = () => Requester;

/**
 * The read-through tile path, as the tile protocols use it. Every implementation passes `tile-reader.conformance.ts`.
 */
export interface TileReader {
  /**
   * Returns a tile, or why there is none.
   * - A fresh tile of a local store is answered without a promise, and without a call of `requester`.
   * - A tile that is not stored is rendered for the requester. A requester with `onlyIfCached` gets `not_cached`.
   * - An expired tile is served if its render fails.
   * - A render without a tile, and a store that is unavailable, are outcomes and not errors.
   * @throws faults of the server, such as a coordinator that has ended
   */
  read(request: TileRequest, requester: RequesterOf): TileOutcome | Promise<TileOutcome>;
}
