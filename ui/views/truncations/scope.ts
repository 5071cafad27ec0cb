import type { ParameterFilter } from "../../core/model/layer.ts";
import type { Doc } from "../../core/server/api.ts";
import { add, type Count } from "../../core/server/json.ts";

/** The parts of a layer that a truncation can remove. */
export const SCOPES = ["truncateLayer", "truncateParameters", "truncateOrphans"] as const;
export type Scope = (typeof SCOPES)[number];

export interface TruncationChoice {
  readonly layer: string;
  readonly scope: Scope;
  /** The mode. Only a whole layer can become stale. */
  readonly mode: Doc<"Truncation">["mode"];
  /** The chosen combination of parameters. Undefined until one is chosen. */
  readonly parameters: Readonly<Record<string, string>> | undefined;
}

/** Returns the body of `POST /api/v1/truncations`. Undefined if a choice is missing. */
export function bodyOf({
  layer,
  scope,
  mode,
  parameters,
}: TruncationChoice): Readonly<Record<string, unknown>> | undefined {
  if (layer === "") return undefined;
  switch (scope) {
    case "truncateLayer":
      return mode === "soft" ? { layer, mode } : { layer };
    case "truncateParameters":
      return parameters === undefined ? undefined : { layer, type: scope, parameters };
    case "truncateOrphans":
      return { layer, type: scope };
  }
}

/** A combination of parameters that has stored tiles. */
export interface ParameterSet {
  readonly parameters: Readonly<Record<string, string>>;
  /** The values in words, such as "STYLES=night TIME=2026". */
  readonly text: string;
  /** Whether all values are the defaults of the layer. */
  readonly isDefault: boolean;
  readonly tiles: Count;
}

export const setText = (parameters: ParameterSet["parameters"]): string =>
  Object.entries(parameters)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");

type TileSets = NonNullable<Doc<"Usage">["tileSets"]>;
type Filters = readonly Pick<ParameterFilter, "key" | "default">[];

/**
 * Returns the stored combinations of parameters that a request can name, sorted by their number of tiles. The defaults
 * are given by their values. Omits orphans, combinations whose values the store does not know.
 */
export function parameterSets(tileSets: TileSets, filters: Filters): readonly ParameterSet[] {
  const defaults = Object.fromEntries(filters.map((filter) => [filter.key, filter.default]));
  const found = new Map<string, ParameterSet>();
  for (const { parametersId, parameters, tiles } of tileSets) {
    const values = parametersId === "" ? defaults : parameters;
    if (values === null || Object.keys(values).length === 0) continue;
    found.set(parametersId, {
      parameters: values,
      text: setText(values),
      isDefault: parametersId === "",
      tiles: add(found.get(parametersId)?.tiles ?? 0, tiles),
    });
  }
  return [...found.values()].sort((a, b) => Number(b.tiles) - Number(a.tiles));
}
