import type { MapLayer, MapRequest } from "../../../cache/map-renderer.ts";
import { asZoom, extentText, intersectRects, rectCount, rectOf } from "../../../grid/grid-set.ts";
import { coverageAt } from "../../../layer/grid-subset.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { MAX_SIDE } from "./wms-capabilities.ts";

/** The most pixels of a map's window of tiles. */
const MAX_WINDOW_PIXELS = MAX_SIDE * MAX_SIDE;
const MAX_TILES = 256;
/** A level is sharp enough if it is coarser than the map by less than this factor. */
const BLUR = 1.05;

/**
 * Returns the pixels of a window's side. A window has whole pixels and an additional one on each side, so a short side
 * counts too.
 */
const pixels = (span: number, resolution: number): number => Math.max(3, span / resolution);

/**
 * Chooses the level of a layer of a map: the coarsest one that is fine enough, or a coarser level if that takes too many
 * tiles.
 */
export function mapLayerOf(
  parts: Omit<MapLayer, "rect" | "z">,
  { extent, width, height }: Pick<MapRequest, "extent" | "width" | "height">,
): Result<MapLayer, Refusal> {
  const { gridSet, zoomStart } = parts.subset;
  const spanX = extent.maxX - extent.minX;
  const spanY = extent.maxY - extent.minY;
  const wanted = Math.min(spanX / width, spanY / height) * BLUR;
  const levels = gridSet.matrices.flatMap(({ resolution }, level) => {
    const z = asZoom(level);
    const offered = coverageAt(parts.subset, z);
    return offered === undefined ? [] : [{ z, resolution, offered }];
  });
  const needed = levels.findIndex(({ resolution }) => resolution <= wanted);
  for (const { z, resolution, offered } of levels.slice(0, needed < 0 ? undefined : needed + 1).reverse()) {
    if (pixels(spanX, resolution) * pixels(spanY, resolution) > MAX_WINDOW_PIXELS) continue;
    const met = rectOf(gridSet, z, extent);
    const rect = met === undefined ? undefined : intersectRects(met, offered);
    if (rect !== undefined && rectCount(rect) > MAX_TILES) continue;
    return ok({ ...parts, rect, z });
  }
  const coarsest = gridSet.matrices[zoomStart]?.resolution ?? 0;
  return refuse(
    badField(
      "BBOX",
      `a map of at most ${MAX_TILES} tiles of ${gridSet.id} at ${coarsest} units per pixel`,
      extentText(extent),
    ),
  );
}
