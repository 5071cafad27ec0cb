import type { Catalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import { parseParameters } from "../../layer/parameter-filter.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { splitExtension, wholeNumber } from "./address.ts";
import {
  type Asked,
  type AskedDocument,
  type DoorRefusal,
  findFormat,
  findFormatOfExtension,
  findGrid,
  findLayer,
  levelOf,
  notFound,
  offeredRange,
  tileAt,
  XML_TYPE,
} from "./tile-parts.ts";
import { wmtsCapabilities } from "./wmts-capabilities.ts";
import { parametersWithStyle } from "./wmts-style.ts";

const capabilities = (catalogue: Catalogue): AskedDocument => ({
  kind: "document",
  name: "wmts",
  contentType: XML_TYPE,
  fileName: "wmts-getcapabilities.xml",
  write: (baseUrl) => wmtsCapabilities(catalogue, baseUrl),
});

/** `{layer}/[{style}/]{gridSet}/{tileMatrix}/{row}/{col}`, rows from the top. `rest` is what follows `/service/wmts/rest`. */
export function parseWmtsRest(
  catalogue: Catalogue,
  rest: readonly string[],
  query: ReadonlyMap<string, string>,
): Result<Asked, Refusal> {
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
  const z = levelOf(subset.value.gridSet, matrixText);
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
  const format = mimeType === "" ? findFormatOfExtension(layer.value, extension) : findFormat(layer.value, mimeType);
  if (!format.ok) return format;
  const parameters = parametersWithStyle(layer.value, query, rest.length === 6 ? rest[1] : undefined);
  if (!parameters.ok) return parameters;
  return tileAt(
    { layer: layer.value, subset: subset.value, format: format.value, parameters: parameters.value },
    { z, column: column.value, row: row.value, rows: "top" },
  );
}

type Failed = { readonly ok: false; readonly error: DoorRefusal };

const missing = (locator: string): Failed =>
  refuse({
    code: "bad_field",
    message: `${locator}: expected a value, got none`,
    exception: { code: "MissingParameterValue", locator },
  });
const as = (refusal: Refusal, code: string, locator: string): Failed =>
  refuse({ ...refusal, exception: { code, locator } });
const invalid = (locator: string, refusal: Refusal): Failed => as(refusal, "InvalidParameterValue", locator);

/** WMTS by key and value: GWC's checks in GWC's order, with its exception codes (`gwc-core.md` 5.2). */
export function parseWmtsKvp(catalogue: Catalogue, query: ReadonlyMap<string, string>): Result<Asked, DoorRefusal> {
  const request = query.get("REQUEST") ?? "";
  switch (request.toLowerCase()) {
    case "":
      return missing("request");
    case "getcapabilities":
      return ok(capabilities(catalogue));
    case "gettile":
      return parseGetTile(catalogue, query);
    case "getfeatureinfo":
      return as(
        { code: "bad_field", message: "GetFeatureInfo is not offered: tiles are all there is" },
        "OperationNotSupported",
        "request",
      );
    default:
      return invalid("request", badField("request", "GetCapabilities or GetTile", request));
  }
}

/** The key whose value no filter takes, as the request wrote it. */
function refusedKey(layer: Layer, query: ReadonlyMap<string, string>): string {
  const others = layer.parameterFilters.filter((f) => f.key !== "STYLES");
  return (
    others.find((f) => !parseParameters([f], query, "ignore").ok)?.key ?? (query.has("STYLE") ? "STYLE" : "STYLES")
  );
}

function parseGetTile(catalogue: Catalogue, query: ReadonlyMap<string, string>): Result<Asked, DoorRefusal> {
  const value = (key: string): string => query.get(key) ?? "";
  if (value("LAYER") === "") return missing("LAYER");
  const layer = findLayer(catalogue, value("LAYER"));
  if (!layer.ok) return invalid("LAYER", layer.error);

  const parameters = parametersWithStyle(layer.value, query, query.get("STYLE"));
  if (!parameters.ok) {
    return invalid(refusedKey(layer.value, query), parameters.error);
  }

  if (value("FORMAT") === "") return missing("FORMAT");
  const format = findFormat(layer.value, value("FORMAT"));
  if (!format.ok) return invalid("FORMAT", format.error);

  if (value("TILEMATRIXSET") === "") return missing("TILEMATRIXSET");
  const subset = findGrid(layer.value, value("TILEMATRIXSET"));
  if (!subset.ok) return invalid("TILEMATRIXSET", subset.error);

  if (value("TILEMATRIX") === "") return missing("TILEMATRIX");
  const z = levelOf(subset.value.gridSet, value("TILEMATRIX"));
  const range = z === undefined ? undefined : offeredRange(subset.value, z, "top");
  if (z === undefined || range === undefined) {
    const names = subset.value.gridSet.matrices.flatMap((m, n) => (n in subset.value.coverage ? [m.name] : []));
    return invalid("TILEMATRIX", badField("TILEMATRIX", `one of ${names.join(", ")}`, value("TILEMATRIX")));
  }

  for (const key of ["TILEROW", "TILECOL"]) {
    if (value(key) === "") return missing(key);
    if (!/^-?\d+$/.test(value(key))) return invalid(key, badField(key, "a whole number", value(key)));
  }
  const column = Number(value("TILECOL"));
  const row = Number(value("TILEROW"));
  if (column < range.minColumn || column > range.maxColumn) {
    const expected = `a column from ${range.minColumn} to ${range.maxColumn}`;
    return as(
      { ...badField("TILECOL", expected, value("TILECOL")), code: "outside_coverage" },
      "TileOutOfRange",
      "TILECOL",
    );
  }
  if (row < range.minRow || row > range.maxRow) {
    const expected = `a row from ${range.minRow} to ${range.maxRow}`;
    return as(
      { ...badField("TILEROW", expected, value("TILEROW")), code: "outside_coverage" },
      "TileOutOfRange",
      "TILEROW",
    );
  }
  return tileAt(
    { layer: layer.value, subset: subset.value, format: format.value, parameters: parameters.value },
    { z, column, row, rows: "top" },
  );
}
