import type { LayerOrigin } from "../../../configuration/gwc/object-origin.ts";
import { layerConfiguration } from "../../../configuration/layer-configuration.ts";
import { corners } from "../../../grid/extent.ts";
import { asZoom, matrixRect, rectCount, rectExtent, topLeftCorner } from "../../../grid/grid-set.ts";
import type { TileFormat } from "../../../layer/format.ts";
import { coverageAt, type GridSubset, subsetExtent } from "../../../layer/grid-subset.ts";
import { defaultSubset, type Layer } from "../../../layer/layer.ts";
import type { QuotaConfiguration } from "../../../quota/configuration/quota-configuration.ts";
import { upstreamIdOf } from "../../../render/upstream/upstream-limits.ts";
import { kmlSubset } from "../../tiles/kml/kml-address.ts";
import { firstTiles } from "../../tiles/kml/kml-documents.ts";
import { legendAddress } from "../../tiles/wms/legend-address.ts";
import type { Documents } from "../documents/documents.ts";

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

/**
 * Returns the addresses of a layer for clients: the addresses of its documents, and address templates of its tiles for
 * each grid set and format. Clients replace the parts in braces. Parameters are appended as `KEY=VALUE`.
 * @param base scheme, host, port and mount as the client addressed them
 */
function layerAddresses(layer: Layer, base: string): Documents["Layer"]["addresses"] {
  return {
    wmtsCapabilities: `${base}/service/wmts/rest/WMTSCapabilities.xml`,
    wmsCapabilities: `${base}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities`,
    tms: `${base}/service/tms/1.0.0`,
    ogc: `${base}/ogc/collections/${encodeURIComponent(layer.name)}`,
    legends: layer.legends.map((legend) => legendAddress(layer, legend, base)),
    tiles: layer.gridSubsets.flatMap((subset) =>
      layer.formats.map((format) => tileAddresses(layer, subset, format, base)),
    ),
  };
}

function tileAddresses(named: Layer, subset: GridSubset, format: TileFormat, base: string) {
  const { name } = named;
  const { gridSet } = subset;
  const { mimeType, extension } = format;
  const layer = encodeURIComponent(name);
  const grid = encodeURIComponent(gridSet.id);
  const type = encodeURIComponent(mimeType);
  const ogcKind = format.kind === "image" ? "map/tiles" : "tiles";
  return {
    gridSet: gridSet.id,
    format: mimeType,
    xyz: `${base}/xyz/${layer}/${grid}/{z}/{x}/{y}.${extension}`,
    tileJson: `${base}/tilejson/${layer}/${grid}?format=${type}`,
    wmts: `${base}/service/wmts/rest/${layer}/${grid}/{TileMatrix}/{TileRow}/{TileCol}?format=${type}`,
    tms: `${base}/service/tms/1.0.0/${[layer, grid, extension].join("@")}/{z}/{x}/{y}.${extension}`,
    ogc: `${base}/ogc/collections/${layer}/${ogcKind}/${grid}/{tileMatrix}/{tileRow}/{tileCol}?f=${extension}`,
    wms:
      format.kind === "image"
        ? `${base}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${layer}&STYLES=&SRS=EPSG:${gridSet.srs}&FORMAT=${type}&WIDTH=${gridSet.tileWidth}&HEIGHT=${gridSet.tileHeight}&BBOX={bbox}`
        : null,
    kml:
      format.kind === "image" && subset === kmlSubset(named) && firstTiles(subset) !== undefined
        ? `${base}/service/kml/${layer}.${extension}.kml`
        : null,
  };
}
