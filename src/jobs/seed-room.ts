import { rectCount, type TileRect } from "../grid/grid-set.ts";
import { formatsBeside, type Layer } from "../layer/layer.ts";
import type { Reservation } from "../quota/reservations.ts";
import type { Admission, StoredSize } from "../render/admission.ts";
import type { ActiveJob } from "./active-job.ts";

/** What seeds ask of the quota. */
export interface SeedRoom {
  /** A reservation that holds nothing yet. Its holder releases it. */
  begin(layer: string): Reservation;
  /** Reserves a size if it fits as the store is now. */
  tryReserve(reservation: Reservation, size: StoredSize): boolean;
  /** Reserves a size after what has to go for it has been evicted; of a size of 0: whether there is room for something. */
  reserve(reservation: Reservation, size: StoredSize): Promise<Admission>;
}

/** The size of a tile of which nothing is known, and how many such tiles an estimate begins with. */
const USUAL_TILE_BYTES = 32 * 1024;
const USUAL_TILES = 16;
/** Tiles of one batch differ: one that is larger than the estimate costs a question. */
const MARGIN = 1.5;

/** About how much a batch of metatiles adds to the store, by the tiles that its job has stored so far. */
export function expectedSize(
  { counts, request }: Pick<ActiveJob, "counts" | "request">,
  layer: Layer,
  run: readonly { readonly metatile: { readonly rect: TileRect } }[],
): StoredSize {
  const { stored, bytes } = counts.sum;
  const mean = (Number(bytes) + USUAL_TILES * USUAL_TILE_BYTES) / (Number(stored) + USUAL_TILES);
  const formats = request.format === null ? 1 : 1 + formatsBeside(layer, request.format).length;
  const files = formats * run.reduce((sum, { metatile }) => sum + Number(rectCount(metatile.rect)), 0);
  return { bytes: Math.ceil(files * mean * MARGIN), files };
}
