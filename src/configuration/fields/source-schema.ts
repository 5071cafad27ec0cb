import * as z from "zod";
import { isHeaderValue, LONGEST_HEADER, unfitHeader } from "../../source/http/request-headers.ts";
import { addressesOf, withSubdomains } from "../../source/http/servers.ts";
import { placeholdersOf } from "../../source/tiles/tile-template.ts";
import {
  anyText,
  colour,
  either,
  expected,
  flag,
  hasControlCharacter,
  httpUrl,
  kinds,
  list,
  map,
  number,
  oneOf,
  optional,
  sentence,
  someOf,
  text,
  unlessUnfit,
  whole,
  wrong,
} from "./fields.ts";

const connectionLimits = {
  connections: whole(1, 1024).default(8).describe("The largest number of simultaneous requests."),
  jobConnections: optional(whole(1, 1024)).describe(
    "The largest number of these connections that jobs use. Default: all.",
  ),
};

function checkConnections(
  { connections, jobConnections = connections }: { readonly connections: number; readonly jobConnections?: number },
  context: z.RefinementCtx,
): void {
  if (jobConnections > connections) expected(context, ["jobConnections"], `at most connections (${connections})`);
}

const vendorParameter = either("a text or a number or true or false", [z.string(), z.number(), z.boolean()]).transform(
  String,
);

const MOST_HEADERS = 64;

/** The keys of all sources over HTTP. `checkUpstream` and `checkAddresses` check them. */
const upstream = {
  url: either("a text that is not empty or a list (each a text that is not empty)", [text, someOf(text)]).describe(
    "The address of the server, or of several servers with the same maps.",
  ),
  timeoutSeconds: number({ above: 0, most: 3600 }).default(30).describe("The time limit of one request."),
  ...connectionLimits,
  missing: optional(list(whole(201, 599))).describe(
    "Further statuses of an answer that mean that there is no tile, such as [403]. Empty: no status means this, not even 204 and 404.",
  ),
  vendorParameters: z
    .record(z.string(), vendorParameter, "a map")
    .default({})
    .describe("Further parameters of each request. They may be secrets and are not shown."),
  headers: optional(z.record(z.string(), vendorParameter, "a map")).describe(
    "Further headers of each request. They may be secrets and are not shown.",
  ),
  username: optional(
    anyText.refine((name) => !name.includes(":"), sentence("expected a name without a colon")),
  ).describe("The name for HTTP Basic or Digest authentication."),
  password: optional(anyText).describe("The password for HTTP Basic or Digest authentication. It is not shown."),
  authentication: optional(oneOf(["basic", "digest"])).describe(
    "Send the credentials by Basic until a server requests Digest, or only by Digest. Default: basic.",
  ),
  cookies: optional(flag).describe("Keep the cookies that the servers set, and send them back. Default: false."),
  allowPrivateRedirects: optional(flag).describe("Follow redirects to this machine and into private networks."),
  proxy: optional(
    text.refine(
      (proxy) => proxy === "none" || httpUrl(proxy) !== undefined,
      unlessUnfit("none, or the address of a proxy with http:// or https://"),
    ),
  ).describe("`none`, or the address of an HTTP proxy. Default: the proxy of HTTP_PROXY and NO_PROXY."),
  ca: optional(text).describe("A file of certificates of authorities in PEM form."),
  cert: optional(text).describe("A file with the client certificate in PEM form."),
  key: optional(text).describe("A file with the key of the client certificate in PEM form."),
};

export type UpstreamDocument = z.output<ReturnType<typeof map<typeof upstream>>>;

/** Checks the keys of a source over HTTP. `protocolParameters` are the parameters that Nuthatch sets itself. */
function checkUpstream(
  source: UpstreamDocument,
  protocolParameters: readonly string[],
  context: z.RefinementCtx,
): void {
  const { url, username = "", password, authentication, vendorParameters, ca, cert, key } = source;
  checkConnections(source, context);
  for (const [name, value] of Object.entries({ password, authentication }))
    if (value !== undefined && username === "") wrong(context, [], `${name} is given, but username is missing`);
  for (const name of Object.keys(vendorParameters)) {
    const at = ["vendorParameters", name];
    if (protocolParameters.includes(name.toUpperCase()))
      wrong(context, at, "is set by the source itself; see the other keys of the source", "key");
    if (name === "" || hasControlCharacter(name)) wrong(context, at, "expected the name of a parameter", "key");
  }
  checkHeaders(source, context);
  if ((cert === undefined) !== (key === undefined))
    wrong(context, [cert === undefined ? "key" : "cert"], "cert and key are needed together");
  const hasTls = [ca, cert, key].some((file) => file !== undefined);
  if (hasTls && !addressesOf({ url }).some((address) => /^https:/i.test(address)))
    wrong(context, [], "ca, cert and key are for addresses with https://");
}

function checkHeaders(
  { headers = {}, username, cookies }: Pick<UpstreamDocument, "headers" | "username" | "cookies">,
  context: z.RefinementCtx,
): void {
  const names = Object.keys(headers);
  if (names.length > MOST_HEADERS) expected(context, ["headers"], `at most ${MOST_HEADERS} headers`);
  for (const [i, [name, value]] of Object.entries(headers).entries()) {
    const at = ["headers", name];
    const plain = name.toLowerCase();
    const unfit = unfitHeader(name);
    if (unfit !== undefined) wrong(context, at, unfit, "key");
    else if (names.findIndex((other) => other.toLowerCase() === plain) < i)
      wrong(context, at, "the same header is given twice", "key");
    else if (plain === "authorization" && username !== undefined)
      wrong(context, at, "is given beside username; expected one of them", "key");
    else if (plain === "cookie" && cookies === true)
      wrong(context, at, "is given beside cookies; expected one of them", "key");
    if (!isHeaderValue(value))
      wrong(context, at, `expected at most ${LONGEST_HEADER} characters of ASCII without line breaks`);
  }
}

/**
 * Checks each address of a source.
 * @param lackOf names the part that an address lacks for this kind of source; undefined if it is complete
 * @param subdomains the values of `{s}`
 */
function checkAddresses(
  { url, subdomains = [] }: Pick<UpstreamDocument, "url"> & { readonly subdomains?: readonly string[] },
  lackOf: (address: string) => string | undefined,
  context: z.RefinementCtx,
): void {
  const addresses = addressesOf({ url });
  for (const [i, address] of addresses.entries()) {
    const at = typeof url === "string" ? ["url"] : ["url", i];
    const lacking = /^https?:\/\//i.test(address) ? lackOf(address) : undefined;
    const servers = (subdomains.length === 0 ? [address] : withSubdomains(address, subdomains)).map(httpUrl);
    if (lacking !== undefined) expected(context, at, lacking);
    else if (servers.includes(undefined)) expected(context, at, "an address with http:// or https://");
    // The servers must be known at the start: credentials are sent to them, and messages must not name them.
    else if (servers.some((server) => server?.host.includes("{")))
      expected(context, at, "no placeholder in the host but {s} of a source of type xyz");
    // Logs and pages show the address.
    else if (servers.some((server) => server?.username !== "" || server.password !== ""))
      wrong(context, at, "expected no credentials in the address; source.username and source.password are for them");
    else if (addresses.indexOf(address) < i) wrong(context, at, "the same address is given twice");
  }
}

const braced = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(", ");

const WMS_PARAMETERS = [
  "SERVICE",
  "REQUEST",
  "VERSION",
  "LAYERS",
  "STYLES",
  "SRS",
  "CRS",
  "BBOX",
  "WIDTH",
  "HEIGHT",
  "FORMAT",
  "TRANSPARENT",
];

export const WmsSourceSchema = map({
  type: z.literal("wms").describe("A WMS."),
  version: oneOf(["1.1.1", "1.3.0"]).default("1.1.1").describe("The version of WMS in requests."),
  layers: optional(someOf(text)).describe("The layers of the upstream. Default: the name of the layer."),
  styles: list(anyText).default([]).describe("At most one style for each layer."),
  crsNames: optional(z.record(z.string(), text, "a map")).describe(
    "Other names of CRSs in requests, such as `EPSG:900913: EPSG:3857`.",
  ),
  transparent: flag.default(true).describe("Request maps with a transparent background."),
  queryLayers: optional(someOf(text)).describe("The layers of GetFeatureInfo. Default: `layers`."),
  bgColor: optional(colour).describe("The colour behind the map, such as 0xFFFFFF."),
  palette: optional(text).describe("The parameter PALETTE of each request."),
  method: optional(oneOf(["get", "post"])).describe("Send the parameters in the address, or as a form. Default: get."),
  ...upstream,
}).superRefine((source, context) => {
  checkAddresses(source, () => undefined, context);
  checkUpstream(source, WMS_PARAMETERS, context);
  checkCrsNames(source.crsNames ?? {}, context);
  const { styles, layers } = source;
  const most = layers?.length ?? 1;
  if (styles.length > most)
    wrong(context, ["styles"], `expected at most one per layer (${most}), got ${styles.length}`);
});

function checkCrsNames(names: Readonly<Record<string, string>>, context: z.RefinementCtx): void {
  for (const [code, name] of Object.entries(names)) {
    if (!/^EPSG:[1-9]\d{0,5}$/.test(code)) wrong(context, ["crsNames", code], "expected EPSG:NUMBER", "key");
    if (!/^[\w.:/-]{1,200}$/.test(name)) expected(context, ["crsNames", code], "the name of a CRS, such as EPSG:3857");
  }
}

/** The placeholders that each identify a tile completely. */
const TILE_PLACEHOLDERS = ["q", "bbox", "tc", "-tc", "arcgis", "-arcgis"];
const XYZ_PLACEHOLDERS = ["z", "x", "y", "-y", "s", ...TILE_PLACEHOLDERS];

const XyzSourceSchema = map({
  type: z.literal("xyz").describe("Tiles by level, column and row, or by quadkey."),
  subdomains: someOf(text).default([]).describe("The values of {s} in an address."),
  ...upstream,
}).superRefine((source, context) => {
  const { subdomains } = source;
  const lackOf = (address: string): string | undefined => {
    const names = placeholdersOf(address);
    const has = (name: string) => names.includes(name);
    if (names.some((name) => !XYZ_PLACEHOLDERS.includes(name)))
      return `no other placeholders than ${braced(XYZ_PLACEHOLDERS)}`;
    if (!TILE_PLACEHOLDERS.some(has) && !(has("z") && has("x") && (has("y") || has("-y"))))
      return `{z}, {x} and {y} or {-y}, or else one of ${braced(TILE_PLACEHOLDERS)}`;
    return has("s") && subdomains.length === 0 ? "subdomains beside it, as it has {s}" : undefined;
  };
  checkAddresses(source, lackOf, context);
  checkUpstream(source, [], context);
  if (subdomains.length > 0 && !addressesOf(source).some((address) => address.includes("{s}")))
    wrong(context, ["subdomains"], "is given, but no address has {s}");
});

const WMTS_PLACEHOLDERS = ["TileMatrix", "TileRow", "TileCol", "TileMatrixSet", "Style", "Layer", "Format"];
const WMTS_PARAMETERS = ["SERVICE", "REQUEST", "VERSION", ...WMTS_PLACEHOLDERS.map((name) => name.toUpperCase())];

const WmtsSourceSchema = map({
  type: z.literal("wmts").describe("A WMTS."),
  layer: optional(text).describe("The layer of the upstream. Default: the name of the layer."),
  style: anyText.default("").describe("The style of the upstream. Empty: its default style."),
  tileMatrixSet: text.default("").describe("The tile matrix set of the upstream with the tiles of the grid set."),
  tileMatrixPrefix: optional(anyText).describe("The text before the number of a level."),
  tileMatrices: optional(someOf(text)).describe("The names of the levels."),
  format: optional(text).describe("The format to request. Default: the format of the tile."),
  ...upstream,
}).superRefine((source, context) => {
  const { style, tileMatrixSet, tileMatrixPrefix, tileMatrices } = source;
  const lackOf = (address: string): string | undefined => {
    const names = placeholdersOf(address).map((name) => name.toLowerCase());
    const has = (name: string) => names.includes(name.toLowerCase());
    if (names.length === 0)
      return tileMatrixSet === "" ? "tileMatrixSet beside it, as it has no placeholders" : undefined;
    if (names.some((name) => !WMTS_PLACEHOLDERS.some((known) => known.toLowerCase() === name)))
      return `no other placeholders than ${braced(WMTS_PLACEHOLDERS)}`;
    const missing = ["TileMatrix", "TileRow", "TileCol"].filter((name) => !has(name));
    if (missing.length > 0) return `${braced(missing)} too, as it has placeholders`;
    if (has("TileMatrixSet") && tileMatrixSet === "") return "tileMatrixSet beside it, as it has {TileMatrixSet}";
    return has("Style") && style === "" ? "style beside it, as it has {Style}" : undefined;
  };
  checkAddresses(source, lackOf, context);
  checkUpstream(source, WMTS_PARAMETERS, context);
  if (tileMatrixPrefix !== undefined && tileMatrices !== undefined)
    wrong(context, ["tileMatrixPrefix"], "is given beside tileMatrices; expected one of them");
});

const EXPORT_PARAMETERS = ["BBOX", "BBOXSR", "IMAGESR", "SIZE", "FORMAT", "TRANSPARENT", "LAYERS", "F"];

const ArcgisSourceSchema = map({
  type: z.literal("arcgis").describe("A map service of ArcGIS."),
  mode: oneOf(["export", "tile"]).default("export").describe("Render maps, or read the tiles of a cached service."),
  layers: optional(someOf(whole(0, 1_000_000))).describe("The layers to render. Only for mode export."),
  transparent: optional(flag).describe(
    "Request maps with a transparent background. Only for mode export. Default: true.",
  ),
  ...upstream,
}).superRefine((source, context) => {
  const lackOf = (address: string): string | undefined => {
    if (placeholdersOf(address).length > 0) return "no placeholders";
    return /\/MapServer\/?(\?|$)/i.test(address) ? undefined : "the address of a map service, ending in /MapServer";
  };
  checkAddresses(source, lackOf, context);
  checkUpstream(source, source.mode === "export" ? EXPORT_PARAMETERS : [], context);
  for (const key of ["layers", "transparent"] as const)
    if (source.mode === "tile" && source[key] !== undefined)
      wrong(context, [key], "is only for mode export: the tiles of a cache are already rendered", "key");
});

export const ArcgisCacheSourceSchema = map({
  type: z.literal("arcgisCache").describe("A cache of ArcGIS on a disk."),
  path: text.describe("The path of its `conf.xml`."),
  tilesPath: optional(text).describe("The directory of its levels. Default: `_alllayers` beside `conf.xml`."),
  hexZoom: flag.default(false).describe("Levels of an exploded cache have hexadecimal numbers."),
  ...connectionLimits,
}).superRefine(checkConnections);

const archive = { file: text.describe("The path of the archive."), ...connectionLimits };
export const MbtilesSourceSchema = map({
  type: z.literal("mbtiles").describe("An MBTiles archive."),
  ...archive,
}).superRefine(checkConnections);
const PmtilesSourceSchema = map({ type: z.literal("pmtiles").describe("A PMTiles archive."), ...archive }).superRefine(
  checkConnections,
);

const DemoSourceSchema = map({
  type: z.literal("demo").describe("Maps that the server itself renders."),
  dataset: oneOf(["states", "world"]).describe("The data of the maps."),
  ...connectionLimits,
}).superRefine(checkConnections);

const GroupSourceSchema = map({
  type: z.literal("group").describe("Other layers on each other. The group stores no tiles."),
  layers: someOf(text).describe("The names of layers of this server, the lowest first."),
  ...connectionLimits,
}).superRefine(checkConnections);

const NoSourceSchema = map({
  type: z.literal("none").describe("No source: only stored tiles are served."),
  ...connectionLimits,
}).superRefine(checkConnections);

export const SourceSchema = kinds([
  WmsSourceSchema,
  XyzSourceSchema,
  WmtsSourceSchema,
  ArcgisSourceSchema,
  ArcgisCacheSourceSchema,
  MbtilesSourceSchema,
  PmtilesSourceSchema,
  DemoSourceSchema,
  GroupSourceSchema,
  NoSourceSchema,
]);

export type SourceDocument = z.output<typeof SourceSchema>;
export type ArcgisCacheSourceDocument = Extract<SourceDocument, { readonly type: "arcgisCache" }>;
export type ArchiveSourceDocument = Extract<SourceDocument, { readonly type: "mbtiles" | "pmtiles" }>;
