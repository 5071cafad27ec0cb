import type { TileIndex } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";
import type { Question } from "../source/source.ts";
import type { RenderFailure, RenderOrder } from "./render-order.ts";
import type { RenderedTile } from "./renderer/store-tiles.ts";
import type { InfoResult } from "./renderers.ts";
import type { PermitRefusal } from "./upstream/upstream-limit.ts";

export type UserRender =
  /** `isStale`: a newer generation of the layer has begun, so no memory tier may take the tiles. */
  | { readonly kind: "rendered"; readonly tiles: readonly RenderedTile[]; readonly isStale?: true }
  /** The tile has just been stored. */
  | { readonly kind: "stored" }
  | ({ readonly kind: "refused" } & PermitRefusal)
  | RenderFailure
  /**
   * The metatile failed, just now or shortly before. The upstream gets no other request for the metatile before
   * `retryAfterSeconds`.
   */
  | {
      readonly kind: "remembered";
      readonly failure: RenderFailure;
      readonly retryAfterSeconds: number;
      readonly failed: "just now" | "before";
    }
  /** A reload has removed the layer since the request came. */
  | { readonly kind: "layer_removed" }
  | { readonly kind: "cancelled" };

/** Methods of the server that the tile cache calls for users. */
export interface UserRenders {
  /**
   * Renders for a user who missed one tile of the metatile. If `gone` fires before a renderer has the order and no
   * other user waits for the render, the render is cancelled. Later the render continues, as its tiles serve the next
   * request. `client`: as of `Requester`.
   */
  renderForUser(order: RenderOrder, missed: TileIndex, client: string, gone: AbortSignal): Promise<UserRender>;
  /**
   * Asks the upstream for something other than tiles. The question takes a connection of the upstream as a user's
   * render does, and ends with `gone`.
   */
  queryUpstream(layer: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer>;
  /** Returns the state of the renders of a metatile, for diagnosis. */
  renderStatus(layer: string, metatile: MetatileAddress | undefined): Promise<RenderStatus>;
}

export type MetatileAddress = Pick<RenderOrder, "tileSet" | "rect">;

export type UserAnswer =
  | Extract<InfoResult, { readonly kind: "info" }>
  | Exclude<UserRender, { readonly kind: "rendered" | "stored" | "remembered" }>;

/** The state of the renders of a metatile and its layer. */
export interface RenderStatus {
  readonly drawing: boolean;
  /** The failure for which the metatile is not requested until `untilMs`, ms since 1970; undefined: there is none. */
  readonly failing: { readonly message: string; readonly untilMs: number } | undefined;
  /**
   * The time of the last truncation of the layer, or of a part of it, ms since 1970; undefined: none since the server
   * started.
   */
  readonly truncatedMs: number | undefined;
}
