import type { TileIndex, TileRect } from "../grid/grid-set.ts";
import type { LayerName, TileSet } from "../layer/tile-set.ts";
import { type MethodsOf, method } from "../lib/process/method-table.ts";
import type { Leave } from "./admission.ts";
import type { FilledMetatile, WrittenTile } from "./render-order.ts";

/** Methods of the coordinator that the server calls for renders. */
export const LEDGER_ACCESS = {
  /**
   * Opens the cells of a metatile of which a user missed a tile. Returns the reservation under which the tiles are
   * stored. Undefined if the store has no space, so that the tiles must not be stored.
   * @throws Error when the coordinator has ended
   */
  open: method<(order: FilledMetatile, missed: TileIndex) => Promise<Leave | undefined>>("call"),
  closeCells: method<(id: number) => void>("note"),
  /** Reports written tiles. `reservation` is the reservation under which the renderer stored the tiles. */
  wrote: method<(tileSet: TileSet, tiles: readonly WrittenTile[], reservation: number | undefined) => void>("note"),
  lost: method<(tileSet: TileSet, rect: TileRect) => void>("note"),
  /** Reports why the store did not take a rendered metatile of a layer. */
  notStored: method<(layer: LayerName, reason: string, who: "user" | "job") => void>("note"),
};
export type LedgerAccess = MethodsOf<typeof LEDGER_ACCESS>;
