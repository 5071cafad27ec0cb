import { canonicalSrs } from "../../grid/grid-set.ts";
import type { TileFormat } from "../../layer/format.ts";
import type { ArcgisExportOptions, ArcgisSourceOptions } from "../../layer/source-options.ts";
import { trimEndOf } from "../../lib/text/trim-end.ts";
import { createHttpSource, type SourceParts } from "../http/http-source.ts";
import { decimal, setParameters, withQuery } from "../http/query.ts";
import type { RenderRequest, Source } from "../source.ts";
import { tileOf } from "../tiles/tile-template.ts";

/** Creates the source of an ArcGIS map service, which uses its `export` operation or the tiles of its cache. */
export const createArcgisSource = (options: ArcgisSourceOptions, parts: SourceParts): Source =>
  createHttpSource(options, { picture: (address, request) => arcgisUrl(address, options, request) }, parts);

/**
 * Returns the address of a picture (ArcGIS REST API, "Export Map" and "Map Tile"). `address` is the address of the
 * service, ending in `/MapServer`.
 * @throws SourceError in mode `tile` if the picture is not a single tile
 */
export function arcgisUrl(address: string, options: ArcgisSourceOptions, request: RenderRequest): URL {
  const { vendorParameters } = options;
  const parameters = Object.fromEntries(
    Object.entries(setParameters(request.parameters)).map(([key, value]) => [spelling(key), value]),
  );
  switch (options.mode) {
    case "export":
      // The keys of the export come last, so that a parameter filter with the same name cannot change the picture.
      return withQuery(
        operation(address, "export"),
        vendorParameters,
        parameters,
        exportQuery(options, request, parameters),
      );
    case "tile": {
      const { z, x, fromTop } = tileOf(request);
      return withQuery(operation(address, `tile/${z}/${fromTop}/${x}`), vendorParameters, parameters);
    }
  }
}

function exportQuery(
  options: ArcgisExportOptions,
  { gridSet, extent, width, height, format }: RenderRequest,
  parameters: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  // ArcGIS expects x first, also for a CRS whose first axis is y.
  const { minX, minY, maxX, maxY } = extent;
  const srs = String(canonicalSrs(gridSet.srs));
  return {
    bbox: [minX, minY, maxX, maxY].map(decimal).join(","),
    bboxSR: srs,
    imageSR: srs,
    size: `${width},${height}`,
    format: exportFormat(format),
    transparent: options.transparent && format.upstreamType !== "image/jpeg" ? "true" : "false",
    f: "image",
    // A parameter filter may choose the layers instead, as for a WMS.
    ...(options.layers.length === 0 || parameters["layers"] !== undefined
      ? {}
      : { layers: `show:${options.layers.join(",")}` }),
  };
}

/**
 * Returns the format to request. The renderer makes all formats except JPEG from PNG: an ArcGIS server has no WebP, and
 * its PNG8 has no partial transparency.
 */
const exportFormat = ({ upstreamType }: TileFormat): string => (upstreamType === "image/jpeg" ? "jpg" : "png32");

/**
 * ArcGIS's spellings of the parameters that a filter may set, by the upper-case name. Names of parameter filters are
 * upper case, but names in ArcGIS are not.
 */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  ["layers", "layerDefs", "dynamicLayers", "time", "layerTimeOptions", "gdbVersion"].map((name) => [
    name.toUpperCase(),
    name,
  ]),
);
const spelling = (key: string): string => SPELLINGS.get(key) ?? key;

function operation(address: string, name: string): URL {
  const url = new URL(address);
  url.pathname = `${trimEndOf(url.pathname, "/")}/${name}`;
  return url;
}
