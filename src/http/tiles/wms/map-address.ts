import type { MapLayer, PlainPicture } from "../../../cache/map-renderer.ts";
import type { Extent } from "../../../grid/grid-set.ts";
import { type Catalogue, composesMaps, partsOf } from "../../../layer/catalogue.ts";
import { formatOf, type TileFormat } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { formatOfParts } from "../../../layer/picture/picture-format.ts";
import { resamplingOfHint } from "../../../layer/picture/resampling.ts";
import { badField, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import {
  findFormat,
  offeredTile,
  type ParsedAddress,
  type ProtocolRefusal,
  type QueryParser,
  type Refused,
} from "../tile-parts.ts";
import { divideQuery, findLayers, layerNamesIn, refuseTooMany } from "./layer-list.ts";
import { parseBackground, showsBackground, wantsBackground } from "./map-background.ts";
import { mapLayerOf } from "./map-level.ts";
import { parseBox, parseCrs, parseFilters, parseSize, refuseUnknownStyle, withCode } from "./map-parts.ts";
import { bestFit, isOffered, isSame, nearestHint } from "./one-tile.ts";
import { MAX_SIDE, mapFormats } from "./wms-capabilities.ts";
import { namedVersion } from "./wms-version.ts";

/**
 * Parses GetMap: of exactly one tile (WMS-C, `docs/explanation/geowebcache.md`, Tile services), or of any extent and of
 * several layers if the layers have `fullWms`.
 */
export const parseGetMap: QueryParser = (catalogue, query) => {
  const withoutVersion = refuseWithoutVersion(catalogue, query);
  if (withoutVersion !== undefined) return withoutVersion;
  const text = query.get("LAYERS") ?? "";
  if (text === "") return refuse(badField("LAYERS", "the name of one layer", text));
  const layers = findLayers(catalogue, text);
  if (!layers.ok) return layers;
  const [first, ...others] = layers.value;
  if (layers.value.every((layer) => composesMaps(catalogue, layer)))
    return refuseTooMany("LAYERS", layers.value) ?? parseMap(catalogue, layers.value, query);
  if (others.length === 0) return parseTile(first, query);
  const plain = layers.value.filter((layer) => !composesMaps(catalogue, layer)).map(({ name }) => name);
  const hints = plain.length === layers.value.length ? [] : [`These layers lack fullWms: ${plain.join(", ")}`];
  return refuse(badField("LAYERS", "one layer per request", text, hints));
};

/**
 * Refuses a request without a version, which both versions of the standard require (OGC 06-042, 6.9.1; OGC 01-068r3,
 * 6.5.1). Only a server as strict as the OGC's conformance tests refuses it: elsewhere it is a request of 1.1.1, as in
 * GWC.
 */
function refuseWithoutVersion(catalogue: Catalogue, query: Query): Refused | undefined {
  if (namedVersion(query) !== undefined || !catalogue.service.isCiteCompliant) return undefined;
  return refuse({
    ...badField("VERSION", "1.3.0 or 1.1.1", ""),
    exception: { code: "MissingParameterValue", locator: "version" },
    dialect: query.has("CRS") ? "wms-1.3.0" : "wms-1.1.1",
  });
}

/** Parses the map of exactly one tile. */
function parseTile(layer: Layer, query: Query): Result<ParsedAddress, ProtocolRefusal> {
  const subsets = parseCrs(layer, query);
  if (!subsets.ok) return subsets;
  const format = findFormat(layer, query.get("FORMAT") ?? "");
  if (!format.ok) return withCode(format.error, "InvalidFormat");
  const size = parseSize(query);
  if (!size.ok) return size;
  const sized = ofSize(subsets.value.offered, size.value);
  if (sized.length === 0) {
    const sizes = new Set(subsets.value.offered.map(({ gridSet }) => `${gridSet.tileWidth} x ${gridSet.tileHeight}`));
    const expected = `the size of a tile, ${[...sizes].join(" or ")}`;
    return refuse(badField("WIDTH, HEIGHT", expected, `${size.value.width} x ${size.value.height}`));
  }
  const box = parseBox(query.get("BBOX") ?? "", subsets.value.axes);
  if (!box.ok) return box;
  const fit = bestFit(sized, box.value);
  if (fit === undefined) {
    return refuse(
      badField("BBOX", `the extent of one tile of ${sized.map((s) => s.gridSet.id).join(" or ")}`, query.get("BBOX"), [
        nearestHint(sized, box.value),
      ]),
    );
  }
  const parameters = parseFilters(layer, query);
  if (!parameters.ok) return parameters;
  return offeredTile(
    { layer, subset: fit.subset, format: format.value, parameters: parameters.value },
    { z: fit.z, column: fit.x, row: fit.y, rows: "bottom" },
  );
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const ofSize = (subsets: readonly GridSubset[], { width, height }: Size): readonly GridSubset[] =>
  subsets.filter(({ gridSet }) => gridSet.tileWidth === width && gridSet.tileHeight === height);

/** Parses a map of any extent. A map of exactly one tile of one layer is this tile. */
function parseMap(
  catalogue: Catalogue,
  layers: readonly [Layer, ...Layer[]],
  query: Query,
): Result<ParsedAddress, ProtocolRefusal> {
  const [lowest, ...above] = layers;
  const place = parseCrs(lowest, query);
  if (!place.ok) return place;
  const format = parseMapFormat(catalogue, layers, query);
  if (!format.ok) return format;
  const size = parseSize(query);
  if (!size.ok) return size;
  const { width, height } = size.value;
  const box = parseBox(query.get("BBOX") ?? "", place.value.axes);
  if (!box.ok) return box;
  const queries = divideQuery(layerNamesIn(catalogue, query.get("LAYERS") ?? ""), query);
  if (!queries.ok) return queries;
  if (above.length === 0 && !wantsBackground(query, format.value)) {
    const tile = tileOf(
      lowest,
      { place: place.value.offered, format: format.value, box: box.value },
      size.value,
      query,
    );
    if (tile !== undefined) return tile;
  }
  if (format.value.kind === "data") return noPicture(query);
  const background = parseBackground(query, format.value);
  if (!background.ok) return background;
  if (width > MAX_SIDE || height > MAX_SIDE)
    return refuse(badField("WIDTH, HEIGHT", `at most ${MAX_SIDE} x ${MAX_SIDE}`, `${width} x ${height}`));
  const picture = { ...size.value, format: format.value, ...background.value };
  const drawn: MapLayer[] = [];
  for (const [position, layer] of layers.entries()) {
    for (const part of partsOf(catalogue, layer)) {
      const own = parseMapLayer(part, queries.value[position] ?? query, picture, {
        extent: box.value,
        isLowest: drawn.length === 0,
      });
      if (!own.ok) return own;
      drawn.push(own.value);
    }
  }
  const [bottom, ...upper] = drawn;
  if (bottom === undefined) return withCode(unknownLayer(lowest.name), "LayerNotDefined");
  return ok({ kind: "map", request: { ...picture, layers: [bottom, ...upper], extent: box.value } });
}

/** Returns the tile that equals a map. Undefined if there is no such tile, or if the layer lacks the format. */
function tileOf(
  layer: Layer,
  { place, format, box }: { readonly place: readonly GridSubset[]; readonly format: TileFormat; readonly box: Extent },
  size: Size,
  query: Query,
): Result<ParsedAddress, ProtocolRefusal> | undefined {
  const fit = bestFit(ofSize(place, size), box);
  if (fit === undefined || !isOffered(fit) || !isSame(fit, box) || !hasFormat(layer.formats, format)) return undefined;
  const parameters = parseFilters(layer, query);
  if (!parameters.ok) return parameters;
  return offeredTile(
    { layer, subset: fit.subset, format, parameters: parameters.value },
    { z: fit.z, column: fit.x, row: fit.y, rows: "bottom" },
  );
}

/**
 * Parses the format of a map: one of the capabilities, or of one of the layers. Only the tile of a single layer may have
 * a format that is not a picture's.
 */
function parseMapFormat(
  catalogue: Catalogue,
  layers: readonly Layer[],
  query: Query,
): Result<TileFormat, ProtocolRefusal> {
  const text = query.get("FORMAT") ?? "";
  const format = formatOf(text);
  const offered = [...mapFormats(catalogue), ...layers.flatMap(({ formats }) => formats)];
  if (format === undefined || !hasFormat(offered, format)) {
    const names = new Set(offered.map(({ mimeType }) => mimeType));
    return withCode(badField("format", `one of ${[...names].join(", ")}`, text), "InvalidFormat");
  }
  return format.kind === "data" && layers.length > 1 ? noPicture(query) : ok(format);
}

const noPicture = (query: Query): Refused =>
  withCode(
    badField("FORMAT", "a format of pictures, because only pictures can be composed", query.get("FORMAT")),
    "InvalidFormat",
  );

/** Formats are compared by name: the layers of another process are copies. */
const hasFormat = (formats: readonly TileFormat[], { mimeType }: TileFormat): boolean =>
  formats.some((one) => one.mimeType === mimeType);

/** Parses the style and the dimensions of a layer, and chooses its tiles. */
function parseMapLayer(
  layer: Layer,
  query: Query,
  picture: PlainPicture,
  { extent, isLowest }: { readonly extent: Extent; readonly isLowest: boolean },
): Result<MapLayer, ProtocolRefusal> {
  const place = parseCrs(layer, query);
  if (!place.ok) return place;
  const parameters = parseFilters(layer, query);
  if (!parameters.ok) return parameters;
  const unknownStyle = refuseUnknownStyle(layer, query);
  if (unknownStyle !== undefined) return unknownStyle;
  const format = formatOfParts(layer, picture.format, !isLowest || showsBackground(picture));
  if (format === undefined)
    return withCode(
      badField("LAYERS", "layers of pictures, because only pictures can be composed", layer.name),
      "LayerNotDefined",
    );
  const [subset] = place.value.offered;
  const resampling = resamplingOfHint(query.get("HINTS") ?? "") ?? layer.resampling;
  return mapLayerOf(
    { layer, subset, format, parameters: parameters.value, resampling },
    { extent, width: picture.width, height: picture.height },
  );
}
