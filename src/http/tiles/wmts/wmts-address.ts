import { asZoom } from "../../../grid/grid-set.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { legalValue } from "../../../layer/filter/parameter-filter.ts";
import { coverageAt } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import {
  findFormat,
  findGrid,
  findLayer,
  findLevel,
  offeredRange,
  offeredTile,
  type ParsedAddress,
  type ProtocolRefusal,
  type QueryParser,
} from "../tile-parts.ts";
import { featureCount, hasFeatureInfo, infoOfTile, parseInfoFormat } from "../wms/info-address.ts";
import { parseTileJson } from "../xyz/tilejson.ts";
import { as, type Failed, invalid, missing } from "./wmts-exceptions.ts";
import { parseGetCapabilities } from "./wmts-get-capabilities.ts";
import { parametersWithStyle, refusedKey, refuseStyle } from "./wmts-style.ts";

/**
 * Parses WMTS by key and value. Makes GWC's checks in GWC's order, with its codes (`docs/explanation/geowebcache.md`,
 * Tile services). First refuses another SERVICE or VERSION, which GWC ignores.
 */
export const parseWmtsKvp: QueryParser = (catalogue, query) => {
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
  if (request.toLowerCase() === "getcapabilities") return parseGetCapabilities(catalogue, query);
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
};

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
const parseGetTileJson: QueryParser = (catalogue, query) => {
  const name = query.get("LAYER") ?? "";
  if (name === "") return missing("LAYER");
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return invalid("LAYER", layer.error);
  const gridSet = query.get("TILEMATRIXSET") ?? "";
  const subset = gridSet === "" ? undefined : findGrid(layer.value, gridSet);
  if (subset?.ok === false) return invalid("TILEMATRIXSET", subset.error);
  const requested = new Map(query).set("STYLES", query.get("STYLE") ?? query.get("STYLES") ?? "");
  return parseTileJson(catalogue, gridSet === "" ? [name] : [name, gridSet], requested);
};

/**
 * Parses GetFeatureInfo: the fields of GetTile, with INFOFORMAT instead of FORMAT, then the pixel
 * (`docs/explanation/geowebcache.md`, Tile services).
 */
const parseGetFeatureInfo: QueryParser = (catalogue, query) => {
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
};

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
  const style = refuseStyle(catalogue, layer.value, query.get("STYLE") ?? "");
  if (style !== undefined) return style;
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
