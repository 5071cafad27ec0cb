import type { TileIndex } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";
import type { Question } from "../source/source.ts";
import type { RenderFailure, RenderOrder } from "./render-order.ts";
import type { InfoResult } from "./renderers.ts";
import type { RenderedTile } from "./store-tiles.ts";
import type { Refused } from "./upstream-limit.ts";

export type UserRender =
  | { readonly kind: "rendered"; readonly tiles: readonly RenderedTile[] }
  /** The tile has just been stored. */
  | { readonly kind: "stored" }
  | ({ readonly kind: "refused" } & Refused)
  | RenderFailure
  /** It failed, just now or a moment ago, and is not asked for again before `retryAfterSeconds`. */
  | {
      readonly kind: "remembered";
      readonly failure: RenderFailure;
      readonly retryAfterSeconds: number;
      readonly asked: "just now" | "before";
    }
  /** A reload has removed the layer since the request came. */
  | { readonly kind: "layer_removed" }
  | { readonly kind: "cancelled" };

/** What whoever serves users asks for. */
export interface UserRenders {
  /**
   * Renders for a user who missed one tile of the metatile. When `gone` fires before the upstream has been asked, and nobody else
   * waits for it, it is not rendered; what has been asked for is worth keeping for the next. `client`: as of `Requester`.
   */
  renderForUser(order: RenderOrder, missed: TileIndex, client: string, gone: AbortSignal): Promise<UserRender>;
  /** Something beside tiles: one of the upstream's connections, as for any user. It ends with `gone`. */
  ask(layer: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer>;
  /** For people who wonder. */
  renderStatus(layer: string, metatile: Metatile | undefined): Promise<RenderStatus>;
}

export type Metatile = Pick<RenderOrder, "tileSet" | "rect">;

export type UserAnswer =
  | Extract<InfoResult, { readonly kind: "info" }>
  | Exclude<UserRender, { readonly kind: "rendered" | "stored" | "remembered" }>;

/** How it stands with the renders of a metatile and its layer. */
export interface RenderStatus {
  readonly drawing: boolean;
  /** Why it is not asked for at the moment; ms since 1970. */
  readonly failing: { readonly message: string; readonly untilMs: number } | undefined;
  /** When the layer or a part of it was truncated last, ms since 1970; undefined: not since the server started. */
  readonly truncatedMs: number | undefined;
}
