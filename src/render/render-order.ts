import type { TileRect } from "../grid/grid-set.ts";
import type { Fingerprint } from "../image/sight.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { TraceContext } from "../lib/trace-context.ts";
import type { FailureClass } from "../source/source.ts";
import type { Leave } from "./admission.ts";

/** One metatile to render and keep: what front, renderers and coordinator send one another. */
export interface RenderOrder {
  readonly tileSet: TileSet;
  /** MIME types of other tile sets that are kept of the same rendering, the same tiles of each. */
  readonly beside?: readonly string[];
  /** All values of the layer's filters; empty for the defaults. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The tiles to render, inside the layer's coverage. */
  readonly rect: TileRect;
  /** 1 for each tile of the rectangle to keep, row by row from the lower left; null: all. */
  readonly wanted: Uint8Array | null;
  /** Tiles written before this have been truncated softly, ms since 1970: one that comes out the same gets a new time. */
  readonly expiredBeforeMs?: number;
  /** The tiles written are told with their digests. */
  readonly watched?: true;
  /** A tile that is kept as it is rendered is as if written now, whether tiles expire or not. */
  readonly renewed?: true;
  /** A picture that was asked for before will not do, ms since 1970. */
  readonly sinceMs?: number;
  /** None of the tiles to keep is kept now, as far as is known: there is nothing to compare them with. */
  readonly isNew?: true;
  /** Of the user who missed it. */
  readonly trace?: TraceContext;
  /** The reservation under which its tiles are stored, of a job; those of a batch share one. Absent: nothing may be stored. */
  readonly leave?: Leave;
}

/** Whether an order for a rectangle keeps one of its tiles. `wanted`: as in the order. */
export const isWanted = (wanted: Uint8Array | null, rect: TileRect, x: number, y: number): boolean =>
  wanted === null || wanted[(y - rect.minY) * (rect.maxX - rect.minX + 1) + (x - rect.minX)] === 1;

/** A metatile with all that a render of it fills. */
export type FilledMetatile = Pick<RenderOrder, "tileSet" | "beside" | "rect">;

/** The tile sets that an order fills, its own first. */
export const tileSetsOf = ({ tileSet, beside = [] }: Omit<FilledMetatile, "rect">): readonly TileSet[] =>
  beside.length === 0 ? [tileSet] : [tileSet, ...beside.map((format) => ({ ...tileSet, format }))];

/** A tile that was written, or found to be kept as it was rendered. `replaced`: bytes of the one before, undefined when there was none. */
export interface WrittenTile {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly bytes: number;
  readonly replaced: number | undefined;
  /** The store held the very same bytes: they were left as they are, or only their time was renewed. Absent: written. */
  readonly unchanged?: "left" | "renewed";
  /** It was written, and is of one colour; not known of what is kept as the upstream rendered it. */
  readonly uniform?: true;
  /** Equal for equal bytes; only where the order was watched. */
  readonly digest?: string;
  /** Where the order was watched by a guard that looks at pictures. */
  readonly fingerprint?: Fingerprint;
}

/** How long one connection, and one renderer, works for one job before others have their turn, ms. */
export const BATCH_MS = 100;

export interface RenderFailure {
  readonly kind: "failed";
  readonly failure: FailureClass;
  /** The upstream's own words, without its address or credentials. */
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  /** How long ago the upstream last answered anybody as it should; absent: never, or of a run. */
  readonly answeredMsAgo?: number;
}

export type RenderOutcome =
  /**
   * `bytes`: of the tiles that were written. `upstreamMs`: what their picture took. `unchanged`: those that were kept
   * already, as rendered. `written`: where the order was watched.
   */
  | {
      readonly kind: "stored";
      readonly bytes: number;
      readonly upstreamMs: number;
      readonly unchanged: readonly { readonly x: number; readonly y: number }[];
      readonly written?: readonly WrittenTile[];
    }
  /** The layer was truncated while this was rendered: rendered, but not kept. */
  | { readonly kind: "stale" }
  /** Rendered, but the store had no room for it. */
  | { readonly kind: "full"; readonly reason: string }
  /** Rendered, but the store, or the layer's part of it, cannot be written at the moment. */
  | { readonly kind: "store_away"; readonly reason: string }
  | RenderFailure
  | { readonly kind: "cancelled" };

/** What jobs ask of the server. */
export interface RenderGate {
  /** Renders for a job, after the users; the tiles written reach the ledger before this resolves. */
  render(order: RenderOrder, signal: AbortSignal): Promise<RenderOutcome>;
  /**
   * As `render`, of several metatiles of a layer one after the other, on one connection. It ends with the first that is not
   * stored, and after about `RUN_MS`: as many outcomes as it came to, none at least.
   */
  renderBatch(orders: readonly RenderOrder[], signal: AbortSignal): Promise<readonly RenderOutcome[]>;
  /**
   * Starts a new generation of a layer: once resolved, no render begun before can be kept any more, all that were written
   * are in the ledger, the memory tier holds nothing of the layer, and no render of it begins until `resume`.
   */
  pause(layer: string): Promise<void>;
  resume(layer: string): void;
  /** Ends all batches: once resolved, none that was begun before stores anything more, and what they stored is in the ledger. */
  endRuns(): Promise<void>;
  /** `pause` and `resume` at once, for a layer of which no render is going on that is to be kept. */
  renew(layer: string): void;
  /** Starts a new generation of a layer and keeps what there is: once resolved, no render begun before can be kept any more. */
  overtake(layer: string): Promise<void>;
  /** Tiles of a layer have just been truncated: for people who wonder where they are. */
  truncated(layer: string): void;
  /** Empties the memory tier of a layer whose tiles have just been deleted one by one. */
  forget(layer: string): Promise<void>;
  /** Reclaims what drops left in the store, in a process that gives way to users. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Tiles of a layer that were written before a time have expired, ms since 1970; 0: none but by their age. */
  expireBefore(layer: string, beforeMs: number): void;
  /** Tiles of a rectangle have been evicted: the memory tier shall not serve what the store no longer has. */
  evicted(tileSet: TileSet, rect: TileRect): void;
}
