import type { Composed, Composition } from "../image/compose.ts";
import type { FailureClass, Question, UpstreamDocument } from "../source/source.ts";
import type { DrawOrder } from "./draw.ts";
import type { UserRender } from "./missed-tile-first.ts";
import type { Painting } from "./paint.ts";

/** What a painter answers. */
export type PaintResult =
  /** `processorMs`: what the painter has taken of a processor since it told that last; of a run nobody asks it. */
  | ({ readonly kind: "painted"; readonly processorMs?: number } & Painting)
  | {
      readonly kind: "failed";
      readonly failure: FailureClass;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
      readonly upstreamMs: number;
    }
  | { readonly kind: "cancelled" }
  /** The painter died: what it wrote last is not known. */
  | { readonly kind: "lost" };

/** A user who waits for a render. */
export interface AskingUser extends UserRender {
  /**
   * Answers with the number of the reservation under which the tiles are stored, or undefined when they may not be, and never
   * rejects. Undefined: that of the order.
   */
  readonly reservation: Promise<number | undefined> | undefined;
}

/** The painters, as the front sees them. */
export interface Painters {
  /** For a user the tiles are reported as they are stored, the missed one first. */
  paint(order: DrawOrder, generation: number, user: AskingUser | undefined, signal: AbortSignal): Promise<PaintResult>;
  /**
   * For a job, one after the other until one is not stored, or `RUN_MS` have gone: as many results as it came to. Ended by
   * `settle`, too.
   */
  paintRun(orders: readonly DrawOrder[], generation: number, signal: AbortSignal): Promise<readonly PaintResult[]>;
  /**
   * From now on nothing of the layer is kept that was drawn under an older generation. Resolves once no painter is inside
   * a store phase that began before, and all of those have been told.
   */
  settle(layer: string, generation: number): Promise<void>;
  /** Ends with the signal. */
  ask(layer: string, question: Question, signal: AbortSignal): Promise<InfoResult>;
  /** Reclaims what drops left in the store. @throws Error when the painter died */
  sweep(signal: AbortSignal): Promise<void>;
  /** Ends with the signal. @throws Error when the painter died, or the signal's reason */
  compose(composition: Composition, signal: AbortSignal): Promise<Composed | MapRefused>;
}

/** So many maps are being put together that another one would wait too long. */
export interface MapRefused {
  readonly kind: "refused";
  readonly retryAfterSeconds: number;
}

/** What a painter answers to a question. */
export type InfoResult =
  | { readonly kind: "info"; readonly info: UpstreamDocument }
  | Extract<PaintResult, { readonly kind: "failed" | "cancelled" | "lost" }>;
