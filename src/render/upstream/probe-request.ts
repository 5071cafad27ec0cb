import { middleOf, tileExtent } from "../../grid/grid-set.ts";
import { defaultValues } from "../../layer/filter/parameter-filter.ts";
import { coverageAt } from "../../layer/grid-subset.ts";
import type { Layer } from "../../layer/layer.ts";
import { modifierOf } from "../../layer/picture/format-modifier.ts";
import type { RenderRequest } from "../../source/source.ts";

/**
 * Returns the request that shows whether the upstream of a layer renders: one tile in the middle of the layer's first
 * grid subset, at the first zoom. Undefined if the layer has no tiles.
 */
export function probeRequest(layer: Layer): RenderRequest | undefined {
  const {
    gridSubsets: [subset],
    formats: [format],
    parameterFilters,
  } = layer;
  if (subset === undefined || format === undefined) return undefined;
  const { gridSet, zoomStart } = subset;
  const coverage = coverageAt(subset, zoomStart);
  if (coverage === undefined) return undefined;
  const tile = middleOf(coverage);
  return {
    gridSet,
    extent: tileExtent(gridSet, tile),
    width: gridSet.tileWidth,
    height: gridSet.tileHeight,
    tile,
    format,
    modifier: modifierOf(layer, format),
    parameters: defaultValues(parameterFilters),
  };
}
