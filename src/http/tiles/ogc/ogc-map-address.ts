import { type Extent, sameSrs } from "../../../grid/grid-set.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { defaultSubset, type Layer, publicName } from "../../../layer/layer.ts";
import { badField, type FieldRefusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import { crsBoxes } from "../geographic-box.ts";
import { findRequestedFormat, type ParsedAddress, type ProtocolRefusal } from "../tile-parts.ts";
import { parseWms } from "../wms/wms-address.ts";
import { formatsOf } from "./ogc-documents.ts";
import { boxIn, epsgCrs, parseArea, parseCrsName, type RequestedArea, type RequestedCrs } from "./ogc-map-area.ts";

/** The longest side of a map without `width`, `height` and `scale-denominator`, in pixels. */
const STANDARD_SIDE = 1024;
const STANDARD_MM_PER_PIXEL = 0.28;

/**
 * Parses a map of a collection (OGC API - Maps - Part 1, OGC 20-058: core, scaling, spatial subsetting, CRS,
 * background). A map is a WMS map of the same layer, so the parameters are translated to GetMap.
 */
export function parseMap(catalogue: Catalogue, layer: Layer, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const format = findRequestedFormat({ formats: formatsOf(layer, "map") }, query.get("F"));
  if (!format.ok) return format;
  const target = parseTarget(layer, query);
  if (!target.ok) return target;
  const { crs, subset } = target.value;
  const { srs } = subset.gridSet;
  const whole = [...crsBoxes(layer).values()].find((one) => sameSrs(one.subset.gridSet.srs, srs))?.box;
  if (whole === undefined) return refuse(badField("crs", "a CRS of the layer", crs.uri));
  const area = parseArea(query, (other) => boxIn(srs, other, whole));
  if (!area.ok) return area;
  const map = parseFrame(query, { area: area.value, whole, subset });
  if (!map.ok) return map;
  const { box, width, height } = map.value;
  const wms = new Map(query)
    .set("REQUEST", "GetMap")
    .set("VERSION", "1.1.1")
    .set("LAYERS", publicName(layer))
    .set("SRS", `EPSG:${srs}`)
    .set("BBOX", [box.minX, box.minY, box.maxX, box.maxY].join(","))
    .set("WIDTH", String(width))
    .set("HEIGHT", String(height))
    .set("FORMAT", format.value.mimeType);
  wms.delete("CRS");
  const parsed = parseWms(catalogue, wms);
  if (!parsed.ok) return parsed;
  const corners = crs.isYFirst ? [box.minY, box.minX, box.maxY, box.maxX] : [box.minX, box.minY, box.maxX, box.maxY];
  const headers = { "Content-Crs": `<${crs.uri}>`, "Content-Bbox": corners.join(",") };
  return ok({ ...parsed.value, headers });
}

/** The CRS of a map, and a grid set of the layer in this CRS. */
interface Target {
  readonly crs: RequestedCrs;
  readonly subset: GridSubset;
}

function parseTarget(layer: Layer, query: Query): Result<Target, FieldRefusal> {
  const standard = defaultSubset(layer);
  if (!query.has("CRS") && standard !== undefined) return ok({ crs: epsgCrs(standard.gridSet.srs), subset: standard });
  const crs = parseCrsName(query, "crs");
  if (!crs.ok) return crs;
  const subset = layer.gridSubsets.find(({ gridSet }) => sameSrs(gridSet.srs, crs.value.srs));
  if (subset !== undefined) return ok({ crs: crs.value, subset });
  const known = new Set(layer.gridSubsets.map(({ gridSet }) => epsgCrs(gridSet.srs).uri));
  return refuse(badField("crs", `one of ${[...known].join(", ")}`, query.get("CRS")));
}

/** The box and the size of a map. */
interface Frame {
  readonly box: Extent;
  readonly width: number;
  readonly height: number;
}

/** Parses the area and the scaling of a map. */
function parseFrame(
  query: Query,
  { area, whole, subset }: { readonly area: RequestedArea; readonly whole: Extent; readonly subset: GridSubset },
): Result<Frame, FieldRefusal> {
  const { srs, metersPerUnit } = subset.gridSet;
  const width = parseNumber(query, "width", "a number of pixels", /^[1-9]\d{0,8}$/);
  if (!width.ok) return width;
  const height = parseNumber(query, "height", "a number of pixels", /^[1-9]\d{0,8}$/);
  if (!height.ok) return height;
  const scale = parseNumber(query, "scale-denominator", "a number above 0", /^\d{1,12}(?:\.\d{1,12})?$/);
  if (!scale.ok) return scale;
  const mm = parseNumber(query, "mm-per-pixel", "a number above 0", /^\d{1,6}(?:\.\d{1,12})?$/);
  if (!mm.ok) return mm;
  /** Units of the CRS per pixel. */
  const wanted =
    scale.value === undefined ? undefined : (scale.value * (mm.value ?? STANDARD_MM_PER_PIXEL)) / 1000 / metersPerUnit;
  if (area.kind === "centre") {
    const at = { minX: area.x, minY: area.y, maxX: area.x, maxY: area.y };
    const point = boxIn(area.crs.srs, srs, at);
    if (point === undefined) return refuse(badField("center", "a point in the area of crs", query.get("CENTER")));
    const [w, h] = [width.value ?? height.value ?? STANDARD_SIDE, height.value ?? width.value ?? STANDARD_SIDE];
    const resolution = wanted ?? Math.max((whole.maxX - whole.minX) / w, (whole.maxY - whole.minY) / h);
    const [halfX, halfY] = [(w * resolution) / 2, (h * resolution) / 2];
    const { minX: x, minY: y } = point;
    return ok({ box: { minX: x - halfX, minY: y - halfY, maxX: x + halfX, maxY: y + halfY }, width: w, height: h });
  }
  const box = area.kind === "whole" ? whole : boxIn(area.crs.srs, srs, area.box);
  if (box === undefined) return refuse(badField("bbox", "a box in the area of crs", query.get("BBOX")));
  if (wanted !== undefined && (width.value !== undefined || height.value !== undefined))
    return refuse(badField("scale-denominator", "no width or height beside it, unless center is given", scale.value));
  const [spanX, spanY] = [box.maxX - box.minX, box.maxY - box.minY];
  const resolution = wanted ?? resolutionOf(width.value, height.value, spanX, spanY);
  return ok({
    box,
    width: width.value ?? Math.max(1, Math.round(spanX / resolution)),
    height: height.value ?? Math.max(1, Math.round(spanY / resolution)),
  });
}

/** Returns the units per pixel of a map with a width or a height, or with neither. */
function resolutionOf(width: number | undefined, height: number | undefined, spanX: number, spanY: number): number {
  if (width !== undefined) return spanX / width;
  return height !== undefined ? spanY / height : Math.max(spanX, spanY) / STANDARD_SIDE;
}

function parseNumber(
  query: Query,
  key: string,
  expected: string,
  form: RegExp,
): Result<number | undefined, FieldRefusal> {
  const text = query.get(key.toUpperCase());
  if (text === undefined) return ok(undefined);
  return form.test(text) && Number(text) > 0 ? ok(Number(text)) : refuse(badField(key, expected, text));
}
