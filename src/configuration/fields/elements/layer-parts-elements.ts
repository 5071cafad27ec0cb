import type * as z from "zod";
import type { CaseRule } from "../../../layer/filter/parameter-filter.ts";
import type { ChangeOperation } from "../../../layer/update-source.ts";
import type { ReadonlyDeep } from "../../../lib/readonly-deep.ts";
import {
  type DocumentNode,
  double,
  isMapNode,
  itemsIn,
  map,
  numberOf,
  scalarText,
  textOf,
} from "../../gwc/document-node.ts";
import { contentOf, type Elements, type Form, type Keys, kept, keysOf } from "../../gwc/element.ts";
import {
  commaTexts,
  corners,
  decimal,
  filled,
  flag,
  floats,
  integer,
  integers,
  kind,
  kindsOf,
  listOf,
  numberText,
  text,
  texts,
} from "../../gwc/forms.ts";
import { FormatModifierSchema, GridSubsetSchema, MetadataUrlSchema } from "../layer-parts-schema.ts";
import { ExpiryRuleSchema } from "../layer-schema.ts";
import {
  FloatFilterSchema,
  IntegerFilterSchema,
  RegexFilterSchema,
  StringFilterSchema,
} from "../parameter-filter-schema.ts";
import { CircleFilterSchema, FileFilterSchema, RasterSchema, WmsFilterSchema } from "../request-filter-schema.ts";
import { GeoRssSchema, type UpdateSourceSchema } from "../update-source-schema.ts";

/** The elements of the lists of a layer. */

const ofMetadataUrl = keysOf(MetadataUrlSchema);
export const METADATA_URLS = listOf("org.geowebcache.layer.meta.MetadataURL", {
  type: ofMetadataUrl("type", text, { missing: "" }),
  format: ofMetadataUrl("format", text, { missing: "" }),
  url: ofMetadataUrl("url", text, { missing: "" }),
});

/** GeoWebCache has a share of 1, Nuthatch a percentage. A quality above 0 stays above 0. */
const quality: Form<number> = {
  type: "double",
  read: (node) => Math.max(numberOf(node) > 0 ? 1 : 0, Math.round(numberOf(node) * 100)),
  write: (percent) => double(percent / 100),
};

const ofModifier = keysOf(FormatModifierSchema);
export const FORMAT_MODIFIERS = listOf("formatModifier", {
  responseFormat: ofModifier("format", text, { missing: "" }),
  requestFormat: ofModifier("requestFormat", filled),
  transparent: ofModifier("transparent", flag),
  bgColor: ofModifier("bgColor", filled),
  palette: ofModifier("palette", filled),
  compressionQuality: ofModifier("jpegQuality", quality),
});

const ofSubset = keysOf(GridSubsetSchema);
const SUBSET = {
  gridSetName: ofSubset("gridSet", text, { missing: "" }),
  extent: ofSubset("extent", corners),
  zoomStart: ofSubset("zoomStart", integer, { unwritten: 0 }),
  zoomStop: ofSubset("zoomStop", integer),
  minCachedLevel: ofSubset("minCachedLevel", integer),
  maxCachedLevel: ofSubset("maxCachedLevel", integer),
} satisfies Elements<Keys<typeof GridSubsetSchema>>;
const SUBSETS = listOf<Keys<typeof GridSubsetSchema>>("gridSubset", SUBSET);

/** The grid subsets. If several have one grid set, the last is used, as in GeoWebCache. */
export const GRID_SUBSETS: typeof SUBSETS = {
  ...SUBSETS,
  read: (node) =>
    [
      ...new Map(
        itemsIn(node).flatMap((item) => (isMapNode(item) ? [[textOf(item, "gridSetName") ?? "", item] as const] : [])),
      ).values(),
    ].map((item) => contentOf(SUBSET, item)),
};

/** The placeholder in a feed's address: in GeoWebCache, and in the configuration file, where `${` begins a variable. */
const PLACEHOLDERS = ["$" + "{lastUpdate}", "{lastUpdate}"] as const;

const feedAddress: Form<string> = {
  type: "text",
  read: (node) => scalarText(node)?.replaceAll(...PLACEHOLDERS),
  write: (url) => url.replaceAll(PLACEHOLDERS[1], () => PLACEHOLDERS[0]),
};

/** The operation after a change. GeoWebCache treats any word other than seed and reseed as a truncate. */
const operation: Form<ChangeOperation> = {
  ...text,
  read: (node) => /^(?:re)?seed$/i.exec(scalarText(node) ?? "")?.[0].toLowerCase(),
};

const ofFeed = keysOf(GeoRssSchema);
const FEED = {
  feedUrl: ofFeed("url", feedAddress, { missing: "" }),
  gridSetId: ofFeed("gridSet", filled),
  pollInterval: ofFeed("pollSeconds", numberText),
  operation: ofFeed("operation", operation),
  format: ofFeed("format", filled),
  seedingThreads: ofFeed("threadCount", integer),
  maxMaskLevel: kept("integer", { differs: "areas are exact at every level" }),
  httpUsername: ofFeed("username", filled),
  httpPassword: ofFeed("password", filled),
} satisfies Elements<Keys<typeof GeoRssSchema>>;
const FEEDS = listOf<Keys<typeof GeoRssSchema>>("geoRssFeed", FEED);

type UpdateSourceKeys = ReadonlyDeep<z.input<typeof UpdateSourceSchema>>;

/** The feeds. GeoWebCache has no other sources of updates, and does not poll a feed without an interval. */
export const UPDATE_SOURCES: Form<readonly UpdateSourceKeys[]> = {
  ...FEEDS,
  write: (sources) => FEEDS.write(sources.flatMap((source) => (source.type === "georss" ? [source] : []))),
  read: (node) =>
    itemsIn(node).flatMap((item) => {
      const feed = isMapNode(item) ? contentOf(FEED, item) : {};
      return Number(feed["pollSeconds"]) >= 1 ? [{ type: "georss", ...feed }] : [];
    }),
};

/** GeoWebCache's time limit of a filter without one, in seconds. */
const FILTER_TIMEOUT_SECONDS = 120;

const ofRaster = keysOf(RasterSchema);
/** The elements of both kinds of filters with rasters. */
const RASTER = {
  name: ofRaster("name", text, { missing: "" }),
  zoomStart: ofRaster("zoomStart", integer),
  zoomStop: {
    ...ofRaster("zoomStop", integer),
    // GeoWebCache accepts a file without it, and fails at the first request.
    read(part, node) {
      part["zoomStop"] = node === undefined ? (part["zoomStart"] ?? 0) : numberOf(node);
    },
  },
  resample: ofRaster("resample", flag, { unread: false }),
  preload: ofRaster("preload", flag, { unread: false }),
  debug: ofRaster("debug", flag, { unread: false }),
} satisfies Elements<Keys<typeof RasterSchema>>;

const ofFile = keysOf(FileFilterSchema);
const ofWms = keysOf(WmsFilterSchema);
/** The request filters, by the name of their element. A JSON array loses these names. */
export const REQUEST_FILTERS = kindsOf(
  [
    kind("circularExtentFilter", CircleFilterSchema, { name: RASTER.name }),
    kind("wmsRasterFilter", WmsFilterSchema, {
      ...RASTER,
      wmsLayers: ofWms("layers", commaTexts, { unread: [""] }),
      wmsStyles: ofWms("styles", commaTexts, { unread: [""] }),
      backendTimeout: ofWms("timeoutSeconds", integer, { missing: FILTER_TIMEOUT_SECONDS }),
    }),
    kind("fileRasterFilter", FileFilterSchema, {
      ...RASTER,
      storagePath: ofFile("directory", text, { missing: "" }),
      fileExtension: ofFile("extension", text, { missing: "" }),
    }),
  ],
  (fields) =>
    fields.has("storagePath") || fields.has("fileExtension")
      ? "fileRasterFilter"
      : fields.size > 1
        ? "wmsRasterFilter"
        : "circularExtentFilter",
);

/** The case of values. */
const normalize: Form<CaseRule> = {
  type: { map: { case: "text", locale: "text" } },
  read: (node) => (isMapNode(node) ? (textOf(node, "case") ?? "NONE").toUpperCase() : undefined),
  write: (rule) => map([["case", rule]]),
};
/** The default of a filter of numbers, whose exact text counts. */
const numberDefault: Form<string | number> = { ...text, write: String };

const ofString = keysOf(StringFilterSchema);
const ofRegex = keysOf(RegexFilterSchema);
const ofFloat = keysOf(FloatFilterSchema);
const ofInteger = keysOf(IntegerFilterSchema);
/** The parameter filters, by the name of their element. A JSON array loses these names. */
export const PARAMETER_FILTERS = kindsOf(
  [
    kind("stringParameterFilter", StringFilterSchema, {
      key: ofString("key", text, { missing: "" }),
      defaultValue: ofString("default", text, { missing: "" }),
      normalize: ofString("normalize", normalize),
      values: ofString("values", texts, { missing: [] }),
    }),
    kind("regexParameterFilter", RegexFilterSchema, {
      key: ofRegex("key", text, { missing: "" }),
      defaultValue: ofRegex("default", text, { missing: "" }),
      normalize: ofRegex("normalize", normalize),
      regex: ofRegex("regex", text),
    }),
    kind("floatParameterFilter", FloatFilterSchema, {
      key: ofFloat("key", text, { missing: "" }),
      defaultValue: ofFloat("default", numberDefault, { missing: "" }),
      values: ofFloat("values", floats, { missing: [] }),
      threshold: ofFloat("threshold", decimal),
    }),
    kind("integerParameterFilter", IntegerFilterSchema, {
      key: ofInteger("key", text, { missing: "" }),
      defaultValue: ofInteger("default", numberDefault, { missing: "" }),
      values: ofInteger("values", integers, { missing: [] }),
      threshold: ofInteger("threshold", integer),
    }),
  ],
  (fields) =>
    fields.has("regex")
      ? "regexParameterFilter"
      : fields.has("threshold")
        ? "floatParameterFilter"
        : "stringParameterFilter",
);

const rule = keysOf(ExpiryRuleSchema);
const RULE = {
  "@minZoom": rule("minZoom", numberText, { missing: Number.NaN }),
  "@expiration": rule("seconds", numberText, { missing: Number.NaN }),
} satisfies Elements<Keys<typeof ExpiryRuleSchema>>;
const RULES = listOf<Keys<typeof ExpiryRuleSchema>>("expirationRule", RULE);
type Expiry = number | readonly Keys<typeof ExpiryRuleSchema>[];

/** GeoWebCache's code: the expiry of the upstream holds. It becomes GeoWebCache's default. */
const OF_BACKEND = -4;
const USUAL_EXPIRY_SECONDS = 7200;
const withoutBackend = (seconds: number): number => (seconds === OF_BACKEND ? USUAL_EXPIRY_SECONDS : seconds);

/** The seconds of all levels. They are written as a list of rules. `read` converts GeoWebCache's seconds. */
export const expirySeconds = (read: (seconds: number) => number): Form<Expiry> => ({
  type: "integer",
  read: (node) => read(withoutBackend(numberOf(node))),
  write: () => undefined,
});

/** The rules of an expiry. Without rules the seconds of all levels hold. */
export const expiryRules = (read: (seconds: number) => number, write: (seconds: number) => number): Form<Expiry> => ({
  ...RULES,
  read(node) {
    const rules = rulesIn(node).map(({ minZoom, seconds }) => ({ minZoom, seconds: read(withoutBackend(seconds)) }));
    return rules.length === 0 ? undefined : rulesThatRise(rules);
  },
  write: (expiry) =>
    RULES.write(
      (typeof expiry === "number" ? [{ minZoom: 0, seconds: expiry }] : expiry).map(({ minZoom, seconds = 0 }) => ({
        minZoom,
        seconds: write(seconds),
      })),
    ),
});

export interface ExpiryRule {
  readonly minZoom: number;
  readonly seconds: number;
}

/** Returns the rules of a list as they are given. */
export const rulesIn = (node: DocumentNode | undefined): readonly ExpiryRule[] =>
  itemsIn(node).flatMap((item) =>
    isMapNode(item)
      ? [{ minZoom: Number(item.attributes["minZoom"]), seconds: Number(item.attributes["expiration"]) }]
      : [],
  );

/**
 * Returns the rules with the zooms from which GeoWebCache applies them. The first rule applies from zoom 0. A later
 * rule applies from its own zoom, or from the zoom of an earlier rule if that is higher. Rules whose zoom is not a
 * number are returned unchanged, and refused later.
 */
function rulesThatRise(rules: readonly ExpiryRule[]): readonly ExpiryRule[] {
  if (rules.some(({ minZoom }) => Number.isNaN(minZoom))) return rules;
  let from = 0;
  const risen = rules.map(({ minZoom, seconds }, i) => {
    if (i > 0) from = Math.max(from, minZoom);
    return { minZoom: from, seconds };
  });
  return risen.filter(({ minZoom }, i) => risen[i + 1]?.minZoom !== minZoom);
}
