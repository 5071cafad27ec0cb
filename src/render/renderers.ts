import type { Composed, Composition } from "../image/compose.ts";
import type { FailureClass, Question, UpstreamDocument } from "../source/source.ts";
import type { UserRender } from "./missed-tile-first.ts";
import type { RenderedMetatile } from "./render-metatile.ts";
import type { RenderOrder } from "./render-order.ts";

/** What a renderer answers. */
export type RendererResult =
  /** `processorMs`: what the renderer has taken of a processor since it told that last; of a run nobody asks it. */
  | ({ readonly kind: "rendered"; readonly processorMs?: number } & RenderedMetatile)
  | {
      readonly kind: "failed";
      readonly failure: FailureClass;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
      readonly upstreamMs: number;
    }
  | { readonly kind: "cancelled" }
  /** The renderer died: what it wrote last is not known. */
  | { readonly kind: "lost" };

/** A user who waits for a render. */
export interface AskingUser extends UserRender {
  /**
   * Answers with the number of the reservation under which the tiles are stored, or undefined when they may not be, and never
   * rejects. Undefined: that of the order.
   */
  readonly reservation: Promise<number | undefined> | undefined;
}

/** The renderers, as the server sees them. */
export interface Renderers {
  /** For a user the tiles are reported as they are stored, the missed one first. */
  renderMetatile(
    order: RenderOrder,
    generation: number,
    user: AskingUser | undefined,
    signal: AbortSignal,
  ): Promise<RendererResult>;
  /**
   * For a job, one after the other until one is not stored, or `RUN_MS` have gone: as many results as it came to. Ended by
   * `settle`, too.
   */
  renderBatch(
    orders: readonly RenderOrder[],
    generation: number,
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]>;
  /**
   * From now on nothing of the layer is kept that was rendered under an older generation. Resolves once no renderer is inside
   * a store phase that began before, and all of those have been told.
   */
  settle(layer: string, generation: number): Promise<void>;
  /** Ends with the signal. */
  ask(layer: string, question: Question, signal: AbortSignal): Promise<InfoResult>;
  /** Reclaims what drops left in the store. @throws Error when the renderer died */
  sweep(signal: AbortSignal): Promise<void>;
  /** Ends with the signal. @throws Error when the renderer died, or the signal's reason */
  compose(composition: Composition, signal: AbortSignal): Promise<Composed | MapRefused>;
}

/** So many maps are being put together that another one would wait too long. */
export interface MapRefused {
  readonly kind: "refused";
  readonly retryAfterSeconds: number;
}

/** What a renderer answers to a question. */
export type InfoResult =
  | { readonly kind: "info"; readonly info: UpstreamDocument }
  | Extract<RendererResult, { readonly kind: "failed" | "cancelled" | "lost" }>;
