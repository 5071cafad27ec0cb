import { type Catalogue, layerNamed } from "../../../layer/catalogue.ts";
import { parseParameters } from "../../../layer/filter/parameter-filter.ts";
import { findSubset, type Layer, type OfferedTiles } from "../../../layer/layer.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { parseRowFile } from "../address.ts";
import {
  findFormatOfExtension,
  findGrid,
  findLayer,
  notFound,
  type Parser,
  resolveTile,
  XML_TYPE,
} from "../tile-parts.ts";
import { tileMapDocument, tileMapServiceDocument, tmsRootDocument } from "./tms-documents.ts";

/**
 * Parses `{layer}@{gridSet}@{ext}`. In `{layer}` and `{layer}@{gridSet or ext}` the layer's first grid set or format
 * replaces a missing part. The longest layer name wins, so a name may contain `@`.
 */
function parseTileMap(catalogue: Catalogue, text: string): Result<OfferedTiles, Refusal> {
  const parts = text.split("@");
  for (const given of [0, 1, 2]) {
    if (parts.length <= given) break;
    const layer = layerNamed(catalogue, parts.slice(0, parts.length - given).join("@"));
    if (layer?.enabled === true) return tileMapOf(layer, parts.slice(parts.length - given));
  }
  const name = parts.length > 2 ? parts.slice(0, -2).join("@") : (parts[0] ?? "");
  const layer = findLayer(catalogue, name);
  return layer.ok ? tileMapOf(layer.value, []) : layer;
}

function tileMapOf(layer: Layer, given: readonly string[]): Result<OfferedTiles, Refusal> {
  const [first = "", second] = given;
  const firstSubset = layer.gridSubsets[0];
  const firstFormat = layer.formats[0];
  if (firstSubset === undefined || firstFormat === undefined) return notFound("The layer offers no tiles");
  if (given.length === 0) return ok({ layer, subset: firstSubset, format: firstFormat });
  if (second === undefined && findSubset(layer, first) === undefined) {
    const format = findFormatOfExtension(layer, first.toLowerCase());
    if (format.ok) return ok({ layer, subset: firstSubset, format: format.value });
  }
  const subset = findGrid(layer, first);
  if (!subset.ok) return subset;
  if (second === undefined) return ok({ layer, subset: subset.value, format: firstFormat });
  const format = findFormatOfExtension(layer, second.toLowerCase());
  return format.ok ? ok({ layer, subset: subset.value, format: format.value }) : format;
}

/**
 * Parses an address below `/service/tms` (TMS 1.0.0) as GWC does (`docs/explanation/geowebcache.md`, Tile services). z
 * is the zoom in the grid set. y counts from the bottom.
 */
export const parseTms: Parser = (catalogue, rest, query) => {
  const [version, tileMapText, zText, xText, last] = rest;
  if (version === undefined) {
    return ok({ kind: "document", name: "tms", contentType: XML_TYPE, write: tmsRootDocument });
  }
  if (version !== "1.0.0") return notFound("The only supported version of TMS is 1.0.0: /service/tms/1.0.0");
  if (tileMapText === undefined) {
    return ok({
      kind: "document",
      name: "tms/1.0.0",
      contentType: XML_TYPE,
      parts: (baseUrl) => tileMapServiceDocument(catalogue, baseUrl),
    });
  }
  if (rest.length !== 2 && rest.length !== 5) {
    return notFound("A TMS tile's address is /service/tms/1.0.0/{layer}@{gridSet}@{ext}/{z}/{x}/{y}.{ext}");
  }
  const map = parseTileMap(catalogue, tileMapText);
  if (!map.ok) return map;
  const { layer, subset, format } = map.value;
  if (zText === undefined || xText === undefined || last === undefined) {
    return ok({
      kind: "document",
      name: `tms/1.0.0/${JSON.stringify([layer.name, subset.gridSet.id, format.extension])}`,
      contentType: XML_TYPE,
      write: (baseUrl) => tileMapDocument(layer, subset, format, baseUrl),
    });
  }
  const at = parseRowFile([zText, xText, last]);
  if (!at.ok) return at;
  return resolveTile(
    { layer, subset },
    findFormatOfExtension(layer, at.value.extension),
    parseParameters(layer.parameterFilters, query, "ignore"),
    { ...at.value, rows: query.get("FLIPY")?.toLowerCase() === "true" ? "top" : "bottom" },
  );
};
