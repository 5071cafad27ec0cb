import { doubtfulUnit, geoWebCacheUnitOf, unitOf } from "../../../grid/units.ts";
import { formatNames, formatOf, type TileFormat } from "../../../layer/format.ts";
import { type Content, isMapNode, numberField, texts, withoutUndefined } from "../content.ts";
import {
  type DocumentNode,
  fieldOf,
  itemsOf,
  type MapNode,
  mapOf,
  numberOf,
  type RootedDocument,
  textOf,
} from "../document-node.ts";
import { ownContent } from "../own-document.ts";
import { filterContents, formatModifiers, legendContents, metadataUrls } from "./layer-parts-content.ts";
import { requestFilterContents, requestFilterFault, requestFilterPath } from "./request-filter-content.ts";
import { updateSourceContents, updateSourceFault, updateSourcePath } from "./update-source-content.ts";

/** GeoWebCache's default of `concurrency`, `metaWidthHeight` and `backendTimeout`. */
const CONCURRENCY = 32;
const META = [3, 3] as const;
const BACKEND_TIMEOUT_SECONDS = 120;

/**
 * GeoWebCache's codes of an expiry: the tile never expires; the expiry of the upstream holds, which becomes
 * GeoWebCache's default.
 */
const NEVER = -2;
const OF_BACKEND = -4;
const USUAL_EXPIRY_SECONDS = 7200;

/** Returns a layer in the form of the configuration file. The configuration checks the values. */
export const layerContent = (document: RootedDocument): Content => ownContent(document) ?? contentOfLayer(document);

function contentOfLayer({ root, node }: RootedDocument): Content {
  const meta = mapOf(node, "metaInformation");
  const title = meta === undefined ? undefined : textOf(meta, "title");
  const description = meta === undefined ? undefined : textOf(meta, "description");
  const isCache = root === "arcgisLayer";
  // GeoWebCache takes the formats and grid sets of such a layer from its cache alone.
  const formats = isCache ? [] : formatsOf(node);
  const subsets = isCache
    ? []
    : lastOfEach(itemsOf(node, "gridSubsets").flatMap((item) => (isMapNode(item) ? [subsetContent(item)] : [])));
  const isTiles = root !== "wmsLayer";
  return withoutUndefined({
    name: textOf(node, "name") ?? "",
    enabled: fieldOf(node, "enabled") === false ? false : undefined,
    advertised: fieldOf(node, "advertised") === false ? false : undefined,
    title: title === "" ? undefined : title,
    description,
    keywords: meta === undefined ? undefined : texts(meta, "keywords"),
    metadataUrls: metadataUrls(node),
    store: textOf(node, "blobStoreId") || undefined,
    source: sourceContent({ root, node }),
    gridSubsets: subsets.length === 0 ? undefined : subsets,
    formats: formats.length === 0 ? undefined : formats,
    metatile: isTiles ? undefined : metatile(node),
    gutter: isTiles ? undefined : numberField(node, "gutter"),
    formatModifiers: isTiles ? undefined : formatModifiers(node),
    parameterFilters: filterContents(fieldOf(node, "parameterFilters")),
    requestFilters: requestFilterContents(fieldOf(node, "requestFilters")),
    updateSources: updateSourceContents(node),
    cacheBypassAllowed: fieldOf(node, "cacheBypassAllowed") === true ? true : undefined,
    legends: legendContents(node),
    expireCacheSeconds: expiryContent(node, "expireCache", (seconds) => (seconds === NEVER ? 0 : seconds)),
    expireClientSeconds: expiryContent(node, "expireClients", (seconds) => seconds),
    queryable: isTiles ? undefined : fieldOf(node, "queryable"),
    infoFormats: isTiles ? undefined : texts(node, "infoMimeFormats"),
  });
}

function sourceContent({ root, node }: RootedDocument): Content {
  switch (root) {
    case "mbtilesLayer":
      return { type: "mbtiles", file: textOf(node, "tilesPath") ?? "" };
    case "arcgisLayer":
      return withoutUndefined({
        type: "arcgisCache",
        path: textOf(node, "tilingScheme") ?? "",
        tilesPath: textOf(node, "tileCachePath") || undefined,
        hexZoom: fieldOf(node, "hexZoom") === true ? true : undefined,
      });
    default:
      return wmsSource(node);
  }
}

/** GeoWebCache's formats that every layer offers in addition to those of its tiles. */
const KML_FORMATS: ReadonlySet<string> = new Set([
  "application/vnd.google-earth.kml+xml",
  "application/vnd.google-earth.kmz",
]);

const isKml = (format: string): boolean => KML_FORMATS.has(format.toLowerCase());

/**
 * Returns the formats of a layer's tiles. Of several names of one format, returns the first. Leaves out formats that
 * Nuthatch lacks, such as TIFF, unless the layer has no other format.
 */
function formatsOf(node: MapNode): readonly string[] {
  const ofTiles = itemsOf(node, "mimeFormats")
    .map(String)
    .filter((format) => !isKml(format));
  const known = new Map<TileFormat, string>();
  for (const name of ofTiles) {
    const format = formatOf(name);
    if (format !== undefined && !known.has(format)) known.set(format, name);
  }
  return known.size > 0 ? [...known.values()] : ofTiles;
}

/** Returns the formats of a layer that Nuthatch lacks and therefore leaves out. */
export function formatsLeftOut({ root, node }: RootedDocument): readonly string[] {
  if (root === "arcgisLayer") return [];
  const given = itemsOf(node, "mimeFormats").map(String);
  // A short cut for nearly all layers.
  if (given.every((format) => formatOf(format) !== undefined || isKml(format))) return [];
  const isOffered = formatsOf(node).some((format) => formatOf(format) !== undefined);
  return isOffered ? given.filter((format) => formatOf(format) === undefined && !isKml(format)) : [];
}

function metatile(node: MapNode): readonly number[] {
  const given = itemsOf(node, "metaWidthHeight").map(numberOf);
  // GeoWebCache uses its default if the list has one number or three.
  return given.length === META.length ? given : META;
}

/** Returns one subset for each grid set. If several have one grid set, the last is used, as in GeoWebCache. */
const lastOfEach = (subsets: readonly Content[]): readonly Content[] => [
  ...new Map(subsets.map((subset) => [subset["gridSet"], subset])).values(),
];

function subsetContent(subset: MapNode): Content {
  const extent = mapOf(subset, "extent");
  return withoutUndefined({
    gridSet: textOf(subset, "gridSetName") ?? "",
    extent: extent === undefined ? undefined : itemsOf(extent, "coords").map(numberOf),
    zoomStart: numberField(subset, "zoomStart"),
    zoomStop: numberField(subset, "zoomStop"),
    minCachedLevel: numberField(subset, "minCachedLevel"),
    maxCachedLevel: numberField(subset, "maxCachedLevel"),
  });
}

/** Returns the vendor parameters, which are sent with each request to the WMS. */
function vendorParameters(node: MapNode): Readonly<Record<string, string>> {
  const given = Object.fromEntries(
    (textOf(node, "vendorParameters") ?? "")
      .split("&")
      .filter((pair) => pair !== "")
      .map((pair) => {
        const equals = pair.indexOf("=");
        return equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)];
      }),
  );
  const own = { TILED: "tiled", EXCEPTIONS: "errorMime" };
  const fields = Object.entries(own).flatMap(([key, name]): [string, string][] => {
    const value = textOf(node, name);
    return value === undefined || value === "" ? [] : [[key, value]];
  });
  return { ...Object.fromEntries(fields), ...given };
}

function wmsSource(node: MapNode): Content {
  // A repeated address is not a second server.
  const urls = [...new Set(itemsOf(node, "wmsUrl").map(String))];
  const split = (name: string): readonly string[] | undefined => textOf(node, name)?.split(",");
  const version = textOf(node, "wmsVersion");
  const styles = split("wmsStyles")?.every((style) => style === "") === true ? undefined : split("wmsStyles");
  const layers = split("wmsLayers");
  return withoutUndefined({
    type: "wms",
    url: urls.length === 1 ? urls[0] : urls,
    version: version === "1.3.0" ? version : "1.1.1",
    layers: layers?.join("") === "" ? undefined : layers,
    styles,
    transparent: fieldOf(node, "transparent") !== false,
    queryLayers: textOf(node, "wmsQueryLayers") === "" ? undefined : split("wmsQueryLayers"),
    bgColor: textOf(node, "bgColor") || undefined,
    palette: textOf(node, "palette") || undefined,
    method: requestMode(node),
    timeoutSeconds: numberField(node, "backendTimeout") ?? BACKEND_TIMEOUT_SECONDS,
    connections: numberField(node, "concurrency") ?? CONCURRENCY,
    username: textOf(node, "httpUsername"),
    password: textOf(node, "httpPassword"),
    proxy: textOf(node, "proxyUrl"),
    vendorParameters: vendorParameters(node),
  });
}

/** Returns the method of requests. A word that GeoWebCache does not know is returned unchanged. */
function requestMode(node: MapNode): string | undefined {
  const mode = textOf(node, "httpRequestMode");
  return mode === "FormPost" ? "post" : mode === "Get" ? undefined : mode;
}

/** Returns the rules of `NAMEList`, else the seconds of `NAME`. Undefined if the layer has neither. */
function expiryContent(node: MapNode, name: string, secondsOf: (seconds: number) => number): unknown {
  const rules = expiryRules(node, name);
  if (rules.length > 0)
    return rulesThatRise(rules).map(({ minZoom, seconds }) => ({
      minZoom,
      seconds: secondsOf(withoutBackend(seconds)),
    }));
  const seconds = numberField(node, name);
  return seconds === undefined ? undefined : secondsOf(withoutBackend(seconds));
}

interface ExpiryRule {
  readonly minZoom: number;
  readonly seconds: number;
}

const expiryRules = (node: MapNode, name: string): readonly ExpiryRule[] =>
  itemsOf(node, `${name}List`).flatMap((rule) =>
    isMapNode(rule)
      ? [{ minZoom: Number(rule.attributes["minZoom"]), seconds: Number(rule.attributes["expiration"]) }]
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

/**
 * Returns the first mistake in the zooms of each list of expiry rules, as the path of the rule and a sentence: the
 * first rule does not begin at 0, or a rule does not begin above the previous one.
 */
function oddExpiryRules(node: MapNode): readonly (readonly [path: string, sentence: string])[] {
  return ["expireCache", "expireClients"].flatMap((name) => {
    const levels = expiryRules(node, name).map(({ minZoom }) => minZoom);
    const at = levels.findIndex((level, i) => (i === 0 ? level !== 0 : level <= (levels[i - 1] ?? 0)));
    if (at < 0) return [];
    const expected =
      at === 0 ? "0, as the first rule holds from there on" : `more than ${levels[at - 1]}, as of the rule before`;
    return [[`${name}List[${at}].@minZoom`, `expected ${expected}, got ${levels[at]}`]];
  });
}

/** Returns warnings about the expiry rules of a layer of a file. The rules are applied as GeoWebCache applies them. */
export const expiryWarnings = ({ node }: RootedDocument): readonly string[] =>
  oddExpiryRules(node).map(
    ([path, sentence]) =>
      `${path}: ${sentence}: as in GeoWebCache the first rule holds from level 0, and each other one after those before it`,
  );

const withoutBackend = (seconds: number): number => (seconds === OF_BACKEND ? USUAL_EXPIRY_SECONDS : seconds);

/** Elements that allow only certain words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  httpRequestMode: ["Get", "FormPost"],
  hintsLevel: ["SPEED", "DEFAULT", "QUALITY"],
  transientLayer: ["false"],
};

/**
 * Returns why a layer is refused that a file may have but a request may not make. Undefined if it is accepted. For
 * example, a file may have a default that is not one of the values, because GeoWebCache's files do.
 */
export function layerFault(document: RootedDocument): string | undefined {
  const { node } = document;
  const [format] = formatsLeftOut(document);
  if (format !== undefined) {
    const index = itemsOf(node, "mimeFormats").map(String).indexOf(format);
    return `mimeFormats[${index}]: expected one of ${[...formatNames, ...KML_FORMATS].join(", ")}, got ${JSON.stringify(format)}`;
  }
  for (const [name, words] of Object.entries(WORDS)) {
    const given = textOf(node, name);
    if (given !== undefined && !words.includes(given))
      return `${name}: expected ${words.join(" or ")}, got ${JSON.stringify(given)}`;
  }
  for (const [path, sentence] of oddExpiryRules(node)) return `${path}: ${sentence}`;
  const tiles = itemsOf(node, "metaWidthHeight").length;
  if (tiles > 0 && tiles !== META.length) return `metaWidthHeight: expected ${META.length} whole numbers, got ${tiles}`;
  const offered = itemsOf(node, "gridSubsets").map((item) =>
    isMapNode(item) ? textOf(item, "gridSetName") : undefined,
  );
  const again = offered.findIndex((name, i) => name !== undefined && offered.indexOf(name) < i);
  if (again >= 0) return `gridSubsets[${again}].gridSetName: ${JSON.stringify(offered[again])} is already offered`;
  for (const [i, filter] of itemsOf(node, "parameterFilters").entries()) {
    const fault = isMapNode(filter) ? parameterFilterFault(filter) : undefined;
    if (fault !== undefined) return `parameterFilters[${i}].${fault}`;
  }
  for (const name of ["defaultWidth", "defaultHeight"]) {
    const given = mapOf(node, "legends")?.attributes[name];
    if (given !== undefined && !/^-?\d{1,9}$/.test(given))
      return `legends.@${name}: expected a whole number, got ${JSON.stringify(given)}`;
  }
  return requestFilterFault(fieldOf(node, "requestFilters")) ?? updateSourceFault(node);
}

/** Returns why a parameter filter is refused. Undefined if it is accepted. */
function parameterFilterFault(filter: MapNode): string | undefined {
  const values = itemsOf(filter, "values");
  const standard = textOf(filter, "defaultValue") ?? "";
  const isValue = (value: DocumentNode): boolean =>
    typeof value === "string" ? value === standard : numberOf(value) === Number(standard);
  return fieldOf(filter, "threshold") !== undefined || values.length === 0 || standard === "" || values.some(isValue)
    ? undefined
    : `defaultValue: expected one of its values, got ${JSON.stringify(standard)}`;
}

/** Patterns of keys of a layer in the configuration file, and GeoWebCache's elements for them. */
const ELEMENTS: readonly (readonly [key: RegExp, element: string])[] = [
  [/^source\.url/, "wmsUrl"],
  [/^source\.file/, "tilesPath"],
  [/^source\.path/, "tilingScheme"],
  [/^source\.tilesPath/, "tileCachePath"],
  [/^source\.layers/, "wmsLayers"],
  [/^source\.queryLayers/, "wmsQueryLayers"],
  [/^source\.(bgColor|palette)/, "$1"],
  [/^source\.method/, "httpRequestMode"],
  [/^source\.styles/, "wmsStyles"],
  [/^source\.timeoutSeconds/, "backendTimeout"],
  [/^source\.connections/, "concurrency"],
  [/^source\.username/, "httpUsername"],
  [/^source\.password/, "httpPassword"],
  [/^source\.proxy/, "proxyUrl"],
  [/^source\.vendorParameters(?:\..*)?/, "vendorParameters"],
  [/^store/, "blobStoreId"],
  [/^formats/, "mimeFormats"],
  [/^metatile/, "metaWidthHeight"],
  [/^title/, "metaInformation.title"],
  [/^keywords/, "metaInformation.keywords"],
  [/^metadataUrls/, "metadataURLs"],
  [/^infoFormats/, "infoMimeFormats"],
  [/^expireCacheSeconds/, "expireCacheList"],
  [/^expireClientSeconds/, "expireClientsList"],
  [/^legends(\[\d+\])/, "legends.legend$1"],
];

/** Converts a path in a layer of the configuration file to a path in GeoWebCache's document. */
export function elementPath(path: string): string {
  const element = ELEMENTS.find(([key]) => key.test(path));
  const renamed = element === undefined ? path : path.replace(element[0], element[1]);
  return updateSourcePath(requestFilterPath(renamed))
    .replace(/^(gridSubsets\[\d+\])\.gridSet$/, "$1.gridSetName")
    .replace(/^(formatModifiers\[\d+\])\.format$/, "$1.responseFormat")
    .replace(/^(formatModifiers\[\d+\])\.jpegQuality$/, "$1.compressionQuality")
    .replace(/^(gridSubsets\[\d+\])\.extent/, "$1.extent.coords")
    .replace(/^(expire(?:Cache|Clients)List\[\d+\])\.seconds$/, "$1.@expiration")
    .replace(/^(expire(?:Cache|Clients)List\[\d+\])\.minZoom$/, "$1.@minZoom")
    .replace(/^(parameterFilters\[\d+\])\.default$/, "$1.defaultValue");
}

/** Returns a grid set in the form of the configuration file. */
export const gridSetContent = (document: RootedDocument): Content => ownContent(document) ?? contentOfGridSet(document);

/**
 * Returns GeoWebCache's metres per unit of a grid set without `metersPerUnit`. Undefined if they equal those of the
 * CRS.
 */
function impliedUnit(srs: number | undefined): number | undefined {
  if (srs === undefined) return undefined;
  const implied = geoWebCacheUnitOf(srs);
  return implied === unitOf(srs) ? undefined : implied;
}

/** Returns the warning about the unit of a grid set. Undefined if the unit is that of its CRS. */
export function unitWarning(document: RootedDocument): string | undefined {
  const { id, srs, metersPerUnit } = gridSetContent(document);
  if (typeof srs !== "number" || typeof metersPerUnit !== "number") return undefined;
  const doubt = doubtfulUnit({ srs, metersPerUnit });
  return doubt === undefined ? undefined : `the grid set ${String(id)}: metersPerUnit: ${doubt}`;
}

function contentOfGridSet({ node }: RootedDocument): Content {
  const extent = mapOf(node, "extent");
  const srs = mapOf(node, "srs");
  const numbers = (name: string): readonly number[] | undefined =>
    fieldOf(node, name) === undefined ? undefined : itemsOf(node, name).map(numberOf);
  const width = numberField(node, "tileWidth");
  const height = numberField(node, "tileHeight");
  const names = itemsOf(node, "scaleNames").map(String);
  return withoutUndefined({
    id: textOf(node, "name") ?? "",
    title: textOf(node, "description"),
    srs: srs === undefined ? undefined : numberField(srs, "number"),
    extent: extent === undefined ? undefined : itemsOf(extent, "coords").map(numberOf),
    resolutions: numbers("resolutions"),
    scaleDenominators: numbers("scaleDenominators"),
    levels: numberField(node, "levels"),
    scaleNames: names.length === 0 ? undefined : names,
    metersPerUnit:
      numberField(node, "metersPerUnit") ?? impliedUnit(srs === undefined ? undefined : numberField(srs, "number")),
    pixelSize: numberField(node, "pixelSize"),
    tileSize: width === undefined && height === undefined ? undefined : [width ?? 256, height ?? 256],
    alignTopLeft: fieldOf(node, "alignTopLeft"),
    yCoordinateFirst: fieldOf(node, "yCoordinateFirst"),
  });
}

/** Converts a path in a grid set of the configuration file to a path in GeoWebCache's document. */
export const gridSetElementPath = (path: string): string =>
  path
    .replace(/^id\b/, "name")
    .replace(/^title\b/, "description")
    .replace(/^srs\b/, "srs.number")
    .replace(/^extent\b/, "extent.coords")
    .replace(/^tileSize\[0\]/, "tileWidth")
    .replace(/^tileSize\[1\]/, "tileHeight");
