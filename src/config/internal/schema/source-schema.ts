import * as z from "zod";
import { anyText, either, flag, kinds, list, map, number, oneOf, optional, someOf, text, whole } from "./fields.ts";

const DEFAULT_CONNECTIONS = 8;

const connectionLimits = {
  connections: whole(1, 1024).default(DEFAULT_CONNECTIONS).describe("The most requests at once."),
  jobConnections: optional(whole(1, 1024)).describe("The most of these connections that jobs use; all."),
};

/** The keys of all sources over HTTP. */
const upstream = {
  url: either("a text that is not empty or a list (each a text that is not empty)", [text, someOf(text)]).describe(
    "The address of the server, or of several servers with the same maps.",
  ),
  timeoutSeconds: number({ above: 0, most: 3600 }).default(30).describe("The time for one request."),
  ...connectionLimits,
  vendorParameters: z
    .record(z.string(), either("a text or a number or true or false", [z.string(), z.number(), z.boolean()]), "a map")
    .default({})
    .describe("Further parameters of each request. They may be secrets and are not shown."),
  username: optional(anyText),
  password: optional(anyText),
  allowPrivateRedirects: optional(flag).describe("Follow redirects to this machine and into private networks."),
  proxy: optional(text).describe("`none`, or the address of an HTTP proxy; that of HTTP_PROXY and NO_PROXY."),
  ca: optional(text).describe("A file of certificates of authorities in PEM form."),
  cert: optional(text).describe("A file with the client certificate in PEM form."),
  key: optional(text).describe("A file with the key of the client certificate in PEM form."),
};

const WmsSourceSchema = map({
  type: z.literal("wms"),
  version: oneOf(["1.1.1", "1.3.0"]).default("1.1.1"),
  layers: optional(someOf(text)).describe("The layers of the upstream; the name of the layer."),
  styles: list(anyText).default([]).describe("At most one style for each layer."),
  transparent: flag.default(true),
  ...upstream,
});

const XyzSourceSchema = map({
  type: z.literal("xyz"),
  subdomains: someOf(text).default([]).describe("The values of {s} in an address."),
  ...upstream,
});

const WmtsSourceSchema = map({
  type: z.literal("wmts"),
  layer: optional(text).describe("The layer of the upstream; the name of the layer."),
  style: anyText.default(""),
  tileMatrixSet: text.default(""),
  tileMatrixPrefix: optional(anyText).describe("The text before the number of a level."),
  tileMatrices: optional(someOf(text)).describe("The names of the levels."),
  format: optional(text).describe("The format to request; that of the tile."),
  ...upstream,
});

const ArcgisSourceSchema = map({
  type: z.literal("arcgis"),
  mode: oneOf(["export", "tile"]).default("export").describe("Render maps, or read the tiles of a cached service."),
  layers: optional(someOf(whole(0, 1_000_000))).describe("The layers to render; only for mode export."),
  transparent: optional(flag).describe("Only for mode export; true."),
  ...upstream,
});

const archive = { file: text.describe("The path of the archive."), ...connectionLimits };
const MbtilesSourceSchema = map({ type: z.literal("mbtiles"), ...archive });
const PmtilesSourceSchema = map({ type: z.literal("pmtiles"), ...archive });

const DemoSourceSchema = map({ type: z.literal("demo"), dataset: oneOf(["states", "world"]), ...connectionLimits });

export const SourceSchema = kinds([
  WmsSourceSchema,
  XyzSourceSchema,
  WmtsSourceSchema,
  ArcgisSourceSchema,
  MbtilesSourceSchema,
  PmtilesSourceSchema,
  DemoSourceSchema,
]);

export type SourceDocument = z.output<typeof SourceSchema>;
type SourceOf<T extends SourceDocument["type"]> = Extract<SourceDocument, { readonly type: T }>;
export type WmsSourceDocument = SourceOf<"wms">;
export type XyzSourceDocument = SourceOf<"xyz">;
export type WmtsSourceDocument = SourceOf<"wmts">;
export type ArcgisSourceDocument = SourceOf<"arcgis">;
export type ArchiveSourceDocument = SourceOf<"mbtiles" | "pmtiles">;
export type UpstreamDocument = SourceOf<"wms" | "xyz" | "wmts" | "arcgis">;
