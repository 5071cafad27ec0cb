import { isYFirst } from "../../../grid/crs/axis-order.ts";
import { canonicalSrs, type Extent } from "../../../grid/grid-set.ts";
import { isDimension, type Parameters, stylesFilter } from "../../../layer/filter/parameter-filter.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import type { ProtocolRefusal, Refused } from "../tile-parts.ts";
import { isDefaultStyle, parametersWithStyle, refusedKey } from "../wmts/wmts-style.ts";
import { wmsVersion } from "./wms-version.ts";

/** Refuses with an exception code of the standard (OGC 06-042, table E.1). */
export const withCode = (refusal: Refusal, code: string): Refused => refuse({ ...refusal, exception: { code } });

/**
 * Parses the values of parameter filters. A wrong style or dimension has its own exception code (OGC 06-042, table
 * E.1).
 */
export function parseFilters(layer: Layer, query: Query): Result<Parameters, ProtocolRefusal> {
  const parameters = parametersWithStyle(layer, query, query.get("STYLES"));
  if (parameters.ok) return parameters;
  const key = refusedKey(layer, query);
  if (key === "STYLES") return withCode(parameters.error, "StyleNotDefined");
  return isDimension(key) ? withCode(parameters.error, "InvalidDimensionValue") : parameters;
}

/** The order of the numbers of a box. */
export type Axes = "x, y" | "y, x";

/**
 * Returns the subsets in the requested CRS, and the axis order of BBOX, which in WMS 1.3.0 is the order of the CRS
 * (6.7.2).
 */
export function parseCrs(
  layer: Layer,
  query: Query,
): Result<{ readonly offered: readonly [GridSubset, ...GridSubset[]]; readonly axes: Axes }, ProtocolRefusal> {
  const version = wmsVersion(query);
  const crs = (version === "1.3.0" ? query.get("CRS") : query.get("SRS")) ?? query.get("SRS") ?? query.get("CRS") ?? "";
  const crs84 = crs.toUpperCase() === "CRS:84";
  const code = crs84 ? 4326 : Number(/^EPSG:(\d{1,9})$/i.exec(crs)?.[1] ?? Number.NaN);
  const [first, ...others] = layer.gridSubsets.filter((s) => canonicalSrs(s.gridSet.srs) === canonicalSrs(code));
  if (first === undefined) {
    const field = version === "1.3.0" ? "CRS" : "SRS";
    const known = [...new Set(layer.gridSubsets.map((s) => `EPSG:${s.gridSet.srs}`))];
    return withCode(
      badField(field, `one of ${known.join(", ")}`, crs),
      version === "1.3.0" ? "InvalidCRS" : "InvalidSRS",
    );
  }
  const swapped = version === "1.3.0" && !crs84 && isYFirst(first.gridSet);
  return ok({ offered: [first, ...others], axes: swapped ? "y, x" : "x, y" });
}

export function parseSize(query: Query): Result<{ readonly width: number; readonly height: number }, Refusal> {
  const width = positive(query, "WIDTH");
  if (!width.ok) return width;
  const height = positive(query, "HEIGHT");
  return height.ok ? ok({ width: width.value, height: height.value }) : height;
}

function positive(query: Query, key: string): Result<number, Refusal> {
  const text = query.get(key) ?? "";
  return /^[1-9]\d{0,8}$/.test(text) ? ok(Number(text)) : refuse(badField(key, "a number of pixels", text));
}

export function parseBox(text: string, axes: Axes): Result<Extent, Refusal> {
  const parts = text.split(",").map((part) => part.trim());
  const [a, b, c, d] = parts.map((part) => (part === "" ? Number.NaN : Number(part)));
  const named = `four numbers, ${axes === "x, y" ? "minx,miny,maxx,maxy" : "miny,minx,maxy,maxx"}`;
  if (parts.length !== 4 || a === undefined || b === undefined || c === undefined || d === undefined) {
    return refuse(badField("BBOX", named, text));
  }
  const box = axes === "x, y" ? { minX: a, minY: b, maxX: c, maxY: d } : { minX: b, minY: a, maxX: d, maxY: c };
  const fine = [a, b, c, d].every(Number.isFinite) && box.minX < box.maxX && box.minY < box.maxY;
  return fine ? ok(box) : refuse(badField("BBOX", `${named}, minima below maxima`, text));
}

/** Refuses a style of a layer that has no styles. A request of one tile may have any style there, as in GWC. */
export function refuseUnknownStyle(layer: Layer, query: Query): Refused | undefined {
  const style = query.get("STYLES") ?? "";
  if (stylesFilter(layer.parameterFilters) !== undefined || isDefaultStyle(layer, style)) return undefined;
  return withCode(
    badField("STYLES", `no style, because layer ${layer.name} has one style without a name`, style),
    "StyleNotDefined",
  );
}
