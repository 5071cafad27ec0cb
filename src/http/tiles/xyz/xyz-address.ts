import type { Catalogue } from "../../../layer/catalogue.ts";
import { findSubset } from "../../../layer/layer.ts";
import { parseParameters } from "../../../layer/parameter-filter.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { splitExtension, wholeNumber } from "../address.ts";
import {
  findFormatOfExtension,
  findGrid,
  findLayer,
  notFound,
  type RequestedTile,
  tileAt,
  WEB_GRID,
} from "../tile-parts.ts";

/** `{layer}/[{gridSet}/]{z}/{x}/{y}.{ext}`, y from the top. `rest` is what follows `/xyz`. */
export function parseXyz(
  catalogue: Catalogue,
  rest: readonly string[],
  query: ReadonlyMap<string, string>,
): Result<RequestedTile, Refusal> {
  if (rest.length !== 4 && rest.length !== 5) {
    return notFound("An XYZ address is /xyz/{layer}/{z}/{x}/{y}.{ext} or /xyz/{layer}/{gridSet}/{z}/{x}/{y}.{ext}");
  }
  const layer = findLayer(catalogue, rest[0] ?? "");
  if (!layer.ok) return layer;
  const short = rest.length === 4;
  const inDefault = findSubset(layer.value, WEB_GRID);
  if (short && inDefault === undefined) {
    return notFound(
      `The layer has no ${WEB_GRID}; name one of its grid sets before {z}: ${layer.value.gridSubsets.map((s) => s.gridSet.id).join(", ")}`,
    );
  }
  const subset = short && inDefault !== undefined ? ok(inDefault) : findGrid(layer.value, rest[1] ?? "");
  if (!subset.ok) return subset;
  const [zText = "", xText = "", last = ""] = rest.slice(-3);
  const { stem, extension } = splitExtension(last);
  if (extension === undefined) return refuse(badField("y", "a row with an extension, such as 3.png", last));
  const z = wholeNumber("z", zText);
  if (!z.ok) return z;
  const x = wholeNumber("x", xText);
  if (!x.ok) return x;
  const y = wholeNumber("y", stem);
  if (!y.ok) return y;
  const format = findFormatOfExtension(layer.value, extension);
  if (!format.ok) return format;
  const parameters = parseParameters(layer.value.parameterFilters, query, "ignore");
  if (!parameters.ok) return parameters;
  return tileAt(
    { layer: layer.value, subset: subset.value, format: format.value, parameters: parameters.value },
    { z: z.value, column: x.value, row: y.value, rows: "top" },
  );
}
