import type { TileIndex } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";
import type { LayerName } from "../layer/tile-set.ts";
import { type MethodsOf, method } from "../lib/process/method-table.ts";
import type { Question } from "../source/source.ts";
import type { RenderFailure, RenderOrder, RenderOutcome } from "./render-order.ts";
import type { RenderedTile } from "./renderer/store-tiles.ts";
import type { InfoResult } from "./renderers.ts";
import type { PermitRefusal } from "./upstream/upstream-limit.ts";

/** The upstream takes no further render for a user now. */
export type Refused = { readonly kind: "refused" } & PermitRefusal;

/** The outcome of a render for a user. */
export type RenderedForUser =
  /** `isStale`: a newer generation of the layer has begun, so the memory tiers must not take the tiles. */
  | { readonly kind: "rendered"; readonly tiles: readonly RenderedTile[]; readonly isStale?: true }
  /** The tile has just been stored. */
  | { readonly kind: "stored" }
  | Refused
  /**
   * The metatile failed, just now or shortly before. The upstream gets no further request for the metatile before
   * `retryAfterSeconds` have passed.
   */
  | {
      readonly kind: "remembered";
      readonly failure: RenderFailure;
      readonly retryAfterSeconds: number;
      readonly failed: "just now" | "before";
    };

/** Methods of the server that the tile cache calls for users. */
export const USER_RENDERS = {
  /**
   * Renders for a user who missed one tile of the metatile. If `gone` fires before a renderer has the order and no
   * other user waits for the render, the render is cancelled. After that moment the render continues, because its tiles
   * serve the next request.
   * @param client as in `Requester`
   */
  renderForUser:
    method<
      (
        order: RenderOrder,
        missed: TileIndex,
        client: string,
        gone: AbortSignal,
      ) => Promise<RenderOutcome<RenderedForUser>>
    >("until"),
  /**
   * Sends a question, which requests something other than tiles, to the upstream. The question takes a connection of
   * the upstream like a user's render, and ends when `gone` fires.
   */
  queryUpstream:
    method<(layer: Layer, question: Question, client: string, gone: AbortSignal) => Promise<UserAnswer>>("until"),
  /** Returns the state of the renders of a metatile, for diagnosis. */
  renderStatus: method<(layer: LayerName, metatile: MetatileAddress | undefined) => Promise<RenderStatus>>("call"),
};
export type UserRenders = MethodsOf<typeof USER_RENDERS>;

export type MetatileAddress = Pick<RenderOrder, "tileSet" | "rect">;

export type UserAnswer = Extract<InfoResult, { readonly kind: "info" }> | RenderOutcome<Refused>;

/** The state of the renders of a metatile and its layer. */
export interface RenderStatus {
  readonly drawing: boolean;
  /**
   * The failure because of which the metatile is not requested until `untilMs`, ms since 1970. Undefined if there is no
   * such failure.
   */
  readonly failing: { readonly message: string; readonly untilMs: number } | undefined;
  /**
   * The time, ms since 1970, of the last truncation of the layer or a part of it. Undefined if it was not truncated
   * since the server started.
   */
  readonly truncatedMs: number | undefined;
}
