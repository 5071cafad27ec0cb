import { type Doc, Problem } from "../../core/server/api.ts";
import { BASE } from "../../core/server/base.ts";
import { type GridSubset, tileBox } from "../../map/grid.ts";
import type { MapPointer } from "../../map/map-surface.ts";

/**
 * Requests the features at a position from the layer's source (GetFeatureInfo of WMTS), as text. Empty if the layer has
 * no tile there.
 * @throws Problem
 */
export async function featureInfo(
  layer: Doc<"Layer">,
  subset: GridSubset,
  format: string,
  parameters: Readonly<Record<string, string>>,
  { at: [x, y], tile }: MapPointer,
): Promise<string> {
  const level = tile === undefined ? undefined : subset.levels[tile.z];
  if (tile === undefined || level === undefined) return "";
  const [left, , , top] = tileBox(subset, tile);
  const query = new URLSearchParams({
    ...parameters,
    SERVICE: "WMTS",
    VERSION: "1.0.0",
    REQUEST: "GetFeatureInfo",
    LAYER: layer.name,
    STYLE: parameters["STYLES"] ?? "",
    FORMAT: format,
    TILEMATRIXSET: subset.gridSet,
    TILEMATRIX: level.name,
    TILEROW: String(tile.y),
    TILECOL: String(tile.x),
    I: String(Math.floor((x - left) / level.resolution)),
    J: String(Math.floor((top - y) / level.resolution)),
    INFOFORMAT: "text/plain",
  });
  const response = await fetch(`${BASE}/service/wmts?${query}`).catch(() => {
    throw new Problem(0, "unreachable", "The server does not answer.");
  });
  const text = await response.text();
  if (!response.ok) throw new Problem(response.status, "feature_info", text.slice(0, 500));
  return text;
}
