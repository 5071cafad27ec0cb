import type { MapRequest } from "../../../cache/map-renderer.ts";
import { isYFirst } from "../../../grid/crs/axis-order.ts";
import {
  asTileIndex,
  asTileX,
  asTileY,
  asZoom,
  canonicalSrs,
  type Extent,
  extentText,
  type GridSet,
  intersectRects,
  rectCount,
  rectHolds,
  rectOf,
  type TileX,
  type TileY,
  tileExtent,
  type Zoom,
} from "../../../grid/grid-set.ts";
import type { Colour } from "../../../image/compose.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { allValues, type Parameters } from "../../../layer/filter/parameter-filter.ts";
import type { ImageFormat } from "../../../layer/format.ts";
import { coverageAt, type GridSubset } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { badField, type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../query.ts";
import {
  findFormat,
  findLayer,
  offeredTile,
  type ParsedAddress,
  type ProtocolRefusal,
  XML_TYPE,
} from "../tile-parts.ts";
import { parametersWithStyle, refusedKey } from "../wmts/wmts-style.ts";
import { featureCount, hasFeatureInfo, parseInfoFormat } from "./info-address.ts";
import { parseGetLegendGraphic } from "./legend-address.ts";
import { MAX_SIDE } from "./map-limits.ts";
import { wmsCapabilities111, wmsCapabilities130 } from "./wms-capabilities.ts";

export type WmsVersion = "1.1.1" | "1.3.0";

/** Returns the version of a request. Every version other than 1.3 is answered as 1.1.1, GWC's only version. */
export const wmsVersion = (query: Query): WmsVersion =>
  query.get("VERSION")?.startsWith("1.3") === true ? "1.3.0" : "1.1.1";

const as = (refusal: Refusal, code: string): { readonly ok: false; readonly error: ProtocolRefusal } =>
  refuse({ ...refusal, exception: { code } });

/**
 * Parses a WMS request: the capabilities, GetMap of exactly one tile (WMS-C, `docs/explanation/geowebcache.md`, Tile
 * services), and GetMap of any extent if the layer has `fullWms`.
 */
export function parseWms(catalogue: Catalogue, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const request = query.get("REQUEST") ?? "";
  switch (request.toLowerCase()) {
    case "getmap":
      return parseGetMap(catalogue, query);
    case "getfeatureinfo":
      return parseGetFeatureInfo(catalogue, query);
    case "getlegendgraphic":
      return parseGetLegendGraphic(catalogue, query);
    case "getcapabilities":
    case "capabilities":
      return ok(wmsVersion(query) === "1.3.0" ? capabilities130(catalogue) : capabilities111(catalogue, query));
    default:
      return as(
        badField("REQUEST", "GetMap, GetFeatureInfo, GetLegendGraphic or GetCapabilities", request),
        "OperationNotSupported",
      );
  }
}

const capabilities130 = (catalogue: Catalogue): ParsedAddress => ({
  kind: "document",
  name: "wms/1.3.0",
  contentType: XML_TYPE,
  parts: (baseUrl) => wmsCapabilities130(catalogue, baseUrl),
});

function capabilities111(catalogue: Catalogue, query: Query): ParsedAddress {
  const tileSets = query.get("TILED")?.toLowerCase() === "true" ? "listed" : "left out";
  return {
    kind: "document",
    name: `wms/1.1.1/${tileSets}`,
    contentType: "application/vnd.ogc.wms_xml",
    parts: (baseUrl) => wmsCapabilities111(catalogue, baseUrl, tileSets),
  };
}

function parseGetMap(catalogue: Catalogue, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const name = query.get("LAYERS") ?? "";
  if (name === "") return refuse(badField("LAYERS", "the name of one layer", name));
  if (!catalogue.layers.has(name) && name.includes(",")) {
    const unknown = name.split(",").find((one) => !catalogue.layers.has(one));
    if (unknown !== undefined) return as(unknownLayer(unknown), "LayerNotDefined");
    return refuse(badField("LAYERS", "one layer per request", name));
  }
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return as(layer.error, "LayerNotDefined");

  const subsets = parseCrs(layer.value, query);
  if (!subsets.ok) return subsets;
  const format = findFormat(layer.value, query.get("FORMAT") ?? "");
  if (!format.ok) return as(format.error, "InvalidFormat");

  const size = parseSize(query);
  if (!size.ok) return size;
  const { width, height } = size.value;
  const sized = subsets.value.offered.filter(
    ({ gridSet }) => gridSet.tileWidth === width && gridSet.tileHeight === height,
  );
  if (sized.length === 0 && !layer.value.fullWms) {
    const sizes = new Set(subsets.value.offered.map(({ gridSet }) => `${gridSet.tileWidth} x ${gridSet.tileHeight}`));
    const expected = `the size of a tile, ${[...sizes].join(" or ")}`;
    return refuse(badField("WIDTH, HEIGHT", expected, `${width} x ${height}`));
  }

  const box = parseBox(query.get("BBOX") ?? "", subsets.value.axes);
  if (!box.ok) return box;
  const parameters = parseFilters(layer.value, query);
  const fit = bestFit(sized, box.value);
  if (layer.value.fullWms && (fit === undefined || !isOffered(fit) || !isSame(fit, box.value))) {
    if (!parameters.ok) return parameters;
    if (format.value.kind !== "image")
      return as(
        badField("FORMAT", "a format of pictures, because only pictures can be composed", query.get("FORMAT")),
        "InvalidFormat",
      );
    const background = parseBackground(query, format.value);
    if (!background.ok) return background;
    const [subset] = subsets.value.offered;
    return mapOf(
      { layer: layer.value, subset, format: format.value, parameters: parameters.value, ...background.value },
      { extent: box.value, width, height },
    );
  }
  if (fit === undefined) {
    return refuse(
      badField("BBOX", `the extent of one tile of ${sized.map((s) => s.gridSet.id).join(" or ")}`, query.get("BBOX"), [
        nearestHint(sized, box.value),
      ]),
    );
  }

  if (!parameters.ok) return parameters;
  return offeredTile(
    { layer: layer.value, subset: fit.subset, format: format.value, parameters: parameters.value },
    { z: fit.z, column: fit.x, row: fit.y, rows: "bottom" },
  );
}

/** Parses GetFeatureInfo of any box and size. The query is sent to the upstream in the CRS of a grid set. */
function parseGetFeatureInfo(catalogue: Catalogue, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const name = query.get("QUERY_LAYERS") ?? query.get("LAYERS") ?? "";
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return as(layer.error, "LayerNotDefined");
  if (!hasFeatureInfo(layer.value))
    return as(badField("QUERY_LAYERS", "a layer that supports GetFeatureInfo", name), "LayerNotQueryable");
  const subsets = parseCrs(layer.value, query);
  if (!subsets.ok) return subsets;
  const size = parseSize(query);
  if (!size.ok) return size;
  const box = parseBox(query.get("BBOX") ?? "", subsets.value.axes);
  if (!box.ok) return box;
  const pixel = (keys: readonly [string, string], side: number): Result<number, ProtocolRefusal> => {
    const text = query.get(keys[0]) ?? query.get(keys[1]) ?? "";
    if (/^\d{1,9}$/.test(text) && Number(text) < side) return ok(Number(text));
    return as(badField(keys[0], `a pixel from 0 to ${side - 1}`, text), "InvalidPoint");
  };
  const is13 = wmsVersion(query) === "1.3.0";
  const i = pixel(is13 ? ["I", "X"] : ["X", "I"], size.value.width);
  if (!i.ok) return i;
  const j = pixel(is13 ? ["J", "Y"] : ["Y", "J"], size.value.height);
  if (!j.ok) return j;
  const infoFormat = parseInfoFormat("INFO_FORMAT", query.get("INFO_FORMAT") ?? "text/plain", layer.value);
  if (!infoFormat.ok) return as(infoFormat.error, "InvalidFormat");
  const parameters = parseFilters(layer.value, query);
  if (!parameters.ok) return parameters;
  const request = {
    kind: "feature_info" as const,
    gridSet: subsets.value.offered[0].gridSet,
    extent: box.value,
    ...size.value,
    i: i.value,
    j: j.value,
    infoFormat: infoFormat.value,
    featureCount: featureCount(query),
    parameters: allValues(layer.value.parameterFilters, parameters.value.values),
  };
  return ok({ kind: "info", query: { layer: layer.value, request } });
}

const WHITE: Colour = [255, 255, 255];

/**
 * Parses TRANSPARENT and BGCOLOR of a map (OGC 06-042, 7.3.3.9 and 7.3.3.10). Without both, the map is as transparent
 * as its tiles, like a request of one tile.
 */
function parseBackground(query: Query, format: ImageFormat): Result<Pick<MapRequest, "background">, ProtocolRefusal> {
  const transparent = query.get("TRANSPARENT") ?? "";
  if (!/^(true|false|)$/i.test(transparent)) return refuse(badField("TRANSPARENT", "TRUE or FALSE", transparent));
  const given = query.get("BGCOLOR") ?? "";
  const digits = /^(?:0x|#)([0-9a-f]{6})$/i.exec(given)?.[1];
  if (given !== "" && digits === undefined) return refuse(badField("BGCOLOR", "0xRRGGBB", given));
  const isTransparent = transparent === "" ? digits === undefined : transparent.toLowerCase() === "true";
  if (isTransparent && (digits === undefined || format.encoding !== "jpeg")) return ok({});
  return ok({ background: digits === undefined ? WHITE : colourOf(digits) });
}

const colourOf = (digits: string): Colour => {
  const number = Number.parseInt(digits, 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
};

/** The most pixels of a map's window of tiles. */
const MAX_WINDOW_PIXELS = MAX_SIDE * MAX_SIDE;
const MAX_TILES = 256;
/** A level is sharp enough if it is coarser than the map by less than this factor. */
const BLUR = 1.05;

/**
 * Returns the pixels of a window's side. A window has whole pixels and an additional one on each side, so a short side
 * counts too.
 */
const pixels = (span: number, resolution: number): number => Math.max(3, span / resolution);

/** Composes a map from the finest level that it needs, or from a coarser one if that takes too many tiles. */
function mapOf(
  parts: Pick<MapRequest, "layer" | "subset" | "format" | "parameters" | "background">,
  { extent, width, height }: Pick<MapRequest, "extent" | "width" | "height">,
): Result<ParsedAddress, ProtocolRefusal> {
  if (width > MAX_SIDE || height > MAX_SIDE)
    return refuse(badField("WIDTH, HEIGHT", `at most ${MAX_SIDE} x ${MAX_SIDE}`, `${width} x ${height}`));
  const { gridSet, zoomStart } = parts.subset;
  const spanX = extent.maxX - extent.minX;
  const spanY = extent.maxY - extent.minY;
  const wanted = Math.min(spanX / width, spanY / height) * BLUR;
  const levels = gridSet.matrices.flatMap(({ resolution }, level) => {
    const z = asZoom(level);
    const offered = coverageAt(parts.subset, z);
    return offered === undefined ? [] : [{ z, resolution, offered }];
  });
  const needed = levels.findIndex(({ resolution }) => resolution <= wanted);
  for (const { z, resolution, offered } of levels.slice(0, needed < 0 ? undefined : needed + 1).reverse()) {
    if (pixels(spanX, resolution) * pixels(spanY, resolution) > MAX_WINDOW_PIXELS) continue;
    const met = rectOf(gridSet, z, extent);
    const rect = met === undefined ? undefined : intersectRects(met, offered);
    if (rect !== undefined && rectCount(rect) > MAX_TILES) continue;
    return ok({ kind: "map", request: { ...parts, extent, width, height, rect, z } });
  }
  const coarsest = gridSet.matrices[zoomStart]?.resolution ?? 0;
  return refuse(
    badField(
      "BBOX",
      `a map of at most ${MAX_TILES} tiles of ${gridSet.id} at ${coarsest} units per pixel`,
      extentText(extent),
    ),
  );
}

/**
 * Parses the values of parameter filters. A wrong style or dimension has its own exception code (OGC 06-042, table
 * E.1).
 */
function parseFilters(layer: Layer, query: Query): Result<Parameters, ProtocolRefusal> {
  const parameters = parametersWithStyle(layer, query, query.get("STYLES"));
  if (parameters.ok) return parameters;
  const key = refusedKey(layer, query);
  if (key === "STYLES") return as(parameters.error, "StyleNotDefined");
  return /^(TIME|ELEVATION|DIM_.*)$/.test(key) ? as(parameters.error, "InvalidDimensionValue") : parameters;
}

type Axes = "x, y" | "y, x";

/**
 * Returns the subsets in the requested CRS, and the axis order of BBOX, which in WMS 1.3.0 is the order of the CRS
 * (6.7.2).
 */
function parseCrs(
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
    return as(badField(field, `one of ${known.join(", ")}`, crs), version === "1.3.0" ? "InvalidCRS" : "InvalidSRS");
  }
  const swapped = version === "1.3.0" && !crs84 && isYFirst(first.gridSet);
  return ok({ offered: [first, ...others], axes: swapped ? "y, x" : "x, y" });
}

function parseSize(query: Query): Result<{ readonly width: number; readonly height: number }, Refusal> {
  const width = positive(query, "WIDTH");
  if (!width.ok) return width;
  const height = positive(query, "HEIGHT");
  return height.ok ? ok({ width: width.value, height: height.value }) : height;
}

function positive(query: Query, key: string): Result<number, Refusal> {
  const text = query.get(key) ?? "";
  return /^[1-9]\d{0,8}$/.test(text) ? ok(Number(text)) : refuse(badField(key, "a number of pixels", text));
}

function parseBox(text: string, axes: Axes): Result<Extent, Refusal> {
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

interface Fit {
  readonly subset: GridSubset;
  readonly z: Zoom;
  readonly x: TileX;
  readonly y: TileY;
  /**
   * The distance between the lower left corners of the box and of the nearest tile, in tiles: the larger of x and y.
   */
  readonly error: number;
}

/**
 * The share of a level's resolution by which it may differ from the request, and the share of a tile for a corner
 * (GWC's).
 */
const LEVEL_TOLERANCE = 0.1;
const CORNER_TOLERANCE = 0.1;

function nearestTile(subset: GridSubset, box: Extent): Fit | undefined {
  const grid = subset.gridSet;
  const requested = (box.maxX - box.minX) / grid.tileWidth;
  const requestedAbove = (box.maxY - box.minY) / grid.tileHeight;
  const z = asZoom(nearestLevel(grid, requested));
  const resolution = grid.matrices[z]?.resolution;
  if (resolution === undefined) return undefined;
  if (Math.abs(requested - resolution) > LEVEL_TOLERANCE * requested) return undefined;
  if (Math.abs(requestedAbove - resolution) > LEVEL_TOLERANCE * requestedAbove) return undefined;
  const origin = tileExtent(grid, asTileIndex({ x: 0, y: 0, z }));
  const column = (box.minX - origin.minX) / (resolution * grid.tileWidth);
  const row = (box.minY - origin.minY) / (resolution * grid.tileHeight);
  const x = asTileX(Math.round(column) + 0);
  const y = asTileY(Math.round(row) + 0);
  return { subset, z, x, y, error: Math.max(Math.abs(column - x), Math.abs(row - y)) };
}

function nearestLevel(grid: GridSet, resolution: number): number {
  const differences = grid.matrices.map((matrix) => Math.abs(matrix.resolution - resolution));
  return differences.indexOf(Math.min(...differences));
}

/**
 * Returns the tile of a box. If several grid sets have one, returns the best fit that its grid set offers. Undefined if
 * no tile fits.
 */
function bestFit(subsets: readonly GridSubset[], box: Extent): Fit | undefined {
  const fits = subsets
    .flatMap((subset) => nearestTile(subset, box) ?? [])
    .filter((fit) => fit.error <= CORNER_TOLERANCE);
  const offered = fits.filter((fit) => isOffered(fit));
  return (offered.length > 0 ? offered : fits).sort((a, b) => a.error - b.error)[0];
}

/** Returns whether a tile equals a box. Ignores differences of less than half a pixel. */
function isSame({ subset: { gridSet }, z, x, y }: Fit, box: Extent): boolean {
  const tile = tileExtent(gridSet, { x, y, z });
  const unseen = (gridSet.matrices[z]?.resolution ?? 0) / 2;
  const sides = ["minX", "minY", "maxX", "maxY"] as const;
  return sides.every((side) => Math.abs(tile[side] - box[side]) < unseen);
}

function isOffered({ subset, z, x, y }: Fit): boolean {
  const coverage = coverageAt(subset, z);
  return coverage !== undefined && rectHolds(coverage, x, y);
}

/** Returns a hint with the nearest tile, for a client whose box does not match the grid. */
function nearestHint(subsets: readonly GridSubset[], box: Extent): string {
  for (const subset of subsets) {
    const near = nearestTile(subset, box);
    if (near !== undefined) {
      return `The nearest tile of ${subset.gridSet.id} is ${extentText(tileExtent(subset.gridSet, near))} (x first)`;
    }
  }
  const levels = subsets[0]?.gridSet.matrices.map((m) => m.resolution).join(", ");
  return `No level has that resolution; they are ${levels}`;
}
