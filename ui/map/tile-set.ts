import { asJson } from "../core/model/job-options.ts";
import { filtersOf, formatOf } from "../core/model/layer.ts";
import type { Doc } from "../core/server/api.ts";
import { isRecord } from "../core/server/json.ts";
import { findSubset, type GridSubset } from "./grid.ts";

/** The tiles of a layer in one grid set, one format and one combination of parameters. */
export interface TileSet {
  readonly subset: GridSubset;
  readonly format: string;
  /** The values of the parameters. Empty for the defaults. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Returns the tile set in the query of a view: `gridSet`, `format` and `parameters` (a JSON object), each by default
 * the layer's. Undefined if the layer has no grid set.
 */
export function tileSetOfQuery(layer: Doc<"Layer">, query: URLSearchParams): TileSet | undefined {
  const subset = findSubset(layer, query.get("gridSet") ?? undefined) ?? findSubset(layer, undefined);
  const format = formatOf(layer, query.get("format")) ?? "";
  return subset && { subset, format, parameters: parseParameters(query.get("parameters")) };
}

/** Returns the texts of a JSON object. Empty if the text is not a JSON object. */
export function parseParameters(text: string | null): Readonly<Record<string, string>> {
  const value = asJson(text ?? "");
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (typeof one === "string" ? [[key, one]] : [])),
  );
}

/** Returns the parameters with one value changed. Omits a default value. Undefined if all values are defaults. */
export function parametersWith(
  layer: Doc<"Layer">,
  { parameters }: TileSet,
  key: string,
  value: string,
): string | undefined {
  const standard = filtersOf(layer).find((filter) => filter.key === key)?.default ?? "";
  const { [key]: _before, ...others } = parameters;
  const now = value === standard ? others : { ...others, [key]: value };
  return Object.keys(now).length === 0 ? undefined : JSON.stringify(now);
}

/** Returns the query fields for `/api/v1/coverage`. */
export const tileSetQuery = (layer: string, { subset, format, parameters }: TileSet) => ({
  layer,
  gridSet: subset.gridSet,
  format,
  ...parameters,
});
