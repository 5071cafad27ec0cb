import type { GridSetName, TileRect } from "../grid/grid-set.ts";
import type { LayerName, TileSet } from "../layer/tile-set.ts";
import { type MethodsOf, method } from "../lib/process/method-table.ts";
import type { RenderOrder, RenderOutcome } from "./render-order.ts";

/** Rectangles of a grid set whose data has changed. */
export interface ChangedRange {
  readonly gridSet: GridSetName;
  readonly rects: readonly TileRect[];
}

/** Methods of the server that the coordinator calls. */
export const RENDER_CONTROL = {
  /**
   * Renders for a job, after the renders for users. The written tiles are in the ledger before the promise resolves.
   */
  render: method<(order: RenderOrder, signal: AbortSignal) => Promise<RenderOutcome>>("until"),
  /**
   * Renders several metatiles of a layer one after the other on one connection. The batch ends with the first metatile
   * that is not stored, or after about `BATCH_MS`. Returns one outcome for each metatile that the batch reached,
   * possibly none.
   */
  renderBatch:
    method<(orders: readonly RenderOrder[], signal: AbortSignal) => Promise<readonly RenderOutcome[]>>("until"),
  /**
   * Starts a new generation of a layer, and blocks the layer until `unblock`: no render of the layer begins. When the
   * promise has resolved, no tile of an earlier render can be stored any more, the ledger contains all written tiles,
   * and the memory tiers contain no tile of the layer.
   */
  block: method<(layer: LayerName) => Promise<void>>("call"),
  unblock: method<(layer: LayerName) => void>("note"),
  /**
   * Ends all batches. When the promise has resolved, no batch that began before stores anything more, and the ledger
   * contains the tiles that the batches stored.
   */
  endBatches: method<() => Promise<void>>("call"),
  /** Returns the rectangles of a tile set that renderers are working on, without the tiles that are already stored. */
  inFlight: method<(tileSet: TileSet) => Promise<readonly TileRect[]>>("call"),
  /**
   * Starts a new generation of a layer and clears its memory tiers, without waiting for renderers. Only for a layer
   * without a render in progress whose tiles may be stored.
   */
  renew: method<(layer: LayerName) => void>("note"),
  /**
   * Starts a new generation of a layer without removing its stored tiles. When the promise has resolved, no tile of an
   * earlier render can be stored any more.
   */
  startGeneration: method<(layer: LayerName) => Promise<void>>("call"),
  /**
   * Records that the data of a layer has changed in some places. When the promise has resolved, no tile of these places
   * can be stored from a render that began before, and the ledger contains the tiles that such renders stored. Renders
   * of all other places go on.
   */
  outdate: method<(layer: LayerName, ranges: readonly ChangedRange[]) => Promise<void>>("call"),
  /** Records that tiles of a layer were just truncated, for `renderStatus`. */
  truncated: method<(layer: LayerName) => void>("note"),
  /** Clears the memory tiers and the remembered failures of a layer whose tiles were just deleted one by one. */
  clearLayer: method<(layer: LayerName) => Promise<void>>("call"),
  /** Reclaims the remains of truncations in the store, in a process of low priority. */
  sweep: method<(signal: AbortSignal) => Promise<void>>("until"),
  /**
   * Marks the tiles of a layer that were written before a time (ms since 1970) as expired. 0: tiles expire only by
   * their age.
   */
  expireBefore: method<(layer: LayerName, beforeMs: number) => void>("note"),
  /**
   * Removes the evicted tiles of a rectangle from the memory tiers, which must not serve tiles that the store no longer
   * has.
   */
  evicted: method<(tileSet: TileSet, rect: TileRect) => void>("note"),
};
export type RenderControl = MethodsOf<typeof RENDER_CONTROL>;
