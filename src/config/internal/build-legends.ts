import { rendersLegends, type SourceOptions } from "../../layer/layer.ts";
import type { Legend } from "../../layer/legend.ts";
import { legalValue, legalValuesText, type ParameterFilter, stylesFilter } from "../../layer/parameter-filter.ts";
import type { Path, Problems } from "./problems.ts";
import type { LegendDocument } from "./schema/layer-schema.ts";

export interface LegendContext {
  readonly source: SourceOptions;
  readonly parameterFilters: readonly ParameterFilter[];
  readonly problems: Problems;
}

/** Builds the legends of a layer, at most one for each style. */
export function buildLegends(
  documents: readonly LegendDocument[],
  at: Path,
  { source, parameterFilters, problems }: LegendContext,
): readonly Legend[] {
  const filter = stylesFilter(parameterFilters);
  const seen = new Set<string>();
  return documents.map((document, i) => {
    const path = [...at, i];
    const { style: written, url, format, minScaleDenominator, maxScaleDenominator } = document;
    const style = nameOf(written, filter);
    if (style === undefined) {
      const legal = filter === undefined ? '"", as the layer has no parameter filter STYLES' : legalValuesText(filter);
      problems.expected([...path, "style"], legal, written);
    } else if (seen.has(style)) problems.add(path, `two legends are for the style ${JSON.stringify(style)}`);
    seen.add(style ?? written);
    if (url === undefined && !rendersLegends(source))
      problems.add(path, "url is missing: only a source of type wms can be asked for a legend");
    if (url !== undefined) checkUrl(url, [...path, "url"], problems);
    if (!/^[\w.+-]+\/[\w.+-]+$/.test(format)) problems.expected([...path, "format"], "a MIME type", format);
    if ((minScaleDenominator ?? 0) >= (maxScaleDenominator ?? Number.POSITIVE_INFINITY))
      problems.add(path, "minScaleDenominator is not below maxScaleDenominator");
    return { ...document, style: style ?? written };
  });
}

/** Returns the name that a style has in tile sets, "" for the default; undefined if the layer has no such style. */
function nameOf(style: string, filter: ParameterFilter | undefined): string | undefined {
  if (style === "") return "";
  const value = filter === undefined ? undefined : legalValue(filter, style);
  return style === filter?.default || (value !== undefined && value === filter?.default) ? "" : value;
}

/** Checks the address of a legend. It must not contain secrets: capabilities show it to everybody. */
function checkUrl(url: string, path: Path, problems: Problems): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    problems.expected(path, "an address with http:// or https://", url);
  else if (parsed.username !== "" || parsed.password !== "")
    problems.add(path, "expected no credentials in the address: capabilities show it to everybody");
}
