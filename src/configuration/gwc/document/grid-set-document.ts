import { OGC_PIXEL_METERS } from "../../../grid/create-grid-set.ts";
import type { GridSet } from "../../../grid/grid-set.ts";
import { corners } from "../../../grid/grid-set-document.ts";
import { double, list, map, type RootedDocument } from "../document-node.ts";

/** Returns a grid set as GeoWebCache's `gridSet`. */
export function gridSetDocument(gridSet: GridSet): RootedDocument {
  const { matrices, definingScales, pixelSize = OGC_PIXEL_METERS } = gridSet;
  const levels = definingScales ?? matrices.map(({ resolution }) => resolution);
  const node = map([
    ["name", gridSet.id],
    ["description", gridSet.title],
    ["srs", map([["number", gridSet.srs]])],
    ["extent", map([["coords", list("double", corners(gridSet.extent).map(double))]])],
    ["alignTopLeft", gridSet.alignTopLeft],
    [definingScales !== undefined ? "scaleDenominators" : "resolutions", list("double", levels.map(double))],
    ["metersPerUnit", double(gridSet.metersPerUnit)],
    ["pixelSize", double(pixelSize)],
    [
      "scaleNames",
      list(
        "string",
        matrices.map(({ name }) => name),
      ),
    ],
    ["tileHeight", gridSet.tileHeight],
    ["tileWidth", gridSet.tileWidth],
    ["yCoordinateFirst", gridSet.yCoordinateFirst],
  ]);
  return { root: "gridSet", node };
}
