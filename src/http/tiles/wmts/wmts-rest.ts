import { badField } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { splitExtension, wholeNumber } from "../address.ts";
import {
  findFormat,
  findFormatOfExtension,
  findGrid,
  findLayer,
  findLevel,
  notFound,
  offeredRange,
  offeredTile,
  type Parser,
  type ProtocolRefusal,
} from "../tile-parts.ts";
import { featureCount, hasFeatureInfo, infoOfTile, parseInfoFormat } from "../wms/info-address.ts";
import { parseTileJson } from "../xyz/tilejson.ts";
import { as, invalid, missing } from "./wmts-exceptions.ts";
import { wholeCapabilities } from "./wmts-get-capabilities.ts";
import { parametersWithStyle, refusedKey } from "./wmts-style.ts";

/**
 * Parses `{layer}/[{style}/]{gridSet}/{tileMatrix}/{row}/{col}`, rows from the top, followed by `/{j}/{i}` for
 * GetFeatureInfo (GWC's addresses). `rest` is the path after `/service/wmts/rest`. A refusal of such an address has the
 * exception code that WMTS by key and value has.
 */
export const parseWmtsRest: Parser = (catalogue, rest, query) => {
  if (rest.length === 1 && rest[0] === "WMTSCapabilities.xml") return ok(wholeCapabilities(catalogue, query));
  // GWC's address of TileJSON: {layer}/[{style}/]tilejson/{ext}.
  if ((rest.length === 3 || rest.length === 4) && rest.at(-2) === "tilejson") {
    const requested = new Map(query).set("FORMAT", rest.at(-1) ?? "");
    if (rest.length === 4) requested.set("STYLES", rest[1] ?? "");
    return parseTileJson(catalogue, rest.slice(0, 1), requested);
  }
  if (rest.length === 7 || rest.length === 8) return parseInfo(catalogue, rest, query);
  if (rest.length === 5 || rest.length === 6) return parseTile(catalogue, rest, query);
  return notFound(
    "A WMTS address is /service/wmts/rest/{layer}/{style}/{gridSet}/{tileMatrix}/{row}/{col}?format={format} or /service/wmts/rest/WMTSCapabilities.xml",
  );
};

const parseInfo: Parser = (catalogue, rest, query) => {
  const [jText = "", iText = ""] = rest.slice(-2);
  const layer = findLayer(catalogue, rest[0] ?? "");
  if (!layer.ok) return invalid("LAYER", layer.error);
  const given = query.get("FORMAT") ?? query.get("INFOFORMAT") ?? "";
  const infoFormat = parseInfoFormat("format", given, layer.value);
  if (!infoFormat.ok) return given === "" ? missing("INFOFORMAT") : invalid("INFOFORMAT", infoFormat.error);
  if (!hasFeatureInfo(layer.value)) {
    const message = `The layer ${layer.value.name} does not support GetFeatureInfo`;
    return as({ code: "not_found", message }, "OperationNotSupported", "request");
  }
  // The tile is not rendered, so any format will do.
  const asTile = new Map(query).set("FORMAT", layer.value.formats[0]?.mimeType ?? "");
  const tile = parseTile(catalogue, rest.slice(0, -2), asTile);
  if (!tile.ok || tile.value.kind !== "tile") return tile;
  const { tileWidth, tileHeight } = tile.value.request.subset.gridSet;
  const i = pixel("I", iText, tileWidth);
  if (!i.ok) return i;
  const j = pixel("J", jText, tileHeight);
  if (!j.ok) return j;
  const at = { i: i.value, j: j.value, infoFormat: infoFormat.value, featureCount: featureCount(query) };
  return ok({ kind: "info", query: infoOfTile(tile.value.request, at) });
};

function pixel(key: "I" | "J", text: string, side: number): Result<number, ProtocolRefusal> {
  const number = wholeNumber(key.toLowerCase(), text);
  if (!number.ok) return invalid(key, number.error);
  if (number.value < side) return number;
  return as(badField(key.toLowerCase(), `0 to ${side - 1}`, text), "PointIJOutOfRange", key);
}

const parseTile: Parser = (catalogue, rest, query) => {
  const layer = findLayer(catalogue, rest[0] ?? "");
  if (!layer.ok) return invalid("LAYER", layer.error);
  const [gridText = "", matrixText = "", rowText = "", last = ""] = rest.slice(-4);
  const subset = findGrid(layer.value, gridText);
  if (!subset.ok) return invalid("TILEMATRIXSET", subset.error);
  const { matrices } = subset.value.gridSet;
  const z = findLevel(subset.value.gridSet, matrixText);
  if (z === undefined) {
    const names = matrices.map((m) => m.name).join(", ");
    return invalid("TILEMATRIX", badField("tile matrix", `a level's number or one of ${names}`, matrixText));
  }
  const row = wholeNumber("row", rowText);
  if (!row.ok) return invalid("TILEROW", row.error);
  const { stem, extension } = splitExtension(last);
  const column = wholeNumber("col", stem);
  if (!column.ok) return invalid("TILECOL", column.error);
  const mimeType = query.get("FORMAT") ?? "";
  if (mimeType === "" && extension === undefined) return missing("FORMAT");
  const format = mimeType === "" ? findFormatOfExtension(layer.value, extension) : findFormat(layer.value, mimeType);
  if (!format.ok) return invalid("FORMAT", format.error);
  const style = rest.length === 6 ? rest[1] : undefined;
  const parameters = parametersWithStyle(layer.value, query, style);
  if (!parameters.ok) {
    const key = refusedKey(layer.value, query);
    return invalid(key === "STYLES" ? "STYLE" : key, parameters.error);
  }
  const found = offeredTile(
    { layer: layer.value, subset: subset.value, format: format.value, parameters: parameters.value },
    { z, column: column.value, row: row.value, rows: "top" },
  );
  if (found.ok) return found;
  const range = offeredRange(subset.value, z, "top");
  if (range === undefined) return invalid("TILEMATRIX", found.error);
  const isOutside = column.value < range.minColumn || column.value > range.maxColumn;
  return as(found.error, "TileOutOfRange", isOutside ? "TILECOL" : "TILEROW");
};
