import type { WmtsSourceOptions } from "../../layer/source-options.ts";
import { createHttpSource, type SourceParts } from "../http/http-source.ts";
import { setParameters, withQuery } from "../http/query.ts";
import { type RenderRequest, type Source, SourceError } from "../source.ts";
import { fillTemplate, placeholdersOf, tileOf } from "./tile-template.ts";

/** Creates the source of a WMTS 1.0.0, RESTful or with key-value pairs. */
export const createWmtsSource = (options: WmtsSourceOptions, parts: SourceParts): Source =>
  createHttpSource(options, { picture: (address, request) => wmtsUrl(address, options, request) }, parts);

/**
 * Returns the address of a GetTile (OGC 07-057r7): RESTful (10.2) if the address has placeholders, whose case does not
 * matter; otherwise with key-value pairs (8.2.1). Rows count from the top.
 * @throws SourceError if the picture is not a single tile, or its level has no name
 */
export function wmtsUrl(address: string, options: WmtsSourceOptions, request: RenderRequest): URL {
  const { z, x, fromTop } = tileOf(request);
  const { layer, tileMatrixSet, tileMatrixPrefix = "", tileMatrices } = options;
  const tileMatrix = tileMatrices === undefined ? `${tileMatrixPrefix}${z}` : tileMatrices[z];
  if (tileMatrix === undefined) throw new SourceError("exception", `level ${z} has no name among tileMatrices`);
  // A filter may choose the style, but no other parameter that identifies the tile.
  const { STYLE: style = options.style, ...parameters } = setParameters(request.parameters);
  const tile: Readonly<Record<string, string>> = {
    LAYER: layer,
    STYLE: style,
    FORMAT: options.format ?? request.format.upstreamType,
    TILEMATRIXSET: tileMatrixSet,
    TILEMATRIX: tileMatrix,
    TILEROW: String(fromTop),
    TILECOL: String(x),
  };
  if (placeholdersOf(address).length > 0)
    return withQuery(
      fillTemplate(address, (name) => tile[name.toUpperCase()]),
      options.vendorParameters,
      parameters,
    );
  const requested = { SERVICE: "WMTS", REQUEST: "GetTile", VERSION: "1.0.0", ...tile };
  // The tile's keys come last, so that a filter named TILEROW cannot request a tile other than the stored tile.
  return withQuery(address, options.vendorParameters, parameters, requested);
}
