import { rectCount, type TileRect } from "../../grid/grid-set.ts";
import { formatsBeside, type Layer } from "../../layer/layer.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Reservation } from "../../quota/reservations.ts";
import type { Admission, StoredSize } from "../../render/admission.ts";
import type { ActiveJob } from "../active/active-job.ts";

/** The part of the quota that seeds use. */
export interface SeedReservations {
  /** Returns the bytes that the disk allocates for a tile of this size in a layer. */
  allocated(bytes: number, layer: LayerName): number;
  /** Returns an empty reservation. The caller must release it. */
  begin(layer: LayerName): Reservation;
  /** Reserves a size if it fits without an eviction. */
  tryReserve(reservation: Reservation, size: StoredSize): boolean;
  /** Reserves a size and evicts tiles for it if necessary. A size of 0 checks whether there is any space. */
  reserve(reservation: Reservation, size: StoredSize): Promise<Admission>;
}

/**
 * The assumed size of a tile before any tile is stored, and the number of tiles with which this assumption is weighted
 * in the mean.
 */
const USUAL_TILE_BYTES = 32 * 1024;
const USUAL_TILES = 16;
/** The sizes of tiles in a batch vary. A batch that exceeds the estimate costs one more request to the quota. */
const MARGIN = 1.5;

/** Estimates the growth of the store by a batch of metatiles, from the tiles that the job has stored so far. */
export function expectedSize(
  { tally, request }: Pick<ActiveJob, "tally" | "request">,
  layer: Layer,
  run: readonly { readonly metatile: { readonly rect: TileRect } }[],
  allocated: SeedReservations["allocated"],
): StoredSize {
  const { stored, bytes } = tally.sum;
  const mean = (Number(bytes) + USUAL_TILES * USUAL_TILE_BYTES) / (Number(stored) + USUAL_TILES);
  const large = Math.ceil(mean * MARGIN);
  const formats = request.format === null ? 1 : 1 + formatsBeside(layer, request.format).length;
  const files = formats * run.reduce((sum, { metatile }) => sum + Number(rectCount(metatile.rect)), 0);
  return { bytes: files * large, allocated: files * allocated(large, layer.name), files };
}
