import { layerConfiguration } from "../../../configuration/layer-configuration.ts";
import { corners } from "../../../grid/extent.ts";
import { asZoom, matrixRect, rectCount, rectExtent, topLeftCorner } from "../../../grid/grid-set.ts";
import { coverageAt, type GridSubset, subsetExtent } from "../../../layer/grid-subset.ts";
import { defaultSubset, type Layer } from "../../../layer/layer.ts";
import type { QuotaConfiguration } from "../../../quota/configuration/quota-configuration.ts";
import { upstreamIdOf } from "../../../render/upstream/upstream-limits.ts";
import type { LayerOrigin } from "../../resource.ts";
import type { Documents } from "../documents/documents.ts";
import { layerAddresses } from "./layer-addresses.ts";

/** The document of a layer, without the fields about changes of it. */
type LayerDocument = Omit<Documents["Layer"], "editable">;

/** Returns the document of one layer, with its secrets masked. */
export function layerDocument(
  layer: Layer,
  facts: { readonly base: string; readonly quota: QuotaConfiguration; readonly origin: LayerOrigin | undefined },
): LayerDocument {
  const { base, quota, origin } = facts;
  const own = quota.layerQuotas.find((one) => one.layer === layer.name);
  return {
    name: layer.name,
    upstream: upstreamIdOf(layer.source),
    defaultGridSet: defaultSubset(layer)?.gridSet.id ?? null,
    gridSubsets: layer.gridSubsets.map(subsetDocument),
    addresses: layerAddresses(layer, base),
    quota: own === undefined ? null : { expirationPolicyName: own.expirationPolicyName, quota: own.quota },
    configuration: layerConfiguration(layer),
    configuredAt: origin === undefined ? null : { file: origin.file, line: origin.line ?? null },
  };
}

/** Returns the short document of a layer for lists. */
export const layerSummary = (layer: Layer): Documents["LayerSummaries"]["layers"][number] => ({
  name: layer.name,
  title: layer.title,
  sourceKind: layer.source.type,
  upstream: upstreamIdOf(layer.source),
  gridSets: layer.gridSubsets.map(({ gridSet }) => gridSet.id),
  formats: layer.formats.map(({ mimeType }) => mimeType),
  enabled: layer.enabled,
});

function subsetDocument(subset: GridSubset): LayerDocument["gridSubsets"][number] {
  const { gridSet, zoomStart, zoomStop, minCachedLevel = null, maxCachedLevel = null } = subset;
  return {
    gridSet: gridSet.id,
    title: gridSet.title ?? null,
    srs: gridSet.srs,
    tileSize: [gridSet.tileWidth, gridSet.tileHeight],
    alignTopLeft: gridSet.alignTopLeft,
    yCoordinateFirst: gridSet.yCoordinateFirst,
    metersPerUnit: gridSet.metersPerUnit,
    extent: corners(gridSet.extent),
    bounds: corners(subsetExtent(subset)),
    zoomStart,
    zoomStop,
    minCachedLevel,
    maxCachedLevel,
    levels: gridSet.matrices.map((matrix, z) => {
      const { minX, minY } = rectExtent(gridSet, matrixRect(gridSet, asZoom(z)));
      const { x, y } = topLeftCorner(gridSet, asZoom(z));
      const coverage = coverageAt(subset, asZoom(z));
      return {
        z,
        name: matrix.name,
        resolution: matrix.resolution,
        scaleDenominator: matrix.scaleDenominator,
        matrixSize: [matrix.matrixWidth, matrix.matrixHeight],
        origin: [minX, minY],
        topLeft: [x, y],
        coverage: coverage === undefined ? null : corners(coverage),
        tiles: coverage === undefined ? 0n : rectCount(coverage),
      };
    }),
  };
}
