import * as z from "zod";
import { atEveryZoom, type ByZoom } from "../../layer/by-zoom.ts";
import {
  DEFAULT_ENCODING,
  INFO_FORMATS,
  MAX_METATILE,
  PNG_COMPRESSIONS,
  STANDARD_LAYER_JOBS,
} from "../../layer/layer.ts";
import {
  CASE_RULES,
  compileRegex,
  legalValue,
  legalValuesText,
  type NumberFilter,
  numberText,
} from "../../layer/parameter-filter.ts";
import { NOT_STORED } from "../../layer/stored-levels.ts";
import { repeats } from "../../lib/repeats.ts";
import {
  anyText,
  either,
  expected,
  extent,
  flag,
  kinds,
  list,
  MAX_SECONDS,
  map,
  mimeType,
  number,
  oneOf,
  optional,
  pair,
  sentence,
  someOf,
  text,
  whole,
  wrong,
} from "./fields.ts";
import {
  checkLegends,
  checkModifiers,
  FormatModifierSchema,
  LegendSchema,
  MetadataUrlSchema,
} from "./layer-parts-schema.ts";
import { checkRequestFilters, RequestFiltersSchema } from "./request-filter-schema.ts";
import { SourceSchema } from "./source-schema.ts";
import { TilesOnDiskSchema } from "./tiles-on-disk-schema.ts";
import { UpdateSourcesSchema } from "./update-source-schema.ts";

/** The greatest number of single precision (IEEE 754). */
const MAX_FLOAT = 2 ** 128 - 2 ** 104;
const MAX_INT = 2 ** 31 - 1;

/**
 * Describes an expiry: seconds for all zooms, or rules that hold from a zoom on, as GWC's `expirationRule`. `read`
 * decodes the seconds.
 */
const expiry = <T>(least: number, read: (seconds: number) => T) =>
  either(`a whole number from ${least} to ${MAX_SECONDS} or a list (each a map of minZoom, seconds)`, [
    whole(least, MAX_SECONDS),
    someOf(
      map({
        minZoom: whole(0, 255).describe("The first level of the rule."),
        seconds: whole(least, MAX_SECONDS).describe("The time, from this level up to the next rule."),
      }),
    ),
  ]).transform((document, context): ByZoom<T> => {
    if (typeof document === "number") return atEveryZoom(read(document));
    const [first, ...others] = document.map(({ minZoom, seconds }) => ({ minZoom, value: read(seconds) }));
    if (first === undefined) throw new Error("a list without rules has passed the schema");
    if (first.minZoom !== 0) expected(context, [0, "minZoom"], "0, as the first rule holds from there on");
    let before = first.minZoom;
    for (const [i, { minZoom }] of others.entries()) {
      if (minZoom <= before) expected(context, [i + 1, "minZoom"], `more than ${before}, as of the rule before`);
      before = minZoom;
    }
    return [first, ...others];
  });

/**
 * Decodes GWC's codes (`docs/explanation/geowebcache.md`, Expiry). -1: clients must revalidate each time. -2: the tile
 * never expires; HTTP has no such value, so clients get a year.
 */
const clientExpiry = (seconds: number): number | "no-cache" =>
  seconds === -1 ? "no-cache" : seconds === -2 ? 31_536_000 : seconds;

const level = optional(whole(0, 63));
const GridSubsetSchema = map({
  gridSet: text.describe("The id of a grid set."),
  extent: optional(extent).describe("minx, miny, maxx, maxy in units of the grid set; its whole extent."),
  zoomStart: level.describe("The first level that is offered; 0."),
  zoomStop: level.describe("The last level that is offered; the last of the grid set."),
  minCachedLevel: level.describe("The first level whose tiles are stored; the others are rendered for each request."),
  maxCachedLevel: level.describe("The last level whose tiles are stored."),
}).superRefine(({ minCachedLevel = 0, maxCachedLevel = Number.POSITIVE_INFINITY }, context) => {
  if (minCachedLevel > maxCachedLevel)
    expected(context, ["minCachedLevel"], `at most maxCachedLevel (${maxCachedLevel})`);
});

/** The key of a filter. Requests may write it in any case. */
const filterKey = text
  .transform((given, context) => {
    const key = given.trim().toUpperCase();
    if (!/^[^\s&=?#\p{Cc}]+$/u.test(key)) expected(context, [], "the name of a parameter");
    return key;
  })
  .describe("The name of the request parameter, in any case.");
const normalize = optional(oneOf(CASE_RULES)).describe("The case to which values are brought.");
const DEFAULT = "The value of a request without the parameter.";
const VALUES = "The values that tiles are made for.";
const THRESHOLD = "How far a requested number may be from the value that is used for it.";
const textDefault = anyText.default("").describe(DEFAULT);
/** The default of a filter of numbers. A default in quotes keeps its exact text. */
const numberDefault = (type: "float" | "integer") =>
  either("a number or a text", [z.number(), z.string()])
    .transform((value) => (typeof value === "number" ? numberText(type, value) : value))
    .prefault("")
    .describe(DEFAULT);
/** Checks that the default of a filter of numbers is one of its values. */
const hasLegalDefault = (filter: NumberFilter, context: z.RefinementCtx): void => {
  if (filter.default !== "" && legalValue(filter, filter.default) === undefined)
    expected(context, ["default"], legalValuesText(filter));
};
const ParameterFilterSchema = kinds([
  map({
    type: z.literal("string").describe("One of some texts."),
    key: filterKey,
    default: textDefault,
    values: list(anyText).describe("The values that requests may have, beside the default."),
    normalize,
  }),
  map({
    type: z.literal("regex").describe("A text that matches a regular expression."),
    key: filterKey,
    default: textDefault,
    regex: anyText.describe("The regular expression, in the syntax of Java, that the whole value matches."),
    normalize,
  }),
  map({
    type: z.literal("float").describe("The nearest of some numbers."),
    key: filterKey,
    default: numberDefault("float"),
    values: list(number({ least: -MAX_FLOAT, most: MAX_FLOAT }))
      .default([])
      .describe(VALUES),
    // GWC's thresholds for a filter that gives none.
    threshold: number({ above: 0 }).default(1e-6).describe(THRESHOLD),
  }).superRefine(hasLegalDefault),
  map({
    type: z.literal("integer").describe("The nearest of some whole numbers."),
    key: filterKey,
    default: numberDefault("integer"),
    values: list(whole(-MAX_INT - 1, MAX_INT))
      .default([])
      .describe(VALUES),
    threshold: whole(1, MAX_INT).default(1).describe(THRESHOLD),
  }).superRefine(hasLegalDefault),
]);
const ParameterFiltersSchema = list(ParameterFilterSchema).superRefine((filters, context) => {
  const repeated = repeats(filters, ({ key }) => key);
  for (const [i, { key }] of filters.entries())
    if (repeated.has(i)) wrong(context, [i, "key"], `two filters have the key ${key}`);
});

const percent = optional(number({ above: 0, most: 100 }));
const SeedGuardSchema = map({
  tiles: whole(10, 1_000_000).default(1000).describe("The number of last tiles that are judged."),
  identicalPercent: percent.describe("Pause a job when so many tiles are one picture."),
  unlikePercent: percent.describe("Pause a job when so many tiles differ in size from the replaced ones."),
}).refine(
  ({ tiles: _, ...percents }) => Object.keys(percents).length > 0,
  sentence("identicalPercent and unlikePercent are missing: without one of them nothing is guarded"),
);

const LayerJobsSchema = map({
  weight: number({ least: 0.01, most: 100 })
    .default(STANDARD_LAYER_JOBS.weight)
    .describe("The share of the layer's jobs beside jobs of other layers."),
  maxTasks: optional(whole(1, 4096)).describe("The most tasks of the layer that run at once."),
});

export const LayerSchema = map({
  name: text.describe("The name of the layer in all addresses."),
  enabled: flag.default(true).describe("Serve its tiles. A layer that is not enabled keeps them, and can be seeded."),
  advertised: flag.default(true).describe("Have the layer in capabilities. Its tiles are served in any case."),
  title: optional(anyText).describe("The name of the layer."),
  description: anyText.default("").describe("The description in capabilities."),
  keywords: list(text).default([]).describe("For the capabilities."),
  metadataUrls: list(MetadataUrlSchema).default([]).describe("Documents that describe the data, for the capabilities."),
  attribution: optional(
    anyText.refine((given) => given.length <= 2000, sentence("expected at most 2000 characters")),
  ).describe("Who is named beside the map, as HTML: in TileJSON, WMS and OGC API; that of the archive."),
  source: SourceSchema.describe("Where missing tiles come from."),
  tilesOnDisk: optional(someOf(TilesOnDiskSchema)).describe(
    "Tiles that another program has written: they are copied instead of rendered, and never changed.",
  ),
  store: optional(text).describe("The id of the store of its tiles; the first store."),
  gridSubsets: optional(someOf(GridSubsetSchema)).describe("EPSG:4326 and EPSG:900913; the latter for tile sources."),
  formats: optional(someOf(text)).describe("MIME types; image/png and image/jpeg, or that of the archive."),
  formatsTogether: flag.default(false).describe("One render stores the tile in all picture formats."),
  metatile: optional(pair(whole(1, MAX_METATILE))).describe(
    "Tiles that one request renders; 4, 4, or 1, 1 for tile sources.",
  ),
  gutter: whole(0, 256).default(0).describe("Pixels around a metatile that are rendered and cut off."),
  parameterFilters: ParameterFiltersSchema.default([]).describe("Request parameters that make other tiles."),
  requestFilters: optional(RequestFiltersSchema).describe("Requests for tiles without data get an empty tile."),
  updateSources: optional(UpdateSourcesSchema).describe("Feeds that tell where the data has changed."),
  cacheBypassAllowed: optional(flag).describe("Answer cached=false of /service/gmaps, mgmaps and ve."),
  legends: list(LegendSchema).default([]).describe("The legends of the styles, for the capabilities."),
  jpegQuality: whole(1, 100).default(DEFAULT_ENCODING.jpegQuality).describe("The quality of JPEG tiles."),
  pngCompression: oneOf(PNG_COMPRESSIONS)
    .default(DEFAULT_ENCODING.pngCompression)
    .describe("Small tiles, or little time for each."),
  formatModifiers: list(FormatModifierSchema)
    .default([])
    .describe("Other requests for tiles of some formats; only for a source of type wms."),
  expireCacheSeconds: expiry(NOT_STORED, (seconds) => seconds)
    .prefault(0)
    .describe("The time after which a tile is rendered again; 0: never; -1: tiles are not stored."),
  staleWhileRevalidateSeconds: whole(0, MAX_SECONDS)
    .default(0)
    .describe("The time after the expiry in which the old tile is answered while a new one is rendered."),
  negativeCacheSeconds: number({ least: 0, most: 3600 })
    .default(0)
    .describe("The time for which a failure of the upstream is answered again."),
  seedGuard: optional(SeedGuardSchema).describe("Pauses a job whose tiles look wrong."),
  jobs: LayerJobsSchema.prefault({}).describe("How the jobs of the layer share the server with others."),
  expireClientSeconds: expiry(-2, clientExpiry)
    .prefault(7200)
    .describe("The time for which clients keep a tile. GWC's codes: -1 no-cache, -2 never expires."),
  staleClientSeconds: whole(0, MAX_SECONDS)
    .default(15)
    .describe("The longest time for which clients and CDNs keep a stale tile; 0: no-cache."),
  expireCdnSeconds: optional(whole(0, MAX_SECONDS)).describe(
    "The time for which a CDN keeps a tile, as CDN-Cache-Control; no such header.",
  ),
  queryable: flag.default(false).describe("The layer supports GetFeatureInfo."),
  infoFormats: someOf(mimeType)
    .default([...INFO_FORMATS])
    .describe("The formats of GetFeatureInfo in capabilities."),
  fullWms: flag.default(false).describe("Answer WMS maps of any extent and size."),
  secured: flag.default(false).describe("Only users may read the tiles."),
}).superRefine((layer, context) => {
  checkFilters(layer, context);
  checkLegends(layer, context);
  checkModifiers(layer, context);
  checkRequestFilters(layer, context);
});

/** Checks that RE2 can compile the patterns of the filters. */
function checkFilters(
  { name, parameterFilters }: Pick<LayerDocument, "name" | "parameterFilters">,
  context: z.RefinementCtx,
): void {
  for (const [i, filter] of parameterFilters.entries()) {
    const compiled = filter.type === "regex" ? compileRegex(filter) : undefined;
    if (compiled === undefined || compiled.ok) continue;
    const whose = `${filter.key} of layer ${JSON.stringify(name)}`;
    const remedy = "write the alternatives out, or list the values with type: string";
    const what = `a regular expression of RE2 for ${whose} (${compiled.error}; ${remedy})`;
    expected(context, ["parameterFilters", i, "regex"], what);
  }
}

export type LayerDocument = z.output<typeof LayerSchema>;
export type GridSubsetDocument = z.output<typeof GridSubsetSchema>;
