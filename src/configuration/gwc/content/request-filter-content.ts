import type { FileFilter, RequestFilter, WmsFilter } from "../../../layer/request-filter.ts";
import { type Content, isMapNode, numberField, withoutUndefined } from "../content.ts";
import { type DocumentNode, fieldOf, type MapNode, map, type NamedNode, textOf } from "../document-node.ts";

/** GeoWebCache's time limit of a filter without one, in seconds. */
const TIMEOUT_SECONDS = 120;

/** Returns request filters in the form of the configuration file. Undefined if the layer has no filter. */
export function requestFilterContents(filters: DocumentNode | undefined): readonly Content[] | undefined {
  if (typeof filters !== "object" || filters.kind !== "list") return undefined;
  const contents = filters.items.flatMap(([kind, filter]): Content[] =>
    isMapNode(filter) ? [contentOf(kind, filter)] : [],
  );
  return contents.length === 0 ? undefined : contents;
}

function contentOf(kind: string, filter: MapNode): Content {
  const name = textOf(filter, "name") ?? "";
  if (kind === "circularExtentFilter") return { type: "circle", name };
  const zoomStart = numberField(filter, "zoomStart");
  const flag = (field: string): boolean | undefined => (fieldOf(filter, field) === true ? true : undefined);
  const raster = {
    name,
    zoomStart,
    // GeoWebCache accepts a file without it, and fails at the first request.
    zoomStop: numberField(filter, "zoomStop") ?? zoomStart ?? 0,
    resample: flag("resample"),
    preload: flag("preload"),
    debug: flag("debug"),
  };
  if (kind === "fileRasterFilter")
    return withoutUndefined({
      type: "file",
      ...raster,
      directory: textOf(filter, "storagePath") ?? "",
      extension: textOf(filter, "fileExtension") ?? "",
    });
  return withoutUndefined({
    type: "wms",
    ...raster,
    layers: listOf(filter, "wmsLayers"),
    styles: listOf(filter, "wmsStyles"),
    timeoutSeconds: numberField(filter, "backendTimeout") ?? TIMEOUT_SECONDS,
  });
}

function listOf(filter: MapNode, name: string): readonly string[] | undefined {
  const text = textOf(filter, name);
  return text === undefined || text === "" ? undefined : text.split(",");
}

/**
 * Returns why request filters are refused that a file may have but a request may not make. Undefined if they are
 * accepted.
 */
export function requestFilterFault(filters: DocumentNode | undefined): string | undefined {
  if (typeof filters !== "object" || filters.kind !== "list") return undefined;
  for (const [i, [kind, filter]] of filters.items.entries())
    if (isMapNode(filter) && kind !== "circularExtentFilter" && fieldOf(filter, "zoomStop") === undefined)
      return `requestFilters[${i}].zoomStop: expected the last level with a raster`;
  return undefined;
}

/** Returns request filters as GeoWebCache's elements. Undefined if the layer has no filter. */
export function requestFilterNodes(filters: readonly RequestFilter[] | undefined): DocumentNode | undefined {
  return filters && { kind: "list", items: filters.map(nodeOf) };
}

function nodeOf(filter: RequestFilter): NamedNode {
  switch (filter.type) {
    case "circle":
      return ["circularExtentFilter", map([["name", filter.name]])];
    case "wms":
      return [
        "wmsRasterFilter",
        map([
          ...rasterFields(filter),
          ["wmsLayers", filter.layers?.join(",")],
          ["wmsStyles", filter.styles?.join(",")],
          ["backendTimeout", filter.timeoutSeconds],
        ]),
      ];
    case "file":
      return [
        "fileRasterFilter",
        map([...rasterFields(filter), ["storagePath", filter.directory], ["fileExtension", filter.extension]]),
      ];
  }
}

const rasterFields = (filter: FileFilter | WmsFilter): readonly (readonly [string, DocumentNode])[] => [
  ["name", filter.name],
  ["zoomStart", filter.zoomStart],
  ["zoomStop", filter.zoomStop],
  ["resample", filter.resample],
  ["preload", filter.preload],
  ["debug", filter.debug],
];

/** Converts a path in a request filter of the configuration file to a path in GeoWebCache's document. */
export const requestFilterPath = (path: string): string =>
  path
    .replace(/^(requestFilters\[\d+\])\.directory$/, "$1.storagePath")
    .replace(/^(requestFilters\[\d+\])\.extension$/, "$1.fileExtension")
    .replace(/^(requestFilters\[\d+\])\.layers/, "$1.wmsLayers")
    .replace(/^(requestFilters\[\d+\])\.styles/, "$1.wmsStyles")
    .replace(/^(requestFilters\[\d+\])\.timeoutSeconds$/, "$1.backendTimeout");
