import type { Catalogue } from "../../../layer/catalogue.ts";
import { parseParameters } from "../../../layer/filter/parameter-filter.ts";
import { WEB_GRID, webSubset } from "../../../layer/layer.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { Query } from "../../query.ts";
import { parseRowFile } from "../address.ts";
import {
  findFormatOfExtension,
  findGrid,
  findLayer,
  notFound,
  type ParsedAddress,
  resolveTile,
} from "../tile-parts.ts";

/** Parses `{layer}/[{gridSet}/]{z}/{x}/{y}.{ext}`, y from the top. `rest` is the path after `/xyz`. */
export function parseXyz(catalogue: Catalogue, rest: readonly string[], query: Query): Result<ParsedAddress, Refusal> {
  if (rest.length !== 4 && rest.length !== 5) {
    return notFound("An XYZ address is /xyz/{layer}/{z}/{x}/{y}.{ext} or /xyz/{layer}/{gridSet}/{z}/{x}/{y}.{ext}");
  }
  const layer = findLayer(catalogue, rest[0] ?? "");
  if (!layer.ok) return layer;
  const short = rest.length === 4;
  const inDefault = webSubset(layer.value);
  if (short && inDefault === undefined) {
    return notFound(
      `The layer has no ${WEB_GRID}; name one of its grid sets before {z}: ${layer.value.gridSubsets.map((s) => s.gridSet.id).join(", ")}`,
    );
  }
  const subset = short && inDefault !== undefined ? ok(inDefault) : findGrid(layer.value, rest[1] ?? "");
  if (!subset.ok) return subset;
  const at = parseRowFile(rest.slice(-3));
  if (!at.ok) return at;
  return resolveTile(
    { layer: layer.value, subset: subset.value },
    findFormatOfExtension(layer.value, at.value.extension),
    parseParameters(layer.value.parameterFilters, query, "ignore"),
    { ...at.value, rows: "top" },
  );
}
