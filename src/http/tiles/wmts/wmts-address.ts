import { asZoom } from "../../../grid/grid-set.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { legalValue, stylesFilter } from "../../../layer/filter/parameter-filter.ts";
import { coverageAt } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../query.ts";
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
  type ParsedAddress,
  type ProtocolRefusal,
  type RequestedDocument,
  resolveTile,
  XML_TYPE,
} from "../tile-parts.ts";
import { featureCount, hasFeatureInfo, infoOfTile, parseInfoFormat } from "../wms/info-address.ts";
import { parseTileJson } from "../xyz/tilejson.ts";
import { wmtsCapabilities } from "./wmts-capabilities.ts";
import { isDefaultStyle, parametersWithStyle, refusedKey, styleNames } from "./wmts-style.ts";

const capabilities = (catalogue: Catalogue): RequestedDocument => ({
  kind: "document",
  name: "wmts",
  contentType: XML_TYPE,
  fileName: "wmts-getcapabilities.xml",
  parts: (baseUrl) => wmtsCapabilities(catalogue, baseUrl),
});

/**
 * Parses `{layer}/[{style}/]{gridSet}/{tileMatrix}/{row}/{col}`, rows from the top, followed by `/{j}/{i}` for
 * GetFeatureInfo (GWC's addresses). `rest` is the path after `/service/wmts/rest`.
 */
export function parseWmtsRest(
  catalogue: Catalogue,
  rest: readonly string[],
  query: Query,
): Result<ParsedAddress, ProtocolRefusal> {
  // GWC's address of TileJSON: {layer}/[{style}/]tilejson/{ext}.
  if ((rest.length === 3 || rest.length === 4) && rest.at(-2) === "tilejson") {
    const requested = new Map(query).set("FORMAT", rest.at(-1) ?? "");
    if (rest.length === 4) requested.set("STYLES", rest[1] ?? "");
    return parseTileJson(catalogue, rest.slice(0, 1), requested);
  }
  return rest.length === 7 || rest.length === 8
    ? parseInfoRest(catalogue, rest, query)
    : parseTileRest(catalogue, rest, query);
}

function parseInfoRest(
  catalogue: Catalogue,
  rest: readonly string[],
  query: Query,
): Result<ParsedAddress, ProtocolRefusal> {
  const [jText = "", iText = ""] = rest.slice(-2);
  const layer = findLayer(catalogue, rest[0] ?? "");
  if (!layer.ok) return layer;
  const given = query.get("FORMAT") ?? query.get("INFOFORMAT") ?? "";
  const infoFormat = parseInfoFormat("format", given, layer.value);
  if (!infoFormat.ok) return infoFormat;
  if (!hasFeatureInfo(layer.value)) return notFound(`The layer ${layer.value.name} does not support GetFeatureInfo`);
  // The tile is not rendered, so any format will do.
  const asTile = new Map(query).set("FORMAT", layer.value.formats[0]?.mimeType ?? "");
  const tile = parseTileRest(catalogue, rest.slice(0, -2), asTile);
  if (!tile.ok || tile.value.kind !== "tile") return tile;
  const { gridSet } = tile.value.request.subset;
  const i = wholeNumber("i", iText);
  if (!i.ok) return i;
  const j = wholeNumber("j", jText);
  if (!j.ok) return j;
  if (i.value >= gridSet.tileWidth) return refuse(badField("i", `0 to ${gridSet.tileWidth - 1}`, iText));
  if (j.value >= gridSet.tileHeight) return refuse(badField("j", `0 to ${gridSet.tileHeight - 1}`, jText));
  const at = { i: i.value, j: j.value, infoFormat: infoFormat.value, featureCount: featureCount(query) };
  return ok({ kind: "info", query: infoOfTile(tile.value.request, at) });
}

function parseTileRest(
  catalogue: Catalogue,
  rest: readonly string[],
  query: Query,
): Result<ParsedAddress, ProtocolRefusal> {
  if (rest.length === 1 && rest[0] === "WMTSCapabilities.xml") return ok(capabilities(catalogue));
  if (rest.length !== 5 && rest.length !== 6) {
    return notFound(
      "A WMTS address is /service/wmts/rest/{layer}/{style}/{gridSet}/{tileMatrix}/{row}/{col}?format={format} or /service/wmts/rest/WMTSCapabilities.xml",
    );
  }
  const layer = findLayer(catalogue, rest[0] ?? "");
  if (!layer.ok) return layer;
  const [gridText = "", matrixText = "", rowText = "", last = ""] = rest.slice(-4);
  const subset = findGrid(layer.value, gridText);
  if (!subset.ok) return subset;
  const z = findLevel(subset.value.gridSet, matrixText);
  if (z === undefined) {
    const names = subset.value.gridSet.matrices.map((m) => m.name).join(", ");
    return refuse(badField("tile matrix", `a level's number or one of ${names}`, matrixText));
  }
  const row = wholeNumber("row", rowText);
  if (!row.ok) return row;
  const { stem, extension } = splitExtension(last);
  const column = wholeNumber("col", stem);
  if (!column.ok) return column;
  const mimeType = query.get("FORMAT") ?? "";
  if (mimeType === "" && extension === undefined) {
    return refuse(badField("format", `one of ${layer.value.formats.map((f) => f.mimeType).join(", ")}`, ""));
  }
  return resolveTile(
    { layer: layer.value, subset: subset.value },
    mimeType === "" ? findFormatOfExtension(layer.value, extension) : findFormat(layer.value, mimeType),
    parametersWithStyle(layer.value, query, rest.length === 6 ? rest[1] : undefined),
    { z, column: column.value, row: row.value, rows: "top" },
  );
}

type Failed = { readonly ok: false; readonly error: ProtocolRefusal };

const missing = (locator: string): Failed =>
  refuse({
    code: "bad_field",
    field: locator,
    expected: "a value",
    value: "none",
    exception: { code: "MissingParameterValue", locator },
  });
const as = (refusal: ProtocolRefusal, code: string, locator: string): Failed =>
  refuse(refusal.code === "layer_disabled" ? refusal : { ...refusal, exception: { code, locator } });
const invalid = (locator: string, refusal: ProtocolRefusal): Failed => as(refusal, "InvalidParameterValue", locator);

/**
 * Parses WMTS by key and value. Makes GWC's checks in GWC's order, with its codes (`docs/explanation/geowebcache.md`,
 * Tile services). First refuses another SERVICE or VERSION, which GWC ignores.
 */
export function parseWmtsKvp(catalogue: Catalogue, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const service = query.get("SERVICE") ?? "";
  const request = query.get("REQUEST") ?? "";
  // QGIS appends SERVICE=WMS&REQUEST=GetCapabilities to an address that does not name WMTS.
  const isOfQgis =
    service.toLowerCase() === "wms" &&
    request.toLowerCase() === "getcapabilities" &&
    !catalogue.service.isCiteCompliant;
  if (service !== "" && service.toLowerCase() !== "wmts" && !isOfQgis)
    return invalid("service", badField("service", "WMTS", service));
  if (request === "") return missing("request");
  const lacking = catalogue.service.isCiteCompliant ? lackOfCite(request.toLowerCase(), query) : undefined;
  if (lacking !== undefined) return lacking;
  // GetCapabilities has no VERSION: clients learn the version from the response (OGC 06-121r3, 7.3.2).
  if (request.toLowerCase() === "getcapabilities") return ok(capabilities(catalogue));
  const version = query.get("VERSION") ?? "";
  if (version !== "" && version !== "1.0.0") return invalid("version", badField("version", "1.0.0", version));
  switch (request.toLowerCase()) {
    case "gettile":
      return parseGetTile(catalogue, query);
    case "getfeatureinfo":
      return parseGetFeatureInfo(catalogue, query);
    case "gettilejson":
      return parseGetTileJson(catalogue, query);
    default:
      return invalid(
        "request",
        badField("request", "GetCapabilities, GetTile, GetFeatureInfo or GetTileJSON", request),
      );
  }
}

/** Returns the refusal of a request that the conformance tests require, in the order of GeoWebCache's checks. */
function lackOfCite(request: string, query: Query): Failed | undefined {
  if ((query.get("SERVICE") ?? "") === "") return missing("service");
  const versions = query.get("ACCEPTVERSIONS") ?? "";
  if (versions !== "" && !versions.split(",").some((version) => version.trim() === "1.0.0"))
    return as(badField("acceptVersions", "1.0.0 among them", versions), "VersionNegotiationFailed", "acceptVersions");
  if (request === "gettile" && !query.has("STYLE")) return missing("STYLE");
  if (request === "getfeatureinfo" && (query.get("FORMAT") ?? "") === "") return missing("FORMAT");
  return undefined;
}

/**
 * Parses GetTileJSON, GWC's addition to the protocol: LAYER, and the fields of a tile request that differ from the
 * defaults.
 */
function parseGetTileJson(catalogue: Catalogue, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const name = query.get("LAYER") ?? "";
  if (name === "") return missing("LAYER");
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return invalid("LAYER", layer.error);
  const gridSet = query.get("TILEMATRIXSET") ?? "";
  const subset = gridSet === "" ? undefined : findGrid(layer.value, gridSet);
  if (subset?.ok === false) return invalid("TILEMATRIXSET", subset.error);
  const requested = new Map(query).set("STYLES", query.get("STYLE") ?? query.get("STYLES") ?? "");
  return parseTileJson(catalogue, gridSet === "" ? [name] : [name, gridSet], requested);
}

/**
 * Parses GetFeatureInfo: the fields of GetTile, with INFOFORMAT instead of FORMAT, then the pixel
 * (`docs/explanation/geowebcache.md`, Tile services).
 */
function parseGetFeatureInfo(catalogue: Catalogue, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const tile = parseGetTile(catalogue, query, "INFOFORMAT");
  if (!tile.ok || tile.value.kind !== "tile") return tile;
  const { tileWidth, tileHeight } = tile.value.request.subset.gridSet;
  const pixel = (key: "I" | "J", side: number): Result<number, ProtocolRefusal> => {
    const text = query.get(key) ?? "";
    if (!/^-?\d+$/.test(text)) return missing(key);
    if (Number(text) >= 0 && Number(text) < side) return ok(Number(text));
    return as(badField(key, `a pixel from 0 to ${side - 1}`, text), "PointIJOutOfRange", key);
  };
  const i = pixel("I", tileWidth);
  if (!i.ok) return i;
  const j = pixel("J", tileHeight);
  if (!j.ok) return j;
  const infoFormat = query.get("INFOFORMAT") ?? "";
  const at = { i: i.value, j: j.value, infoFormat, featureCount: featureCount(query) };
  return ok({ kind: "info", query: infoOfTile(tile.value.request, at) });
}

/** Returns a query without dimensions whose value is the word for the default (OGC 07-057r7, 7.1.1.2). */
function withDefaults({ parameterFilters }: Layer, query: Query): Query {
  const isDefault = (key: string, value: string): boolean =>
    value.toLowerCase() === "default" &&
    parameterFilters.some(
      (filter) => filter.key === key && key !== "STYLES" && legalValue(filter, value) === undefined,
    );
  return new Map([...query].filter(([key, value]) => !isDefault(key, value)));
}

function parseGetTile(
  catalogue: Catalogue,
  query: Query,
  formatKey: "FORMAT" | "INFOFORMAT" = "FORMAT",
): Result<ParsedAddress, ProtocolRefusal> {
  const value = (key: string): string => query.get(key) ?? "";
  if (value("LAYER") === "") return missing("LAYER");
  const layer = findLayer(catalogue, value("LAYER"));
  if (!layer.ok) return invalid("LAYER", layer.error);

  const { isCiteCompliant } = catalogue.service;
  const style = query.get("STYLE") ?? "";
  if (
    isCiteCompliant &&
    stylesFilter(layer.value.parameterFilters) === undefined &&
    !isDefaultStyle(layer.value, style)
  )
    return invalid("STYLE", badField("STYLE", `one of ${styleNames(layer.value).join(", ")}`, style));
  const values = isCiteCompliant ? withDefaults(layer.value, query) : query;
  const parameters = parametersWithStyle(layer.value, values, query.get("STYLE"));
  if (!parameters.ok) {
    const key = refusedKey(layer.value, values);
    return invalid(key === "STYLES" && query.has("STYLE") ? "STYLE" : key, parameters.error);
  }

  if (formatKey === "INFOFORMAT" && !hasFeatureInfo(layer.value)) {
    const message = `The layer ${layer.value.name} does not support GetFeatureInfo`;
    return as({ code: "bad_field", message }, "OperationNotSupported", "request");
  }
  if (value(formatKey) === "") return missing(formatKey);
  const infoFormat = formatKey === "FORMAT" ? undefined : parseInfoFormat(formatKey, value(formatKey), layer.value);
  if (infoFormat?.ok === false) return invalid(formatKey, infoFormat.error);
  // A query about a pixel needs no picture, so any format will do.
  const format = findFormat(
    layer.value,
    infoFormat === undefined ? value("FORMAT") : (layer.value.formats[0]?.mimeType ?? ""),
  );
  if (!format.ok) return invalid("FORMAT", format.error);

  if (value("TILEMATRIXSET") === "") return missing("TILEMATRIXSET");
  const subset = findGrid(layer.value, value("TILEMATRIXSET"));
  if (!subset.ok) return invalid("TILEMATRIXSET", subset.error);

  if (value("TILEMATRIX") === "") return missing("TILEMATRIX");
  const z = findLevel(subset.value.gridSet, value("TILEMATRIX"));
  const range = z === undefined ? undefined : offeredRange(subset.value, z, "top");
  const column = Number(value("TILECOL"));
  const row = Number(value("TILEROW"));
  const found = offeredTile(
    { layer: layer.value, subset: subset.value, format: format.value, parameters: parameters.value },
    { z: z ?? asZoom(-1), column, row, rows: "top" },
  );
  const outside = found.ok || found.error.outside === undefined ? {} : { outside: found.error.outside };
  if (z === undefined || range === undefined) {
    const names = subset.value.gridSet.matrices.flatMap((m, n) =>
      coverageAt(subset.value, asZoom(n)) === undefined ? [] : [m.name],
    );
    const refusal = badField("TILEMATRIX", `one of ${names.join(", ")}`, value("TILEMATRIX"));
    return invalid("TILEMATRIX", z === undefined ? refusal : { ...refusal, ...outside });
  }

  for (const key of ["TILEROW", "TILECOL"]) {
    if (value(key) === "") return missing(key);
    if (!/^-?\d+$/.test(value(key))) return invalid(key, badField(key, "a whole number", value(key)));
  }
  const beyond = (expected: string, locator: "TILECOL" | "TILEROW"): Failed =>
    as(
      { ...badField(locator, expected, value(locator)), code: "outside_coverage", ...outside },
      "TileOutOfRange",
      locator,
    );
  if (column < range.minColumn || column > range.maxColumn)
    return beyond(`a column from ${range.minColumn} to ${range.maxColumn}`, "TILECOL");
  if (row < range.minRow || row > range.maxRow)
    return beyond(`a row from ${range.minRow} to ${range.maxRow}`, "TILEROW");
  return found;
}
