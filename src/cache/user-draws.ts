import type { TileIndex } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";
import type { Question } from "../source/source.ts";
import type { DrawFailure, DrawOrder } from "./draw.ts";
import type { Refused } from "./governor.ts";
import type { PaintedTile } from "./keep-tiles.ts";
import type { InfoResult } from "./painters.ts";

export type UserDraw =
  | { readonly kind: "painted"; readonly tiles: readonly PaintedTile[] }
  /** The tile has just been stored. */
  | { readonly kind: "stored" }
  | ({ readonly kind: "refused" } & Refused)
  | DrawFailure
  /** It failed, just now or a moment ago, and is not asked for again before `retryAfterSeconds`. */
  | {
      readonly kind: "remembered";
      readonly failure: DrawFailure;
      readonly retryAfterSeconds: number;
      readonly asked: "just now" | "before";
    }
  /** A reload has removed the layer since the request came. */
  | { readonly kind: "layer_removed" }
  | { readonly kind: "cancelled" };

/** What whoever serves users asks for. */
export interface UserDraws {
  /**
   * Draws for a user who missed one tile of the metatile. When `gone` fires before the upstream has been asked, and nobody else
   * waits for it, it is not drawn; what has been asked for is worth keeping for the next. `client`: as of `Requester`.
   */
  drawForUser(order: DrawOrder, missed: TileIndex, client: string, gone: AbortSignal): Promise<UserDraw>;
  /** Something beside tiles: one of the upstream's connections, as for any user. It ends with `gone`. */
  ask(layer: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer>;
  /** For people who wonder. */
  standing(layer: string, metatile: Metatile | undefined): Promise<DrawStanding>;
}

export type Metatile = Pick<DrawOrder, "tileSet" | "rect">;

export type UserAnswer =
  | Extract<InfoResult, { readonly kind: "info" }>
  | Exclude<UserDraw, { readonly kind: "painted" | "stored" | "remembered" }>;

/** How it stands with the draws of a metatile and its layer. */
export interface DrawStanding {
  readonly drawing: boolean;
  /** Why it is not asked for at the moment; ms since 1970. */
  readonly failing: { readonly message: string; readonly untilMs: number } | undefined;
  /** When the layer or a part of it was truncated last, ms since 1970; undefined: not since the server started. */
  readonly truncatedMs: number | undefined;
}
