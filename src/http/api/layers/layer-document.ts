import { matrixRect, rectCount, rectExtent, topLeftCorner } from "../../../grid/grid-set.ts";
import { corners } from "../../../grid/grid-set-document.ts";
import type { ByZoom } from "../../../layer/by-zoom.ts";
import {
  coverageAt,
  defaultSubset,
  type GridSubset,
  type Layer,
  type SourceOptions,
  subsetExtent,
} from "../../../layer/layer.ts";
import type { QuotaConfiguration } from "../../../quota/quota-configuration.ts";
import { shownAddress, sourceName, upstreamIdOf } from "../../../render/upstream-limits.ts";
import type { LayerOrigin } from "../../resource.ts";
import { legendAddress } from "../../tiles/wms/legend-address.ts";
import type { Documents } from "../documents/documents.ts";
import { layerAddresses } from "./layer-addresses.ts";

/** A layer, without the parts that tell how it is changed. */
type LayerDocument = Omit<Documents["Layer"], "editable" | "configuration">;

/** Returns the document of one layer. It holds no credentials, no keys of the upstream and no vendor parameters. */
export function layerDocument(
  layer: Layer,
  facts: { readonly base: string; readonly quota: QuotaConfiguration; readonly origin: LayerOrigin | undefined },
): LayerDocument {
  const { base, quota, origin } = facts;
  const own = quota.layerQuotas.find((one) => one.layer === layer.name);
  return {
    ...layerSummary(layer),
    abstract: layer.description,
    advertised: layer.advertised,
    keywords: layer.keywords,
    attribution: layer.attribution ?? null,
    metadataUrls: layer.metadataUrls,
    defaultGridSet: defaultSubset(layer)?.gridSet.id ?? null,
    source: sourceDocument(layer.source),
    gridSubsets: layer.gridSubsets.map(subsetDocument),
    metatile: [...layer.metatile],
    gutter: layer.gutter,
    formatsTogether: layer.formatsTogether,
    jpegQuality: layer.jpegQuality,
    pngCompression: layer.pngCompression,
    formatModifiers: layer.formatModifiers,
    parameters: layer.parameterFilters,
    requestFilters: layer.requestFilters ?? [],
    updateSources: (layer.updateSources ?? []).map(({ url, username: _, password: __, ...feed }) => ({
      ...feed,
      address: shownAddress(new URL(url)),
    })),
    expiry: {
      cache: rulesOf(layer.expireCacheSeconds),
      client: rulesOf(layer.expireClientSeconds),
      staleClientSeconds: layer.staleClientSeconds,
      cdnSeconds: layer.expireCdnSeconds ?? null,
      staleWhileRevalidateSeconds: layer.staleWhileRevalidateSeconds,
      negativeCacheSeconds: layer.negativeCacheSeconds,
    },
    legends: layer.legends.map((legend) => ({
      style: legend.style,
      width: legend.width,
      height: legend.height,
      format: legend.format,
      url: legendAddress(layer, legend, base),
    })),
    addresses: layerAddresses(layer, base),
    quota: own === undefined ? null : { expirationPolicyName: own.expirationPolicyName, quota: own.quota },
    jobs: { weight: layer.jobs.weight, maxTasks: layer.jobs.maxTasks ?? null },
    queryable: layer.queryable,
    infoFormats: layer.infoFormats,
    fullWms: layer.fullWms,
    secured: layer.secured,
    configuredAt: origin === undefined ? null : { file: origin.file, line: origin.line ?? null },
  };
}

/** Returns the document of a layer in a list of many. */
export const layerSummary = (layer: Layer): Documents["LayerSummaries"]["layers"][number] => ({
  name: layer.name,
  title: layer.title,
  sourceKind: layer.source.type,
  upstream: upstreamIdOf(layer.source),
  gridSets: layer.gridSubsets.map(({ gridSet }) => gridSet.id),
  formats: layer.formats.map(({ mimeType }) => mimeType),
  enabled: layer.enabled,
});

const rulesOf = <T>(rules: ByZoom<T>) => rules.map(({ minZoom, value }) => ({ minZoom, seconds: value }));

function sourceDocument(source: SourceOptions): LayerDocument["source"] {
  return {
    address: sourceName(source),
    layers: requestedLayers(source),
    connections: source.connections,
    jobConnections: source.jobConnections ?? null,
    timeoutSeconds: "timeoutMs" in source ? source.timeoutMs / 1000 : null,
  };
}

/** Returns the names by which a source requests layers; none where it is one picture or archive. */
function requestedLayers(source: SourceOptions): readonly string[] {
  switch (source.type) {
    case "wms":
      return source.layers;
    case "wmts":
      return [source.layer];
    case "arcgis":
      return source.mode === "export" ? source.layers.map(String) : [];
    case "xyz":
    case "arcgisCache":
    case "mbtiles":
    case "pmtiles":
    case "demo":
    case "none":
      return [];
  }
}

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
      const { minX, minY } = rectExtent(gridSet, matrixRect(gridSet, z));
      const { x, y } = topLeftCorner(gridSet, z);
      const coverage = coverageAt(subset, z);
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
