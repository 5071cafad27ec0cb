import { WORLD } from "../../../grid/extent.ts";
import type { Parameters } from "../../../layer/filter/parameter-filter.ts";
import type { TileFormat } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { type Layer, publicName, WEB_GRID, webSubset } from "../../../layer/layer.ts";
import { ok } from "../../../lib/result.ts";
import { geographicBox, geographicBoxOf } from "../geographic-box.ts";
import {
  findGrid,
  findLayer,
  findRequestedFormat,
  notFound,
  type ParsedAddress,
  type Parser,
  queryOf,
} from "../tile-parts.ts";
import { parametersWithStyle } from "../wmts/wmts-style.ts";

/** Parses `{layer}[/{gridSet}]`. The default is the grid set of most web maps. `rest` is the path after `/tilejson`. */
export const parseTileJson: Parser = (catalogue, rest, query) => {
  const [name, gridSet] = rest;
  if (name === undefined || rest.length > 2) return notFound("A TileJSON address is /tilejson/{layer}[/{gridSet}]");
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return layer;
  const subset = findGrid(layer.value, gridSet ?? webSubset(layer.value)?.gridSet.id ?? WEB_GRID);
  if (!subset.ok) return subset;
  const format = findRequestedFormat(layer.value, query.get("FORMAT"));
  if (!format.ok) return format;
  const parameters = parametersWithStyle(layer.value, query, query.get("STYLES"));
  return parameters.ok ? ok(tileJson(layer.value, subset.value, format.value, parameters.value)) : parameters;
};

/** Describes a layer in a grid set (TileJSON 3.0.0, section 3). y counts from the top. */
const tileJson = (layer: Layer, subset: GridSubset, format: TileFormat, parameters: Parameters): ParsedAddress => ({
  kind: "document",
  name: `tilejson/${layer.name}\n${subset.gridSet.id}\n${format.extension}\n${parameters.id}`,
  contentType: "application/json",
  write: (baseUrl) => {
    // The area with tiles (3.4). Clients request no tiles outside of it.
    const { minX, minY, maxX, maxY } = geographicBoxOf(subset) ?? geographicBox(layer) ?? WORLD;
    const path = [publicName(layer), subset.gridSet.id].map(encodeURIComponent).join("/");
    return JSON.stringify({
      tilejson: "3.0.0",
      // GeoWebCache shows the name here, even if the layer has a title.
      name: publicName(layer),
      description: layer.description || undefined,
      attribution: layer.attribution || undefined,
      scheme: "xyz",
      tiles: [`${baseUrl}/xyz/${path}/{z}/{x}/{y}.${format.extension}${queryOf(parameters)}`],
      minzoom: subset.zoomStart,
      maxzoom: subset.zoomStop,
      bounds: [minX, minY, maxX, maxY],
      vector_layers: format.kind === "data" ? layer.vectorLayers : undefined,
    });
  },
});
