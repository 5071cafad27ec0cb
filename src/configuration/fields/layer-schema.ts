import type * as z from "zod";
import { atEveryZoom, type ByZoom } from "../../layer/by-zoom.ts";
import { DEFAULT_ENCODING, PNG_COMPRESSIONS } from "../../layer/encoding.ts";
import { INFO_FORMATS, MAX_METATILE, STANDARD_LAYER_JOBS } from "../../layer/layer.ts";
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

export type LayerDocument = z.output<typeof LayerSchema>;
