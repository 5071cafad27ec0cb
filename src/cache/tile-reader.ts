import type { TileIndex } from "../grid/grid-set.ts";
import type { TileFormat } from "../layer/format.ts";
import type { GridSubset, Layer } from "../layer/layer.ts";
import type { Parameters } from "../layer/parameter-filter.ts";
import type { TileSet } from "../layer/tile-set.ts";

/** A tile that a protocol has found to be well-formed and inside the layer's coverage. */
export interface TileRequest {
  readonly layer: Layer;
  readonly subset: GridSubset;
  readonly format: TileFormat;
  readonly parameters: Parameters;
  readonly index: TileIndex;
}

/** Returns the tile set that a requested tile belongs to. */
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
  /** The same time in exact ms. */
  readonly writtenMs: number;
  readonly cacheResult: "HIT" | "MISS";
  /** Why the request waited for the source (RFC 9211, 2.2); undefined: it did not. */
  readonly forwarded: "miss" | "stale" | "bypass" | undefined;
  /** True: the tile has expired, or was truncated softly, and is served until it has been rendered again. */
  readonly isStale?: true;
  /** `cut-off`: a node serves the tile that does not reach its lead, so it may have been truncated. */
  readonly detail?: "cut-off";
}

/** Why there is no tile or map. `http/errors.ts` maps every code to a status. */
export type TileFailureCode =
  | "no_tile" // the source knows that there is no tile, which is no error: a map has a hole there
  | "layer_removed"
  | "upstream_failed"
  | "upstream_timeout"
  | "upstream_busy" // the upstream is down or busy, or too many requests wait for it
  | "too_many_maps"
  | "damaged_tile" // a stored tile cannot be decoded
  | "store_unavailable" // the tile may be stored, but its store is away
  | "not_cached" // the tile is not stored, and the user wants no other
  | "shutting_down"
  | "client_gone"; // no client receives this failure

/** A request without a tile. The user gets the message, which contains neither the upstream's address nor credentials. */
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
      /** The stored mark that answers `no_tile`. It has the headers of a tile. */
      readonly mark?: ServedTile;
    };

/** The user who sent a request. */
export interface Requester {
  /** Equal for users who share a turn: those of one network address. */
  readonly client: string;
  /** Fires when the client has disconnected. */
  readonly gone: AbortSignal;
  /** True: the user wants a stored tile or none, so nothing is rendered. */
  readonly onlyIfCached?: boolean;
}

/** Names the user of a request that the stored tile does not answer for good. Not called for a hit. */
export type RequesterOf = () => Requester;

/** The read-through tile path as the tile protocols see it. A hit is answered without a promise. */
export interface TileReader {
  read(request: TileRequest, requester: RequesterOf): TileOutcome | Promise<TileOutcome>;
}
