import { isDeepStrictEqual } from "node:util";
import { corners } from "../../../grid/grid-set-document.ts";
import type { ByZoom } from "../../../layer/by-zoom.ts";
import { type GridSubset, INFO_FORMATS, type Layer, type SourceOptions } from "../../../layer/layer.ts";
import type { Legend } from "../../../layer/legend.ts";
import { type CaseRule, type ParameterFilter, stylesFilter } from "../../../layer/parameter-filter.ts";
import { requestFilterNodes } from "../content/request-filter-content.ts";
import { updateSourceNodes } from "../content/update-source-content.ts";
import {
  type DocumentNode,
  double,
  list,
  type MapNode,
  map,
  type NamedNode,
  type RootedDocument,
} from "../document-node.ts";

/** GeoWebCache's codes: the tile never expires; clients do not cache the tile. */
const NEVER = -2;
const NO_CACHE = -1;
/** GeoWebCache's time limit in seconds of a request to a server, if the source has none. */
const BACKEND_TIMEOUT_SECONDS = 120;

/**
 * Returns a layer as GeoWebCache's `wmsLayer`, `mbtilesLayer` or `arcgisLayer`, with its secrets. A source that
 * GeoWebCache lacks has no `wmsUrl`.
 */
export function layerDocument(layer: Layer): RootedDocument {
  const { source } = layer;
  const common: readonly (readonly [string, DocumentNode | undefined])[] = [
    ["blobStoreId", layer.store],
    ["enabled", layer.enabled],
    ["advertised", layer.advertised ? undefined : false],
    ["name", layer.name],
    ["metaInformation", metaInformation(layer)],
    ["metadataURLs", metadataUrls(layer)],
    [
      "mimeFormats",
      list(
        "string",
        layer.formats.map(({ mimeType }) => mimeType),
      ),
    ],
    [
      "infoMimeFormats",
      isDeepStrictEqual(layer.infoFormats, INFO_FORMATS) ? undefined : list("string", [...layer.infoFormats]),
    ],
    ["formatModifiers", formatModifiers(layer)],
    ["gridSubsets", list("gridSubset", layer.gridSubsets.map(subsetNode))],
    ["updateSources", updateSourceNodes(layer.updateSources)],
    ["requestFilters", requestFilterNodes(layer.requestFilters)],
    ["metaWidthHeight", list("int", [...layer.metatile])],
    ["expireCacheList", expiryNode(layer.expireCacheSeconds, (seconds) => (seconds === 0 ? NEVER : seconds))],
    [
      "expireClientsList",
      expiryNode(layer.expireClientSeconds, (seconds) => (seconds === "no-cache" ? NO_CACHE : seconds)),
    ],
    ["backendTimeout", "timeoutMs" in source ? Math.ceil(source.timeoutMs / 1000) : BACKEND_TIMEOUT_SECONDS],
    ["cacheBypassAllowed", layer.cacheBypassAllowed ?? false],
    ["queryable", layer.queryable ? true : undefined],
    ["parameterFilters", parameterFilters(layer.parameterFilters)],
  ];
  if (source.type === "mbtiles") return { root: "mbtilesLayer", node: map([...common, ["tilesPath", source.file]]) };
  if (source.type === "arcgisCache")
    return {
      root: "arcgisLayer",
      node: map([
        ...common,
        ["tilingScheme", source.path],
        ["tileCachePath", source.tilesPath],
        ["hexZoom", source.hexZoom],
        ["storageFormat", source.storage],
      ]),
    };
  return { root: "wmsLayer", node: map([...common, ...sourceFields(layer, source)]) };
}

function metaInformation({ name, title, description, keywords }: Layer): MapNode | undefined {
  if (title === name && description === "" && keywords.length === 0) return undefined;
  return map([
    ["title", title],
    ["description", description],
    ["keywords", keywords.length === 0 ? undefined : list("string", [...keywords])],
  ]);
}

function metadataUrls({ metadataUrls: urls }: Layer): DocumentNode | undefined {
  if (urls.length === 0) return undefined;
  const items = urls.map(({ type, format, url }) =>
    map([
      ["type", type],
      ["format", format],
      ["url", url],
    ]),
  );
  return list("org.geowebcache.layer.meta.MetadataURL", items);
}

function formatModifiers({ formatModifiers: modifiers }: Layer): DocumentNode | undefined {
  if (modifiers.length === 0) return undefined;
  const items = modifiers.map(({ format, requestFormat, transparent, bgColor, palette, jpegQuality }) =>
    map([
      ["responseFormat", format],
      ["requestFormat", requestFormat],
      ["transparent", transparent],
      ["bgColor", bgColor],
      ["palette", palette],
      ["compressionQuality", jpegQuality === undefined ? undefined : double(jpegQuality / 100)],
    ]),
  );
  return list("formatModifier", items);
}

function subsetNode({ gridSet, extent, zoomStart, zoomStop, minCachedLevel, maxCachedLevel }: GridSubset): MapNode {
  const last = gridSet.matrices.length - 1;
  return map([
    ["gridSetName", gridSet.id],
    ["extent", extent === undefined ? undefined : map([["coords", list("double", corners(extent).map(double))]])],
    ["zoomStart", zoomStart === 0 ? undefined : zoomStart],
    ["zoomStop", zoomStop === last ? undefined : zoomStop],
    ["minCachedLevel", minCachedLevel],
    ["maxCachedLevel", maxCachedLevel],
  ]);
}

function expiryNode<T>(rules: ByZoom<T>, secondsOf: (value: T) => number): DocumentNode {
  return {
    kind: "list",
    items: rules.map(({ minZoom, value }) => {
      const expiration = String(secondsOf(value));
      return ["expirationRule", map([], { minZoom: String(minZoom), expiration })];
    }),
  };
}

function parameterFilters(filters: readonly ParameterFilter[]): DocumentNode | undefined {
  if (filters.length === 0) return undefined;
  return { kind: "list", items: filters.map(filterNode) };
}

function filterNode(filter: ParameterFilter): NamedNode {
  const head = [
    ["key", filter.key],
    ["defaultValue", filter.default],
  ] as const;
  switch (filter.type) {
    case "string": {
      const fields = [
        ...head,
        ["normalize", normalizeNode(filter.normalize)],
        ["values", list("string", filter.values)],
      ] as const;
      return ["stringParameterFilter", map(fields)];
    }
    case "regex":
      return [
        "regexParameterFilter",
        map([...head, ["normalize", normalizeNode(filter.normalize)], ["regex", filter.regex]]),
      ];
    case "float": {
      const fields = [
        ...head,
        ["values", list("float", filter.values.map(double))],
        ["threshold", double(filter.threshold)],
      ] as const;
      return ["floatParameterFilter", map(fields)];
    }
    case "integer":
      return [
        "integerParameterFilter",
        map([...head, ["values", list("int", filter.values)], ["threshold", filter.threshold]]),
      ];
  }
}

const normalizeNode = (rule: CaseRule | undefined): MapNode | undefined =>
  rule === undefined ? undefined : map([["case", rule]]);

function sourceFields(layer: Layer, source: SourceOptions): readonly (readonly [string, DocumentNode | undefined])[] {
  const gutter = ["gutter", layer.gutter] as const;
  const concurrency = ["concurrency", source.connections] as const;
  const legends = ["legends", legendsNode(layer)] as const;
  if (source.type !== "wms") return [["wmsUrl", list("string", [])], gutter, concurrency, legends];
  const addresses = typeof source.url === "string" ? [source.url] : source.url;
  const vendor = Object.entries(source.vendorParameters);
  return [
    ["wmsUrl", list("string", addresses)],
    ["wmsLayers", source.layers.join(",")],
    ["wmsQueryLayers", source.queryLayers?.join(",")],
    ["wmsStyles", source.styles.length === 0 ? undefined : source.styles.join(",")],
    gutter,
    ["wmsVersion", source.version === "1.1.1" ? undefined : source.version],
    ["httpUsername", source.username],
    ["httpPassword", source.password],
    ["proxyUrl", source.proxy],
    ["transparent", source.transparent],
    ["bgColor", source.bgColor],
    ["palette", source.palette],
    ["vendorParameters", vendor.length === 0 ? undefined : vendor.map(([key, value]) => `${key}=${value}`).join("&")],
    concurrency,
    legends,
    ["httpRequestMode", source.method === "post" ? "FormPost" : undefined],
  ];
}

function legendsNode({ legends, parameterFilters: filters }: Layer): MapNode | undefined {
  if (legends.length === 0) return undefined;
  const standard = stylesFilter(filters)?.default ?? "";
  const items = legends.map((legend) => legendNode(legend, legend.style === "" ? standard : legend.style));
  return map([["legend", { kind: "repeated", items }]], {
    defaultWidth: "20",
    defaultHeight: "20",
    defaultFormat: "image/png",
  });
}

function legendNode(
  { width, height, format, url, minScaleDenominator, maxScaleDenominator }: Legend,
  style: string,
): MapNode {
  const fields = [
    ["width", width],
    ["height", height],
    ["format", format],
    ["completeUrl", url],
    ["minScale", minScaleDenominator === undefined ? undefined : double(minScaleDenominator)],
    ["maxScale", maxScaleDenominator === undefined ? undefined : double(maxScaleDenominator)],
  ] as const;
  return map(fields, { style });
}
