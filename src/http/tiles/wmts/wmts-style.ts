import type { Catalogue } from "../../../layer/catalogue.ts";
import {
  legalValue,
  listedValues,
  type ParameterFilter,
  type Parameters,
  parseParameters,
  stylesFilter,
} from "../../../layer/filter/parameter-filter.ts";
import type { Layer } from "../../../layer/layer.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import type { Result } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import { type Failed, invalid } from "./wmts-exceptions.ts";

/** The name of a layer's default style in WMTS, unless another style of the layer has this name. */
const DEFAULT_STYLE = "default";

/** Returns whether a style of the layer is itself named `default`. A request with this name then means this style. */
const isTaken = (filter: ParameterFilter): boolean =>
  filter.type !== "regex" && legalValue(filter, DEFAULT_STYLE) !== undefined;

/** Returns whether a style name in a request means the default style. */
export function isDefaultStyle(layer: Layer, style: string): boolean {
  const filter = stylesFilter(layer.parameterFilters);
  return style === "" || (style === DEFAULT_STYLE && !(filter !== undefined && isTaken(filter)));
}

/**
 * Returns the style identifiers of a layer, the default one first. Without a STYLES filter there is only the default
 * one.
 */
export function styleNames(layer: Layer): readonly string[] {
  const filter = stylesFilter(layer.parameterFilters);
  if (filter === undefined) return [DEFAULT_STYLE];
  const [, ...others] = listedValues(filter) ?? [];
  const first = filter.default !== "" ? filter.default : isTaken(filter) ? "" : DEFAULT_STYLE;
  return [first, ...others];
}

/**
 * Refuses a style that a layer without styles does not have. Only a server as strict as the OGC's conformance tests
 * refuses it: GWC takes any style there.
 */
export function refuseStyle({ service }: Catalogue, layer: Layer, style: string): Failed | undefined {
  if (!service.isCiteCompliant || stylesFilter(layer.parameterFilters) !== undefined) return undefined;
  if (isDefaultStyle(layer, style)) return undefined;
  return invalid("STYLE", badField("STYLE", `one of ${styleNames(layer).join(", ")}`, style));
}

/** Parses the parameters of a protocol with its own style key. The style is the value of STYLES. */
export function parametersWithStyle(
  layer: Layer,
  query: Query,
  style: string | undefined,
): Result<Parameters, Refusal> {
  if (style === undefined || style === "") return parseParameters(layer.parameterFilters, query, "ignore");
  const given = new Map(query);
  given.set("STYLES", isDefaultStyle(layer, style) ? "" : style);
  return parseParameters(layer.parameterFilters, given, "ignore");
}

/** Returns the key whose value no filter accepts, for a request that {@link parametersWithStyle} has refused. */
export function refusedKey(layer: Layer, query: Query): string {
  const others = layer.parameterFilters.filter((f) => f.key !== "STYLES");
  return others.find((f) => !parseParameters([f], query, "ignore").ok)?.key ?? "STYLES";
}
