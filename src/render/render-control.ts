import type { TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { RenderOrder, RenderOutcome } from "./render-order.ts";

/** Methods of the server that the coordinator calls. */
export interface RenderControl {
  /** Renders for a job, after the renders for users. The written tiles reach the ledger before this resolves. */
  render(order: RenderOrder, signal: AbortSignal): Promise<RenderOutcome>;
  /**
   * Renders several metatiles of a layer in sequence on one connection. The batch ends with the first metatile that is
   * not stored, or after about `BATCH_MS`. Returns one outcome for each metatile that the batch reached, possibly none.
   */
  renderBatch(orders: readonly RenderOrder[], signal: AbortSignal): Promise<readonly RenderOutcome[]>;
  /**
   * Starts a new generation of a layer and blocks the layer until `unblock`: no render of the layer begins. Once
   * resolved, no tile of an earlier render can be stored any more, the ledger has all tiles that were written, and the
   * memory tiers hold no tile of the layer.
   */
  block(layer: string): Promise<void>;
  unblock(layer: string): void;
  /**
   * Ends all batches. Once resolved, no batch that began before stores anything more, and the ledger has the tiles that
   * the batches stored.
   */
  endBatches(): Promise<void>;
  /** Returns the rectangles of a tile set that renderers have at the moment, without the tiles that are stored already. */
  inFlight(tileSet: TileSet): Promise<readonly TileRect[]>;
  /**
   * Starts a new generation of a layer and clears its memory tiers, without a wait for renderers. Only for a layer
   * without an in-flight render whose tiles are to be stored.
   */
  renew(layer: string): void;
  /**
   * Starts a new generation of a layer and keeps its stored tiles. Once resolved, no tile of an earlier render can be
   * stored any more.
   */
  startGeneration(layer: string): Promise<void>;
  /** Records that tiles of a layer have just been truncated, for `renderStatus`. */
  truncated(layer: string): void;
  /** Clears the memory tiers and the remembered failures of a layer whose tiles have just been deleted one by one. */
  clearLayer(layer: string): Promise<void>;
  /** Reclaims the space that truncations left in the store, in a process of low priority. */
  sweep(signal: AbortSignal): Promise<void>;
  /**
   * Marks the tiles of a layer that were written before a time as expired, ms since 1970. 0: tiles expire only by their
   * age.
   */
  expireBefore(layer: string, beforeMs: number): void;
  /**
   * Removes the evicted tiles of a rectangle from the memory tiers, which must not serve tiles that the store no longer
   * has.
   */
  evicted(tileSet: TileSet, rect: TileRect): void;
}
