import type { TileRect, TileX, TileY } from "../grid/grid-set.ts";
import type { FormatName, TileSet } from "../layer/tile-set.ts";
import type { TileReport } from "../ledger/cells/cell-writers.ts";
import type { TraceContext } from "../lib/http/trace-context.ts";
import type { FailureClass } from "../source/source.ts";
import type { Leave } from "./admission.ts";

/** One metatile to render and store. Coordinator, server and renderers send orders to each other. */
export interface RenderOrder {
  readonly tileSet: TileSet;
  /** The MIME types of further tile sets that are encoded from the same picture. The same tiles of each are stored. */
  readonly beside?: readonly FormatName[];
  /** All values of the layer's filters; empty for the defaults. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The tiles to render, inside the layer's coverage. */
  readonly rect: TileRect;
  /**
   * One byte per tile of the rectangle, row by row from the lower left: 1 if the tile is to be stored. Null: all tiles
   * are stored.
   */
  readonly wanted: Uint8Array | null;
  /**
   * A time, ms since 1970. Tiles written before it were truncated softly, so a tile that is rendered unchanged gets a
   * new time.
   */
  readonly expiredBeforeMs?: number;
  /** Whether the renderer reports the written tiles with their digests. */
  readonly watched?: true;
  /** Whether a tile that is rendered unchanged gets a new time even if tiles do not expire. */
  readonly renewed?: true;
  /** A time, ms since 1970. The order must not join a render that began at or before it. */
  readonly sinceMs?: number;
  /**
   * Set if the server knows of no stored tile of the order, so that the renderer does not compare its tiles with stored
   * tiles.
   */
  readonly isNew?: true;
  /** The node of a cluster that requests a user's tile. That node renders the tile if it can. */
  readonly near?: string;
  /** The trace of the request of the user who missed the tile. */
  readonly trace?: TraceContext;
  /**
   * The job's reservation under which the tiles are stored. The orders of a batch share one reservation. Absent:
   * nothing may be stored.
   */
  readonly leave?: Leave;
}

/**
 * Returns whether an order stores a tile of its rectangle.
 * @param wanted as in the order
 */
export const isWanted = (wanted: Uint8Array | null, rect: TileRect, x: TileX, y: TileY): boolean =>
  wanted === null || wanted[(y - rect.minY) * (rect.maxX - rect.minX + 1) + (x - rect.minX)] === 1;

/** A metatile with all tile sets that one render of it fills. */
export type FilledMetatile = Pick<RenderOrder, "tileSet" | "beside" | "rect">;

/** Returns the tile sets that an order fills, beginning with its `tileSet`. */
export const tileSetsOf = ({ tileSet, beside = [] }: Omit<FilledMetatile, "rect">): readonly TileSet[] =>
  beside.length === 0 ? [tileSet] : [tileSet, ...beside.map((format) => ({ ...tileSet, format }))];

/** A tile that was written, or that the store already had unchanged. */
export interface WrittenTile extends TileReport {
  /** A digest of the bytes. Present only if the order was watched. */
  readonly digest?: string;
}

/**
 * How long, in ms, a batch of one job may use its connection and its renderer before other requests have their turn.
 */
export const BATCH_MS = 100;

export interface RenderFailure {
  readonly kind: "failed";
  readonly failure: FailureClass;
  /** The upstream's message, without its address or credentials. */
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  /** Set if the same request would fail again. */
  readonly isPermanent?: true;
  /**
   * The time in ms since the upstream's last good answer to any request. Absent if there was no good answer, or if the
   * outcome belongs to a batch.
   */
  readonly answeredMsAgo?: number;
}

/**
 * The outcome of a render for a requester. `Done` are the outcomes of a metatile that was not refused and did not fail.
 */
export type RenderOutcome<Done = RenderedForJob> = (
  | Done
  | RenderFailure
  /** A reload has removed the layer since the request arrived. */
  | { readonly kind: "layer_removed" }
  /** The requester's signal was aborted. */
  | { readonly kind: "cancelled" }
) &
  Partial<RenderMeasures>;

/**
 * The values that a renderer measures of each render, and a job counts: also if the render failed or was not stored.
 */
export interface RenderMeasures {
  /** The time in ms that the upstream took for the picture. */
  readonly upstreamMs: number;
}
export const NO_MEASURES: RenderMeasures = { upstreamMs: 0 };
export const measuresOf = ({ upstreamMs }: RenderMeasures): RenderMeasures => ({ upstreamMs });

type RenderedForJob =
  /**
   * `bytes` is the size of the written tiles.
   * `unchanged` lists the tiles that the store already had unchanged. `written` is present if the order was watched.
   * `hasNoTile`: the upstream has answered that it has no tile, and the store contains marks of this answer.
   */
  | {
      readonly kind: "stored";
      readonly bytes: number;
      readonly unchanged: readonly { readonly x: TileX; readonly y: TileY }[];
      readonly written?: readonly WrittenTile[];
      readonly hasNoTile?: true;
    }
  /** The layer was truncated during the render, so the tiles were not stored. */
  | { readonly kind: "stale" }
  /** The metatile was rendered, but the store had no space for it. */
  | { readonly kind: "full"; readonly reason: string }
  /** The metatile was rendered, but the store, or the layer's part of it, cannot be written at present. */
  | { readonly kind: "store_away"; readonly reason: string };
