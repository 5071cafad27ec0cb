import { builtInGridSet, builtInGridSetIds } from "../../../grid/built-in.ts";
import { describeCrs } from "../../../grid/crs/crs-description.ts";
import { corners } from "../../../grid/extent.ts";
import { type GridSet, sameSrs } from "../../../grid/grid-set.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { refuse } from "../../../lib/result.ts";
import type { Handler } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { operation } from "../api-operation.ts";

export const crsOperations = [
  operation(
    "GET /crs/{id}",
    "getCrs",
    "Returns a CRS by its EPSG code, such as 2163 or EPSG:2163",
    { answers: "Crs", failures: [404] },
    (_, name) => reader(crsAnswer(name)),
  ),
];

const crsAnswer =
  (name: string): Handler["handle"] =>
  async ({ catalogue }) => {
    const [, digits] = /^(?:EPSG:)?(\d{1,9})$/i.exec(name) ?? [];
    const code = Number(digits);
    const description = digits === undefined ? undefined : describeCrs(code);
    const gridSet = digits === undefined ? undefined : gridSetOf(code, catalogue);
    if (description === undefined && gridSet === undefined)
      return refuse({
        code: "not_found",
        message: `Unknown CRS: ${name.slice(0, 100)}. Expected the EPSG code of a projected CRS or of a CRS in degrees, such as EPSG:2163.`,
      });
    return documentAnswer("Crs", {
      code: `EPSG:${code}`,
      name: description?.name ?? null,
      units: description?.units ?? null,
      metersPerUnit: description?.metersPerUnit ?? gridSet?.metersPerUnit ?? null,
      axisOrder: (description?.isNorthFirst ?? gridSet?.yCoordinateFirst) === true ? "yx" : "xy",
      extent: gridSet === undefined ? null : corners(gridSet.extent),
      proj4: description?.definition ?? null,
    });
  };

/** Returns a grid set in a CRS: the first one of a layer, else a built-in one. Undefined if no grid set has the CRS. */
function gridSetOf(code: number, { layers }: Catalogue): GridSet | undefined {
  for (const { gridSubsets } of layers.values())
    for (const { gridSet } of gridSubsets) if (sameSrs(gridSet.srs, code)) return gridSet;
  for (const id of builtInGridSetIds) {
    const gridSet = builtInGridSet(id);
    if (gridSet !== undefined && sameSrs(gridSet.srs, code)) return gridSet;
  }
  return undefined;
}
