import type { Doc } from "../server/api.ts";

type Configuration = Doc<"Layer">["configuration"];
type GivenFilter = NonNullable<Configuration["parameterFilters"]>[number];
type Configured = Pick<Doc<"Layer">, "name" | "configuration">;

/** A parameter filter, with its values as texts. */
export interface ParameterFilter {
  readonly key: string;
  readonly type: GivenFilter["type"];
  readonly default: string;
  /** The values. Undefined if the filter has a regular expression. */
  readonly values: readonly string[] | undefined;
  readonly regex: string | undefined;
}

// The server fills in all defaults, but the types describe requests, whose keys may be absent.

export const titleOf = ({ name, configuration }: Configured): string => configuration.title ?? name;

export const formatsOf = ({ configuration }: Pick<Configured, "configuration">): readonly string[] =>
  configuration.formats ?? [];

/** Returns the format of a layer to use: `format` if the layer has it, else the layer's first format. */
export const formatOf = (layer: Pick<Configured, "configuration">, format: string | null): string | undefined =>
  formatsOf(layer).find((one) => one === format) ?? formatsOf(layer)[0];

export const filtersOf = ({ configuration }: Pick<Configured, "configuration">): readonly ParameterFilter[] =>
  (configuration.parameterFilters ?? []).map((filter) => ({
    key: filter.key,
    type: filter.type,
    default: String(filter.default ?? ""),
    values: "values" in filter ? filter.values?.map(String) : undefined,
    regex: "regex" in filter ? filter.regex : undefined,
  }));

/** A legend of a layer, with its address for clients. */
export interface Legend {
  readonly style: string;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly url: string;
}

export const legendsOf = ({ configuration, addresses }: Doc<"Layer">): readonly Legend[] =>
  (configuration.legends ?? []).map(({ style = "", width, height }, n) => ({
    style,
    width,
    height,
    url: addresses.legends[n] ?? "",
  }));
