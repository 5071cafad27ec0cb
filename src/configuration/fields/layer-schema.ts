import type * as z from "zod";
import { atEveryZoom, type ByZoom } from "../../layer/by-zoom.ts";
import { INFO_FORMATS, MAX_METATILE, STANDARD_LAYER_JOBS } from "../../layer/layer.ts";
import { DEFAULT_ENCODING, PNG_COMPRESSIONS } from "../../layer/picture/encoding.ts";
import { RESAMPLINGS, STANDARD_RESAMPLING } from "../../layer/picture/resampling.ts";
import { NOT_STORED } from "../../layer/stored-levels.ts";
import {
  anyText,
  either,
  expected,
  flag,
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
} from "./fields.ts";
import {
  checkLegends,
  checkModifiers,
  FormatModifierSchema,
  GridSubsetSchema,
  LegendSchema,
  MetadataUrlSchema,
} from "./layer-parts-schema.ts";
import { checkFilters, ParameterFiltersSchema } from "./parameter-filter-schema.ts";
import { checkRequestFilters, RequestFiltersSchema } from "./request-filter-schema.ts";
import { SourceSchema } from "./source-schema.ts";
import { TilesOnDiskSchema } from "./tiles-on-disk-schema.ts";
import { UpdateSourcesSchema } from "./update-source-schema.ts";

const expiryRule = (least: number) =>
  map({
    minZoom: whole(0, 255).describe("The first level of the rule."),
    seconds: whole(least, MAX_SECONDS).describe("The time, from this level up to the next rule."),
  });

/** A rule of an expiry with GWC's codes. */
export const ExpiryRuleSchema = expiryRule(-2);

/**
 * Describes an expiry: seconds for all zooms, or rules that hold from a zoom on, as GWC's `expirationRule`. `read`
 * decodes the seconds.
 */
const expiry = <T>(least: number, read: (seconds: number) => T) =>
  either(`a whole number from ${least} to ${MAX_SECONDS} or a list (each a map of minZoom, seconds)`, [
    whole(least, MAX_SECONDS),
    someOf(expiryRule(least)),
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

const percent = optional(number({ above: 0, most: 100 }));
const SeedGuardSchema = map({
  tiles: whole(10, 1_000_000).default(1000).describe("The number of checked tiles, the latest stored."),
  identicalPercent: percent.describe("Pause a job if at least this percentage of the tiles are one picture."),
  unlikePercent: percent.describe(
    "Pause a job if at least this percentage of the tiles differ much in size from the tiles that they replace.",
  ),
}).refine(
  ({ tiles: _, ...percents }) => Object.keys(percents).length > 0,
  sentence("identicalPercent and unlikePercent are missing: without both the guard checks nothing"),
);

const LayerJobsSchema = map({
  weight: number({ least: 0.01, most: 100 })
    .default(STANDARD_LAYER_JOBS.weight)
    .describe("The weight of the layer's jobs in relation to jobs of other layers."),
  maxTasks: optional(whole(1, 4096)).describe("The largest number of the layer's tasks that run at once."),
});

export const LayerSchema = map({
  name: text.describe("The name of the layer in all addresses."),
  enabled: flag.default(true).describe("Serve its tiles. A layer that is not enabled keeps them, and can be seeded."),
  advertised: flag.default(true).describe("Show the layer in capabilities. Its tiles are always served."),
  title: optional(anyText).describe("The name of the layer."),
  description: anyText.default("").describe("The description in capabilities."),
  keywords: list(text).default([]).describe("For the capabilities."),
  metadataUrls: list(MetadataUrlSchema).default([]).describe("Documents that describe the data, for the capabilities."),
  attribution: optional(
    anyText.refine((given) => given.length <= 2000, sentence("expected at most 2000 characters")),
  ).describe(
    "The attribution of the map, as HTML, for TileJSON, WMS and OGC API. Default: the attribution of the archive.",
  ),
  source: SourceSchema.describe("Where missing tiles come from."),
  tilesOnDisk: optional(someOf(TilesOnDiskSchema)).describe(
    "Tiles that another program has written: they are copied instead of rendered, and never changed.",
  ),
  store: optional(text).describe("The id of the store of its tiles. Default: the first store."),
  gridSubsets: optional(someOf(GridSubsetSchema)).describe(
    "Grid sets of the layer. Default: EPSG:4326 and EPSG:900913, for tile sources only EPSG:900913.",
  ),
  formats: optional(someOf(text)).describe(
    "MIME types. Default: image/png and image/jpeg, or the format of the archive.",
  ),
  formatsTogether: flag.default(false).describe("One render stores the tile in all picture formats."),
  metatile: optional(pair(whole(1, MAX_METATILE))).describe(
    "Tiles that one request renders. Default: 4, 4, or 1, 1 for tile sources.",
  ),
  gutter: whole(0, 256).default(0).describe("Pixels around a metatile that are rendered and cut off."),
  parameterFilters: ParameterFiltersSchema.default([]).describe(
    "Request parameters whose values have different tiles.",
  ),
  requestFilters: optional(RequestFiltersSchema).describe("Requests for tiles without data get an empty tile."),
  updateSources: optional(UpdateSourcesSchema).describe("Sources that report the places where the data has changed."),
  cacheBypassAllowed: optional(flag).describe("Answer cached=false of /service/gmaps, mgmaps and ve."),
  legends: list(LegendSchema).default([]).describe("The legends of the styles, for the capabilities."),
  jpegQuality: whole(1, 100).default(DEFAULT_ENCODING.jpegQuality).describe("The quality of JPEG tiles."),
  pngCompression: oneOf(PNG_COMPRESSIONS)
    .default(DEFAULT_ENCODING.pngCompression)
    .describe("Small tiles, or little processor time for each tile."),
  formatModifiers: list(FormatModifierSchema)
    .default([])
    .describe("Changed requests for tiles of some formats. Only for a source of type wms."),
  expireCacheSeconds: expiry(NOT_STORED, (seconds) => seconds)
    .prefault(0)
    .describe("The time after which a tile is rendered again. 0: never; -1: tiles are not stored."),
  staleWhileRevalidateSeconds: whole(0, MAX_SECONDS)
    .default(0)
    .describe("For this time after the expiry the old tile is served while a new tile is rendered."),
  negativeCacheSeconds: number({ least: 0, most: 3600 })
    .default(0)
    .describe("The time for which the server repeats a failure of the upstream as its answer."),
  seedGuard: optional(SeedGuardSchema).describe("Pauses a job whose tiles look wrong."),
  jobs: LayerJobsSchema.prefault({}).describe("How the jobs of the layer share the server with others."),
  expireClientSeconds: expiry(-2, clientExpiry)
    .prefault(7200)
    .describe("The time for which clients keep a tile. GWC's codes: -1 no-cache, -2 never expires."),
  staleClientSeconds: whole(0, MAX_SECONDS)
    .default(15)
    .describe("The longest time for which clients and CDNs keep a stale tile. 0: no-cache."),
  expireCdnSeconds: optional(whole(0, MAX_SECONDS)).describe(
    "The time for which a CDN keeps a tile, as CDN-Cache-Control. Default: no such header.",
  ),
  queryable: flag.default(false).describe("The layer supports GetFeatureInfo."),
  infoFormats: someOf(mimeType)
    .default([...INFO_FORMATS])
    .describe("The formats of GetFeatureInfo in capabilities."),
  fullWms: flag.default(false).describe("Answer WMS maps of any extent and size, also together with other layers."),
  resampling: oneOf(RESAMPLINGS)
    .default(STANDARD_RESAMPLING)
    .describe("How pixels of tiles become pixels of such a map: fast, usual, or sharp and smooth."),
  secured: flag.default(false).describe("Only accounts may read the tiles."),
}).superRefine((layer, context) => {
  checkFilters(layer, context);
  checkLegends(layer, context);
  checkModifiers(layer, context);
  checkRequestFilters(layer, context);
});

export type LayerDocument = z.output<typeof LayerSchema>;
