import { latitudeAt, longitudeAt } from "../../grid/crs/web-mercator.ts";
import { asTileRect, asZoom, type GridSet, rectExtent, type Zoom } from "../../grid/grid-set.ts";
import type { TileFormat } from "../../layer/format.ts";
import type { GridSubset } from "../../layer/grid-subset.ts";
import type { Layer } from "../../layer/layer.ts";
import { isMap } from "../../lib/is-map.ts";
import type { ServerClient } from "../client/server-client.ts";
import type { ExportFacts, ExportProgress } from "./export-target.ts";

const WORLD = [-180, -85.0511287798066, 180, 85.0511287798066] as const;

/** Returns the metadata of an export's archive. The bounds contain the tiles of the highest zoom. */
export async function exportFacts(
  client: ServerClient,
  { layer, subset, format }: { readonly layer: Layer; readonly subset: GridSubset; readonly format: TileFormat },
  { levels }: ExportProgress,
): Promise<ExportFacts> {
  const zooms = Object.keys(levels)
    .map((level) => asZoom(Number(level)))
    .sort((a, b) => a - b);
  const [minZoom = asZoom(0), maxZoom = asZoom(0)] = [zooms[0], zooms.at(-1)];
  const path = `/tilejson/${encodeURIComponent(layer.name)}/${encodeURIComponent(subset.gridSet.id)}`;
  const described: unknown = JSON.parse(await client.request("GET", path, { query: { format: format.mimeType } }));
  const about = isMap(described) ? described : {};
  const { description, vector_layers: vectorLayers } = about;
  const box = levels[maxZoom];
  return {
    name: layer.title || layer.name,
    description: typeof description === "string" ? description : "",
    bounds: box === undefined ? WORLD : geographic(subset.gridSet, maxZoom, box),
    minZoom,
    maxZoom,
    vectorLayers: format.kind !== "data" ? undefined : Array.isArray(vectorLayers) ? vectorLayers : [],
  };
}

/** Converts columns and rows from the top to longitude and latitude. */
function geographic(
  grid: GridSet,
  z: Zoom,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
): ExportFacts["bounds"] {
  const last = (grid.matrices[z]?.matrixHeight ?? 1) - 1;
  const { minX, minY, maxX, maxY } = rectExtent(
    grid,
    asTileRect({ z, minX: x0, maxX: x1, minY: last - y1, maxY: last - y0 }),
  );
  const round = (degrees: number, most: number): number => Number(Math.max(-most, Math.min(most, degrees)).toFixed(7));
  const [, , east, north] = WORLD;
  return [
    round(longitudeAt(minX), east),
    round(latitudeAt(minY), north),
    round(longitudeAt(maxX), east),
    round(latitudeAt(maxY), north),
  ];
}
