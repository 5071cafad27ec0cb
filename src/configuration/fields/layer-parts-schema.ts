import type * as z from "zod";
import { legalValuesText, type ParameterFilter, stylesFilter } from "../../layer/filter/parameter-filter.ts";
import { formatOf } from "../../layer/format.ts";
import { styleName } from "../../layer/legend.ts";
import type { FormatModifier } from "../../layer/picture/format-modifier.ts";
import { rendersLegends, type SourceOptions } from "../../layer/source-options.ts";
import { repeats } from "../../lib/repeats.ts";
import {
  anyText,
  colour,
  expected,
  extent,
  flag,
  httpUrl,
  map,
  mimeType,
  number,
  optional,
  sentence,
  text,
  unlessUnfit,
  whole,
  wrong,
} from "./fields.ts";

const side = whole(1, 9999).default(20);
/** A public address. It must not contain secrets, because capabilities show it to everybody. */
const publicUrl = text
  .refine((url) => httpUrl(url) !== undefined, unlessUnfit("an address with http:// or https://"))
  .refine(
    (url) => httpUrl(url)?.username === "" && httpUrl(url)?.password === "",
    sentence("expected no credentials in the address: capabilities show it to everybody"),
  );
export const LegendSchema = map({
  style: anyText.default("").describe("The style of the legend."),
  width: side.describe("In pixels. 20 is the default of map servers and GWC."),
  height: side.describe("In pixels."),
  format: text
    .refine((format) => /^[\w.+-]+\/[\w.+-]+$/.test(format), unlessUnfit("a MIME type"))
    .default("image/png")
    .describe("The format of the picture."),
  url: optional(publicUrl).describe("The address of a picture. A source of type wms renders legends itself."),
  minScaleDenominator: optional(number({ least: 0 })).describe(
    "The lowest scale denominator at which the legend applies.",
  ),
  maxScaleDenominator: optional(number({ above: 0 })).describe("The legend applies below this scale denominator."),
}).superRefine(({ minScaleDenominator = 0, maxScaleDenominator = Number.POSITIVE_INFINITY }, context) => {
  if (minScaleDenominator >= maxScaleDenominator)
    wrong(context, [], "minScaleDenominator is not below maxScaleDenominator");
});

export const MetadataUrlSchema = map({
  type: text.describe("The standard of the document, such as ISO19115:2003."),
  format: mimeType.describe("The MIME type of the document."),
  url: publicUrl.describe("The address of the document."),
});

export const FormatModifierSchema = map({
  format: text
    .transform((given) => formatOf(given)?.mimeType ?? given)
    .describe("The format of the tiles, a format of the layer."),
  requestFormat: optional(mimeType).describe("The format that is requested instead."),
  transparent: optional(flag).describe("The parameter TRANSPARENT of these requests."),
  bgColor: optional(colour).describe("The parameter BGCOLOR of these requests, such as 0xFFFFFF."),
  palette: optional(text).describe("The parameter PALETTE of these requests."),
  jpegQuality: optional(whole(1, 100)).describe("The quality of the tiles of a JPEG format."),
});

const level = optional(whole(0, 63));
export const GridSubsetSchema = map({
  gridSet: text.describe("The id of a grid set."),
  extent: optional(extent).describe("minx, miny, maxx, maxy in units of the grid set. Default: its whole extent."),
  zoomStart: level.describe("The first level that is offered. Default: 0."),
  zoomStop: level.describe("The last level that is offered. Default: the last level of the grid set."),
  minCachedLevel: level.describe(
    "The first level whose tiles are stored. Tiles of other levels are rendered for each request.",
  ),
  maxCachedLevel: level.describe("The last level whose tiles are stored."),
}).superRefine(({ minCachedLevel = 0, maxCachedLevel = Number.POSITIVE_INFINITY }, context) => {
  if (minCachedLevel > maxCachedLevel)
    expected(context, ["minCachedLevel"], `at most maxCachedLevel (${maxCachedLevel})`);
});

export type GridSubsetDocument = z.output<typeof GridSubsetSchema>;

/** Checks that no two legends have one style, and that each has a picture. */
export function checkLegends(
  {
    source,
    parameterFilters,
    legends,
  }: {
    readonly source: { readonly type: SourceOptions["type"]; readonly dataset?: string };
    readonly parameterFilters: readonly ParameterFilter[];
    readonly legends: readonly z.output<typeof LegendSchema>[];
  },
  context: z.RefinementCtx,
): void {
  const filter = stylesFilter(parameterFilters);
  const names = legends.map(({ style }) => styleName(style, filter) ?? style);
  const repeated = repeats(names, (name) => name);
  for (const [i, { style, url }] of legends.entries()) {
    const name = styleName(style, filter);
    const legal = filter === undefined ? '"", as the layer has no parameter filter STYLES' : legalValuesText(filter);
    if (name === undefined) expected(context, ["legends", i, "style"], legal);
    else if (repeated.has(i)) wrong(context, ["legends", i], `two legends are for the style ${JSON.stringify(name)}`);
    if (url === undefined && !rendersLegends(source))
      wrong(context, ["legends", i], "url is missing: only a source of type wms renders legends");
  }
}

/** Checks that no two modifiers have one format, and that the source can apply each. */
export function checkModifiers(
  {
    source,
    formatModifiers,
  }: { readonly source: { readonly type: string }; readonly formatModifiers: readonly FormatModifier[] },
  context: z.RefinementCtx,
): void {
  const repeated = repeats(formatModifiers, ({ format }) => format);
  for (const [i, { format, requestFormat, transparent, bgColor, palette }] of formatModifiers.entries()) {
    if (formatOf(format) === undefined) expected(context, ["formatModifiers", i, "format"], "a format of the layer");
    else if (repeated.has(i)) wrong(context, ["formatModifiers", i, "format"], `two modifiers are for ${format}`);
    const isOfRequest = [requestFormat, transparent, bgColor, palette].some((value) => value !== undefined);
    if (isOfRequest && source.type !== "wms")
      wrong(context, ["formatModifiers", i], "only jpegQuality has an effect if the source is not of type wms");
  }
}
