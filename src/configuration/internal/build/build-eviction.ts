import { extentOf } from "../../../grid/extent.ts";
import { asZoom, intersectRects, rectOf } from "../../../grid/grid-set.ts";
import { coverageAt } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { asLayerName } from "../../../layer/tile-set.ts";
import type { EvictionOptions, Pin } from "../../../quota/configuration/eviction-options.ts";
import type { QuotaCount } from "../../../quota/configuration/quota-count.ts";
import type { EvictionDocument } from "../../fields/quota-schema.ts";
import type { Path, Problems } from "../read/problems.ts";

/** Returns the options of evictions. Converts pins to rectangles of tiles. Skips pins of unknown layers. */
export function buildEviction(
  { highWaterPercent, lowWaterPercent = highWaterPercent, ...plain }: EvictionDocument,
  count: QuotaCount,
  layers: readonly Layer[],
  problems: Problems,
): EvictionOptions {
  return {
    count,
    highWaterPercent,
    lowWaterPercent,
    ...plain,
    floors: plain.floors.map(({ layer, bytes }) => ({ layer: asLayerName(layer), bytes })),
    pins: plain.pins.flatMap((pin, i) => {
      const layer = layers.find(({ name }) => name === pin.layer);
      return layer === undefined ? [] : pinsOf(pin, layer, ["eviction", "pins", i], problems);
    }),
  };
}

function pinsOf(pin: EvictionDocument["pins"][number], layer: Layer, path: Path, problems: Problems): Pin[] {
  const subsets = layer.gridSubsets.filter((s) => pin.gridSet === undefined || s.gridSet.id === pin.gridSet);
  const offered = layer.gridSubsets.map((s) => s.gridSet.id);
  if (subsets.length === 0)
    problems.expected([...path, "gridSet"], `a grid set of the layer (${offered.join(", ")})`, pin.gridSet ?? "");
  if (pin.extent !== undefined && pin.gridSet === undefined && offered.length > 1)
    problems.add([...path, "extent"], "needs a gridSet, as the layer has several and they differ in their units");
  const extent = pin.extent === undefined ? undefined : extentOf(pin.extent);
  return subsets.map(({ gridSet, ...subset }) => ({
    layer: layer.name,
    gridSet: gridSet.id,
    extent,
    zoomStart: asZoom(pin.zoomStart ?? 0),
    zoomStop: asZoom(pin.zoomStop ?? gridSet.matrices.length - 1),
    rects: gridSet.matrices.flatMap((_, level) => {
      const z = asZoom(level);
      if (z < (pin.zoomStart ?? 0) || z > (pin.zoomStop ?? Number.POSITIVE_INFINITY)) return [];
      const coverage = coverageAt({ gridSet, ...subset }, z);
      const area = extent === undefined ? coverage : rectOf(gridSet, z, extent);
      const rect = coverage === undefined || area === undefined ? undefined : intersectRects(coverage, area);
      return rect === undefined ? [] : [rect];
    }),
  }));
}
