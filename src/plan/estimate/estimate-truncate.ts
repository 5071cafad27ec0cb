import type { GridSetName, TileRect, Zoom } from "../../grid/grid-set.ts";
import { indexInSteps } from "../../grid/selection.ts";
import type { TileSelection } from "../../grid/tile-selection.ts";
import type { ParametersId } from "../../layer/tile-set.ts";
import type { KnownTileSet } from "../../ledger/ledger.ts";
import { addTo, emptySum, type Sum } from "../../ledger/tile-sets/tile-set-record.ts";
import type { TileStore } from "../../store/tile-store.ts";
import type { JobRequest } from "../job/job-request.ts";
import { combinationsOf } from "../parameters/combination.ts";
import { coversLevel, selectsStored } from "../parameters/truncate-scope.ts";
import type { Estimated, EstimateSources } from "./estimate.ts";
import { NO_GROWTH } from "./store-growth.ts";

/**
 * Estimates the tiles and bytes that a truncate frees. The number of stored tiles in its range is exact. If a level is
 * truncated only partly, their sizes are estimated by the mean size at that level. Yields while it counts blocks.
 */
export function* estimateTruncate(
  request: JobRequest,
  from: EstimateSources & { readonly store: Pick<TileStore, "parametersOf"> },
): Generator<undefined, Estimated> {
  const index = request.selection === undefined ? undefined : yield* indexInSteps(request.selection);
  const zooms = new Map<Zoom, Sum>();
  for (const { gridSet, rects } of request.ranges)
    for (const known of yield* tileSetsOf(request, gridSet, from))
      for (const rect of rects) {
        const sum = zooms.get(rect.z) ?? emptySum();
        zooms.set(rect.z, sum);
        addTo(sum, yield* removed(request, known, rect, index, from));
      }
  const all = emptySum();
  for (const sum of zooms.values()) addTo(all, sum);
  // Before all tiles are counted, the number of stored tiles is unknown.
  const keptOf = (tiles: bigint): Pick<Estimated["view"], "tiles" | "kept" | "missing"> =>
    from.isCounted ? { tiles, kept: tiles, missing: 0n } : { tiles, kept: null, missing: null };
  const view = {
    ...keptOf(all.tiles),
    bytes: all.bytes,
    bytesOnDisk: all.allocated,
    inodes: all.tiles,
    fitsQuota: from.quota.enabled ? true : null,
    fitsDisk: true,
    fitsInodes: true,
    tilesPerSecond: null,
    seconds: null,
    zooms: [...zooms].sort(([a], [b]) => a - b).map(([z, { tiles }]) => ({ z, ...keptOf(tiles) })),
  };
  return { view, growth: NO_GROWTH };
}

/**
 * Returns the tile sets of a grid set that a truncate selects. Yields after each tile set, because each may need a
 * request to the store.
 */
function* tileSetsOf(
  request: JobRequest,
  gridSet: GridSetName,
  { ledger, layer, store }: Parameters<typeof estimateTruncate>[1],
): Generator<undefined, readonly KnownTileSet[]> {
  const named = combinationsOf(request)?.map(({ parametersId }) => parametersId);
  const isSelected =
    named === undefined ? selectsStored(request, layer, store) : (id: ParametersId) => named.includes(id);
  const { format } = request;
  const selected: KnownTileSet[] = [];
  for (const known of [...ledger.tileSets()]) {
    const { tileSet } = known;
    if (tileSet.layer !== request.layer || tileSet.gridSet !== gridSet) continue;
    if ((format === null || tileSet.format === format) && isSelected(tileSet.parametersId)) selected.push(known);
    yield;
  }
  return selected;
}

/** Returns the tiles of a tile set that a truncate removes from a level, with their size. */
function* removed(
  request: JobRequest,
  { tileSet, sums }: KnownTileSet,
  rect: TileRect,
  index: TileSelection | undefined,
  { ledger, layer }: EstimateSources,
): Generator<undefined, Readonly<Sum>> {
  const sum = sums.get(rect.z);
  const { bounds } = request;
  const isWhole = coversLevel({ bounds, hasSelection: index !== undefined }, layer, tileSet.gridSet, rect);
  if (sum === undefined || sum.tiles === 0n || isWhole) return { ...(sum ?? emptySum()) };
  const tiles = yield* ledger.countStored(tileSet, rect, index);
  const share = (size: bigint): bigint => (sum.tiles === 0n ? 0n : (size * tiles) / sum.tiles);
  return { tiles, bytes: share(sum.bytes), allocated: share(sum.allocated) };
}
