import type { Layer } from "../../layer/layer.ts";
import { type Parameters, parseParameters } from "../../layer/parameter-filter.ts";
import type { Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";

/** How WMTS names a layer's default style, unless the layer has another style of that name. */
const DEFAULT_STYLE = "default";

/** The style identifiers of a layer, the default first. Without a STYLES filter there is only the default. */
export function styleNames(layer: Layer): readonly string[] {
  const filter = layer.parameterFilters.find((f) => f.key === "STYLES");
  if (filter === undefined) return [DEFAULT_STYLE];
  const values = filter.type === "string" ? filter.values : [];
  const first = filter.default !== "" ? filter.default : values.includes(DEFAULT_STYLE) ? "" : DEFAULT_STYLE;
  return [...new Set([first, ...values.filter((v) => v !== filter.default)])];
}

/** The parameters of a request whose protocol has a style of its own: it feeds STYLES. */
export function parametersWithStyle(
  layer: Layer,
  query: ReadonlyMap<string, string>,
  style: string | undefined,
): Result<Parameters, Refusal> {
  if (style === undefined || style === "") return parseParameters(layer.parameterFilters, query, "ignore");
  const filter = layer.parameterFilters.find((f) => f.key === "STYLES");
  const isDefault = style === DEFAULT_STYLE && !(filter?.type === "string" && filter.values.includes(style));
  const given = new Map(query);
  given.set("STYLES", isDefault ? "" : style);
  return parseParameters(layer.parameterFilters, given, "ignore");
}
