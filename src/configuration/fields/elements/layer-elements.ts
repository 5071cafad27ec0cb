import { formatOf, type TileFormat } from "../../../layer/format.ts";
import { INFO_FORMATS } from "../../../layer/layer.ts";
import { HINTS, type Resampling, resamplingOfHint, STANDARD_RESAMPLING } from "../../../layer/picture/resampling.ts";
import { itemsIn, list, scalarText, textOf } from "../../gwc/document-node.ts";
import {
  derived,
  type Element,
  type Elements,
  type Form,
  group,
  inSection,
  type Keys,
  kept,
  keysOf,
  onlyWritten,
  rankOf,
} from "../../gwc/element.ts";
import { commaTexts, filled, flag, integer, integers, text, texts } from "../../gwc/forms.ts";
import { LayerSchema } from "../layer-schema.ts";
import { ArcgisCacheSourceSchema, MbtilesSourceSchema, WmsSourceSchema } from "../source-schema.ts";
import {
  expiryRules,
  expirySeconds,
  FORMAT_MODIFIERS,
  GRID_SUBSETS,
  METADATA_URLS,
  PARAMETER_FILTERS,
  REQUEST_FILTERS,
  UPDATE_SOURCES,
} from "./layer-parts-elements.ts";
import { LEGENDS } from "./legend-elements.ts";

/** The elements of GeoWebCache's layers, and the keys of the configuration that have their values. */

/** GeoWebCache's default of `concurrency`, `metaWidthHeight` and `backendTimeout`. */
const CONCURRENCY = 32;
const META = [3, 3] as const;
/** GeoWebCache's time limit in seconds of a request to a server. */
export const BACKEND_TIMEOUT_SECONDS = 120;

/** GeoWebCache's code of an expiry: the tile never expires. */
const NEVER = -2;

type Layer = Omit<Keys<typeof LayerSchema>, "source">;
type WmsLayer = Layer & { readonly source?: Keys<typeof WmsSourceSchema> };
type ArcgisLayer = Layer & {
  readonly source?: Keys<typeof ArcgisCacheSourceSchema>;
  /** The format in the cache's `conf.xml`. */
  readonly storageFormat?: string;
};

const of = keysOf<typeof LayerSchema, Layer>(LayerSchema);
const ofWms = keysOf(WmsSourceSchema);
const ofMbtiles = keysOf(MbtilesSourceSchema);
const ofArcgis = keysOf(ArcgisCacheSourceSchema);
const inSource = <T>(element: Element<T>) => inSection("source", rankOf(LayerSchema, "source"), element);

/** GeoWebCache's formats that every layer offers in addition to the formats of its tiles. */
export const KML_FORMATS: ReadonlySet<string> = new Set([
  "application/vnd.google-earth.kml+xml",
  "application/vnd.google-earth.kmz",
]);

export const isKml = (format: string): boolean => KML_FORMATS.has(format.toLowerCase());

/**
 * The formats of a layer's tiles. Of several names of one format, the first is read. Formats that Nuthatch lacks, such
 * as TIFF, are left out, unless the layer has no other format.
 */
const formats: Form<readonly string[]> = {
  ...texts,
  read(node) {
    const ofTiles = itemsIn(node)
      .map(String)
      .filter((format) => !isKml(format));
    const known = new Map<TileFormat, string>();
    for (const name of ofTiles) {
      const format = formatOf(name);
      if (format !== undefined && !known.has(format)) known.set(format, name);
    }
    return known.size > 0 ? [...known.values()] : ofTiles;
  },
};

/** Tiles per metatile. GeoWebCache uses its default if the list has one number or three. */
const metatile: Form<readonly [number, number]> = {
  ...integers,
  read(node) {
    const given = itemsIn(node).map(Number);
    return given.length === META.length ? given : META;
  },
};

const isSame = (seconds: number): number => seconds;

/** Returns an element to which no path leads: another element has the same key. */
const unplaced = <T>({ pathOf: _, ...element }: Element<T>): Element<T> => element;

const TIMEOUT = {
  shown: BACKEND_TIMEOUT_SECONDS,
  inherited: "shown",
  differs: "the time limit of one request, without the tries that follow",
} as const;

/** The elements of every kind of layer that come before the elements of its source. */
const HEAD = {
  blobStoreId: of("store", filled),
  enabled: of("enabled", flag, { unread: true, shown: true }),
  advertised: of("advertised", flag, { unread: true, unwritten: true }),
  transientLayer: kept("flag", { words: ["false"] }),
  name: of("name", text, { missing: "" }),
  metaInformation: group(
    {
      title: of("title", text, { unread: "" }),
      description: of("description", text),
      keywords: of("keywords", texts, { unread: [], unwritten: [] }),
    },
    ({ title, description, keywords = [], name }: Pick<Layer, "title" | "description" | "keywords" | "name">) =>
      title !== name || description !== "" || keywords.length > 0,
  ),
  metadataURLs: of("metadataUrls", METADATA_URLS, { unread: [], unwritten: [] }),
  mimeFormats: of("formats", formats, { unread: [] }),
  infoMimeFormats: of("infoFormats", texts, { unread: [], unwritten: [...INFO_FORMATS] }),
  formatModifiers: of("formatModifiers", FORMAT_MODIFIERS, { unread: [], unwritten: [], inherited: "shown" }),
  gridSubsets: of("gridSubsets", GRID_SUBSETS, { unread: [], shown: list("gridSubset", []) }),
  updateSources: of("updateSources", UPDATE_SOURCES, { unread: [] }),
  requestFilters: of("requestFilters", REQUEST_FILTERS, { unread: [] }),
  useETags: kept("flag"),
  metaWidthHeight: of("metatile", metatile, { missing: META, shown: list("int", [...META]) }),
  expireCache: unplaced(
    of(
      "expireCacheSeconds",
      expirySeconds((seconds) => (seconds === NEVER ? 0 : seconds)),
    ),
  ),
  expireCacheList: of(
    "expireCacheSeconds",
    expiryRules(
      (seconds) => (seconds === NEVER ? 0 : seconds),
      (seconds) => (seconds === 0 ? NEVER : seconds),
    ),
  ),
  expireClients: unplaced(of("expireClientSeconds", expirySeconds(isSame))),
  expireClientsList: of("expireClientSeconds", expiryRules(isSame, isSame)),
  backendTimeout: inSource({
    ...ofWms("timeoutSeconds", integer, { missing: BACKEND_TIMEOUT_SECONDS, ...TIMEOUT }),
    write: ({ timeoutSeconds = BACKEND_TIMEOUT_SECONDS }: Keys<typeof WmsSourceSchema>) => Math.ceil(timeoutSeconds),
  }),
  cacheBypassAllowed: {
    ...of("cacheBypassAllowed", flag, { unread: false, shown: false, inherited: "shown" }),
    write: ({ cacheBypassAllowed = false }: Layer) => cacheBypassAllowed,
  },
  queryable: of("queryable", flag, { unwritten: false }),
} satisfies Elements<WmsLayer>;

/** Names of layers or styles, parted by commas. Names that are all empty count as none. */
const commaNames: Form<readonly string[]> = {
  ...commaTexts,
  read(node) {
    const names = scalarText(node)?.split(",");
    return names?.join("") === "" ? undefined : names;
  },
};

/** Addresses. A repeated address is not a second server. GeoWebCache shows each with a question mark. */
const addresses: Form<string | readonly string[]> = {
  ...texts,
  read(node) {
    const urls = [...new Set(itemsIn(node).map(String))];
    return urls.length === 1 ? urls[0] : urls;
  },
  write: (url) => texts.write(typeof url === "string" ? [url] : url),
};

const version: Form<"1.1.1" | "1.3.0"> = {
  ...text,
  read: (node) => (scalarText(node) === "1.3.0" ? "1.3.0" : "1.1.1"),
};

/** The method of requests. A word that GeoWebCache does not know is read unchanged, and refused later. */
const method: Form<"get" | "post"> = {
  type: "text",
  read(node) {
    const mode = scalarText(node);
    return mode === "FormPost" ? "post" : mode === "Get" ? undefined : mode;
  },
  write: (value) => (value === "post" ? "FormPost" : undefined),
};

/** The words of GeoWebCache's interpolations. A word that GeoWebCache does not know counts as missing. */
const hintsLevel: Form<Resampling> = {
  type: "text",
  read: (node) => resamplingOfHint(scalarText(node) ?? ""),
  write: (resampling) => HINTS[resampling],
};

/** The parameters that GeoWebCache has elements for, by the name of the element. */
const PARAMETERS = { tiled: "TILED", errorMime: "EXCEPTIONS" } as const;

/** The vendor parameters, which are sent with each request to the WMS. */
const VENDOR_PARAMETERS: Element<Keys<typeof WmsSourceSchema>> = {
  type: "text",
  rank: rankOf(WmsSourceSchema, "vendorParameters"),
  read(part, node, layer) {
    const own = Object.entries(PARAMETERS).flatMap(([name, key]): [string, string][] => {
      const value = textOf(layer, name);
      return value === undefined || value === "" ? [] : [[key, value]];
    });
    const given = (scalarText(node) ?? "")
      .split("&")
      .filter((pair) => pair !== "")
      .map((pair): [string, string] => {
        const equals = pair.indexOf("=");
        return equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)];
      });
    part["vendorParameters"] = { ...Object.fromEntries(own), ...Object.fromEntries(given) };
  },
  write({ vendorParameters = {} }) {
    const pairs = Object.entries(vendorParameters).map(([key, value]) => `${key}=${value}`);
    return pairs.length === 0 ? undefined : pairs.join("&");
  },
  pathOf: (path, name) => (/^vendorParameters(?:\.|$)/.test(path) ? name : undefined),
};

export const WMS_LAYER = {
  ...HEAD,
  parameterFilters: of("parameterFilters", PARAMETER_FILTERS, { unwritten: [] }),
  wmsUrl: inSource({
    ...ofWms("url", addresses, {
      missing: [],
      differs: "several addresses are used in their order: the next one when one is down; GeoWebCache takes turns",
    }),
    rank: 0,
  }),
  wmsLayers: inSource(ofWms("layers", commaNames)),
  wmsQueryLayers: inSource(ofWms("queryLayers", commaTexts, { unread: [""] })),
  wmsStyles: inSource(ofWms("styles", commaNames, { unwritten: [] })),
  gutter: of("gutter", integer, { shown: 0 }),
  errorMime: kept("text", { differs: `sent as ${PARAMETERS.errorMime} with each request` }),
  wmsVersion: inSource(ofWms("version", version, { missing: "1.1.1", unwritten: "1.1.1" })),
  httpUsername: inSource(ofWms("username", text, { inherited: "hidden" })),
  httpPassword: inSource(ofWms("password", text, { inherited: "hidden" })),
  proxyUrl: inSource(ofWms("proxy", text)),
  tiled: kept("flag", { differs: `sent as ${PARAMETERS.tiled} with each request` }),
  transparent: inSource(ofWms("transparent", flag, { missing: true })),
  bgColor: inSource(ofWms("bgColor", filled)),
  palette: inSource(ofWms("palette", filled)),
  vendorParameters: inSource(VENDOR_PARAMETERS),
  cachePrefix: kept("text"),
  concurrency: inSource(
    ofWms("connections", integer, {
      missing: CONCURRENCY,
      shown: CONCURRENCY,
      differs: "the most requests at once to the upstream, of all layers of its host together",
    }),
  ),
  legends: LEGENDS,
  httpRequestMode: inSource(ofWms("method", method, { words: ["Get", "FormPost"] })),
  hintsLevel: of("resampling", hintsLevel, { words: Object.values(HINTS), unwritten: STANDARD_RESAMPLING }),
} satisfies Elements<WmsLayer>;

/** The elements of layers whose tiles are on a disk. They have no effect on the request of a tile. */
const TILES_HEAD = {
  ...HEAD,
  infoMimeFormats: onlyWritten(HEAD.infoMimeFormats),
  formatModifiers: onlyWritten(HEAD.formatModifiers),
  metaWidthHeight: onlyWritten(HEAD.metaWidthHeight),
  backendTimeout: derived("integer", () => BACKEND_TIMEOUT_SECONDS, TIMEOUT),
  queryable: onlyWritten(HEAD.queryable),
};

const MBTILES_LAYER = {
  ...TILES_HEAD,
  parameterFilters: WMS_LAYER.parameterFilters,
  tilesPath: inSource(ofMbtiles("file", text, { missing: "" })),
  tileSize: kept("integer"),
};

/** GeoWebCache takes the formats and grid sets of such a layer from its cache alone. */
const ARCGIS_LAYER = {
  ...TILES_HEAD,
  mimeFormats: onlyWritten(HEAD.mimeFormats),
  gridSubsets: onlyWritten(HEAD.gridSubsets),
  // GeoWebCache shows no default of it.
  metaWidthHeight: onlyWritten(of("metatile", metatile)),
  tilingScheme: inSource(ofArcgis("path", text, { missing: "" })),
  tileCachePath: inSource(ofArcgis("tilesPath", filled)),
  hexZoom: inSource(ofArcgis("hexZoom", flag, { unread: false, shown: false })),
  storageFormat: derived("text", ({ storageFormat }: ArcgisLayer) => storageFormat),
} satisfies Elements<ArcgisLayer>;

/** The elements of each kind of layer, by the name of the root element. */
export const LAYERS = { wmsLayer: WMS_LAYER, mbtilesLayer: MBTILES_LAYER, arcgisLayer: ARCGIS_LAYER } as const;
