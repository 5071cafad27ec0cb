import {
  asGridSetName,
  asZoom,
  type Extent,
  type GridSet,
  matrixRect,
  rectOf,
  type TileRect,
  type Zoom,
} from "../grid/grid-set.ts";
import { defined } from "../lib/defined.ts";
import type { ByZoom } from "./by-zoom.ts";
import type { EncodingOptions } from "./encoding.ts";
import { formatOf, type TileFormat } from "./format.ts";
import type { FormatModifier } from "./format-modifier.ts";
import type { Legend } from "./legend.ts";
import type { ParameterFilter } from "./parameter-filter.ts";
import type { RequestFilter } from "./request-filter.ts";
import type { FormatName, LayerName } from "./tile-set.ts";
import type { TilesOnDisk } from "./tiles-on-disk.ts";
import type { UpdateSource } from "./update-source.ts";

/** The part of a grid set that a layer offers. */
export interface GridSubset {
  readonly gridSet: GridSet;
  /** The offered area, in the grid set's units. Undefined means the whole grid set. */
  readonly extent?: Extent;
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
  /** The first and the last level whose tiles are stored; see `storesLevel`. Absent: no limit. */
  readonly minCachedLevel?: Zoom;
  readonly maxCachedLevel?: Zoom;
}

/** Returns the extent that a subset offers, in its grid set's units. */
export const subsetExtent = (subset: GridSubset): Extent => subset.extent ?? subset.gridSet.extent;

/**
 * The source that renders a layer's missing tiles. A new kind of source needs a member here, a file in `source/`, and a
 * schema part in `configuration/fields/`.
 */
export type SourceOptions =
  | WmsSourceOptions
  | XyzSourceOptions
  | WmtsSourceOptions
  | ArcgisSourceOptions
  | ArcgisCacheSourceOptions
  | ArchiveSourceOptions
  | DemoSourceOptions
  | NoSourceOptions;

/** Limits on concurrent requests to a source. */
export interface ConnectionOptions {
  /** The most concurrent requests, for users and jobs together. */
  readonly connections: number;
  /** The most concurrent requests for jobs. Absent: jobs may use all connections that users leave. */
  readonly jobConnections?: number;
}

/** Options of every source over HTTP. */
export interface UpstreamOptions extends ConnectionOptions {
  /** One address, or several addresses of servers with the same content, in the order in which they are tried. */
  readonly url: string | readonly string[];
  /** The time limit of one attempt in ms, from the first byte sent to the last byte received. */
  readonly timeoutMs: number;
  /**
   * Statuses by which the upstream reports that it has no tile, in addition to the default statuses of the source's
   * kind. Empty: no answer reports it. Absent: only the default statuses.
   */
  readonly missing?: readonly number[];
  /** Parameters that are sent unchanged with every request. */
  readonly vendorParameters: Readonly<Record<string, string>>;
  /**
   * Further headers of every request. They replace Nuthatch's headers of the same name, and are sent only to servers
   * that also get the credentials.
   */
  readonly headers?: Readonly<Record<string, string>>;
  readonly username?: string;
  readonly password?: string;
  /** `digest`: credentials are sent by HTTP Digest only. Absent: by Basic until a server requests Digest. */
  readonly authentication?: "basic" | "digest";
  /** Whether cookies that servers set are stored and sent back. */
  readonly cookies?: boolean;
  /**
   * Whether redirects to this machine and into private networks are followed. Absent: such a redirect is followed only
   * to the configured servers.
   */
  readonly allowPrivateRedirects?: boolean;
  /** `none`, or the address of an HTTP proxy. Absent: the proxies named by environment variables. */
  readonly proxy?: string;
  readonly tls?: TlsOptions;
}

/** PEM files for connections to the configured servers, by absolute path. */
export interface TlsOptions {
  /** Certificates of the trusted authorities, which replace Node's list. */
  readonly ca?: string;
  /** The client's certificate, and the certificate's key. */
  readonly cert?: string;
  readonly key?: string;
  /** Identifies the content of the files at the time when the configuration was read. */
  readonly stamp: string;
}

export interface WmsSourceOptions extends UpstreamOptions {
  readonly type: "wms";
  readonly version: "1.1.1" | "1.3.0";
  readonly layers: readonly string[];
  readonly styles: readonly string[];
  /** The upstream's names of CRSs, by `EPSG:CODE`. For any other CRS, requests use `EPSG:CODE`. */
  readonly crsNames?: Readonly<Record<string, string>>;
  readonly transparent: boolean;
  /** The layers of GetFeatureInfo. Absent: `layers`. */
  readonly queryLayers?: readonly string[];
  /** `0xRRGGBB`. */
  readonly bgColor?: string;
  readonly palette?: string;
  /** `post`: the parameters are sent as a form. Absent: `get`. */
  readonly method?: "get" | "post";
}

export interface XyzSourceOptions extends UpstreamOptions {
  readonly type: "xyz";
  /** The values for `{s}` in the address, used in rotation. */
  readonly subdomains: readonly string[];
}

/** The name that an upstream has for one of its layers. */
export type UpstreamLayerName = string;

/** A WMTS. An address with placeholders is a RESTful template. Requests to any other address use key-value pairs. */
export interface WmtsSourceOptions extends UpstreamOptions {
  readonly type: "wmts";
  readonly layer: UpstreamLayerName;
  readonly style: string;
  readonly tileMatrixSet: string;
  /** The prefix of the level's number in the upstream's name of a level. */
  readonly tileMatrixPrefix?: string;
  /** The upstream's names of the levels, instead of numbers. */
  readonly tileMatrices?: readonly string[];
  /** The MIME type to request. Absent: the MIME type of the tile. */
  readonly format?: string;
}

/** `url` is the address of the map service, ending in `/MapServer`. */
export type ArcgisSourceOptions = ArcgisExportOptions | ArcgisTileOptions;

/** The service renders pictures of any extent. */
export interface ArcgisExportOptions extends UpstreamOptions {
  readonly type: "arcgis";
  readonly mode: "export";
  /** The numbers of the layers to show. Empty: the service's default layers. */
  readonly layers: readonly number[];
  readonly transparent: boolean;
}

/** The service has a cache of tiles. */
export interface ArcgisTileOptions extends UpstreamOptions {
  readonly type: "arcgis";
  readonly mode: "tile";
}

/** How ArcGIS stores the tiles of a cache, in ArcGIS's words: one file per tile, or bundles of version 1 or 2. */
export const ARCGIS_STORAGES = [
  "esriMapCacheStorageModeExploded",
  "esriMapCacheStorageModeCompact",
  "esriMapCacheStorageModeCompactV2",
] as const;

/** A cache of ArcGIS on a disk, which is read and never changed. */
export interface ArcgisCacheSourceOptions extends ConnectionOptions {
  readonly type: "arcgisCache";
  /** The absolute path of `conf.xml`. */
  readonly path: string;
  /** The absolute path of the directory with the levels. Absent: `_alllayers` beside `conf.xml`. */
  readonly tilesPath?: string;
  /**
   * Whether the levels in the names of directories are hexadecimal. Applies only to exploded caches, which store one
   * file per tile.
   */
  readonly hexZoom: boolean;
  /** From `conf.xml`, at the time when the configuration was read. */
  readonly storage: (typeof ARCGIS_STORAGES)[number];
  readonly tileFormat: "png" | "jpeg" | "mixed";
  /** ArcGIS's number of each level of the grid set. */
  readonly levels: readonly number[];
  /** Identifies `conf.xml`. A different file at the same path counts as a different source. */
  readonly stamp: string;
}

/** A file with all tiles, numbered as in web mercator. */
export type ArchiveSourceOptions = MbtilesSourceOptions | PmtilesSourceOptions;

/** MBTiles 1.0 to 1.3. */
export interface MbtilesSourceOptions extends ArchiveOptions {
  readonly type: "mbtiles";
}

/** PMTiles 3. */
export interface PmtilesSourceOptions extends ArchiveOptions {
  readonly type: "pmtiles";
}

interface ArchiveOptions extends ConnectionOptions {
  /** The absolute path of the file. */
  readonly file: string;
  /**
   * Identifies the file that existed when the configuration was read. A different file at the same path counts as a
   * different source.
   */
  readonly stamp: string;
}

export interface DemoSourceOptions extends ConnectionOptions {
  readonly type: "demo";
  /** The built-in picture to show. */
  readonly dataset: "states" | "world";
}

/** No upstream. The layer has only the tiles of its `tilesOnDisk`. */
export interface NoSourceOptions extends ConnectionOptions {
  readonly type: "none";
}

/** Conditions under which a seed or reseed is paused. Checking them costs a digest of each tile that the job stores. */
export interface SeedGuardOptions {
  /** The number of most recent tiles that are checked. */
  readonly tiles: number;
  /** Pauses the job when at least this share of the most recent tiles are the same picture. */
  readonly identicalPercent?: number;
  /**
   * Pauses the job when at least this share of the tiles that replaced a stored tile differ strongly from the replaced
   * tile. Only the most recent tiles count.
   */
  readonly unlikePercent?: number;
}

/** Returns whether a source offers only single tiles in its grid. Its layers then have no metatiles and no gutter. */
export function rendersSingleTiles(source: SourceOptions): boolean {
  switch (source.type) {
    case "wms":
    case "demo":
      return false;
    case "xyz":
    case "wmts":
    case "arcgisCache":
    case "mbtiles":
    case "pmtiles":
    case "none":
      return true;
    case "arcgis":
      return source.mode === "tile";
  }
}

/** Returns whether a layer with this source may offer formats that are not pictures. */
export function rendersData(source: SourceOptions): boolean {
  switch (source.type) {
    case "arcgis":
    case "arcgisCache":
    case "demo":
      return false;
    case "wms":
    case "xyz":
    case "wmts":
    case "mbtiles":
    case "pmtiles":
    case "none":
      return true;
  }
}

/** The description of a vector tile's layer, as in TileJSON 3.0.0 (3.3). */
export interface VectorLayer {
  readonly id: string;
  /** The name and kind of each attribute. */
  readonly fields: Readonly<Record<string, string>>;
  readonly description?: string;
  readonly minzoom?: number;
  readonly maxzoom?: number;
}

/** How the jobs of a layer share the server with jobs of other layers. */
export interface LayerJobs {
  /** A factor of each job's priority. */
  readonly weight: number;
  /** The most tasks of all the layer's jobs that run at once. Absent: limited only by the number of permits. */
  readonly maxTasks?: number;
}

export const STANDARD_LAYER_JOBS: LayerJobs = { weight: 1 };

/** A document that describes the data of a layer, for the capabilities. */
export interface MetadataUrl {
  /** The standard of the document, such as `ISO19115:2003`. */
  readonly type: string;
  /** MIME type. */
  readonly format: string;
  readonly url: string;
}

/** The most tiles of a metatile in each direction, as in GeoServer. */
export const MAX_METATILE = 20;

export interface Layer extends EncodingOptions {
  readonly name: LayerName;
  /** Whether tiles are served. A disabled layer keeps its stored tiles and can be seeded. */
  readonly enabled: boolean;
  /** Whether capabilities and lists for clients contain the layer. Its tiles are served in any case. */
  readonly advertised: boolean;
  /**
   * Differs between two definitions of the layer, see `withDigest`. Absent: definitions are compared field by field.
   */
  readonly digest?: string;
  readonly title: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly metadataUrls: readonly MetadataUrl[];
  /** The attribution to show beside the map, as HTML. Absent: no attribution. */
  readonly attribution?: string;
  /** The id of the store of the layer's tiles. Absent: the first store. */
  readonly store?: string;
  readonly source: SourceOptions;
  /** Tiles that another program has written. They are copied instead of rendered. Absent: no such tiles. */
  readonly tilesOnDisk?: readonly TilesOnDisk[];
  readonly gridSubsets: readonly GridSubset[];
  /** The formats of the layer. The first is the default. */
  readonly formats: readonly TileFormat[];
  /** The layers in the layer's vector tiles, if the source describes them. */
  readonly vectorLayers?: readonly VectorLayer[];
  /** Whether one render, as PNG, fills all picture formats; see `formatsBeside`. */
  readonly formatsTogether: boolean;
  /** Tiles per metatile, across and up. Only for pictures; see `metatileFor`. */
  readonly metatile: readonly [number, number];
  /** Pixels that are rendered around a metatile and cut away. Only for pictures. */
  readonly gutter: number;
  readonly parameterFilters: readonly ParameterFilter[];
  /** Applied in this order to requests for tiles. Absent: no filters. */
  readonly requestFilters?: readonly RequestFilter[];
  /** Feeds that report where the data has changed. Absent: no feeds. */
  readonly updateSources?: readonly UpdateSource[];
  /** Whether `/service/gmaps`, `/service/mgmaps` and `/service/ve` accept `cached=false`. */
  readonly cacheBypassAllowed?: boolean;
  /** The legends of the styles, for the capabilities. */
  readonly legends: readonly Legend[];
  /** The modifiers of formats whose upstream requests differ from the layer's. */
  readonly formatModifiers: readonly FormatModifier[];
  /** The age in seconds at which tiles expire. 0: never. `NOT_STORED`: tiles are not stored. */
  readonly expireCacheSeconds: ByZoom<number>;
  /** A tile that expired at most this long ago is served at once and rendered again in the background (RFC 5861, 3). */
  readonly staleWhileRevalidateSeconds: number;
  /**
   * For this time after a failed render, requests of users do not render the metatile again. 0: every request renders
   * it again.
   */
  readonly negativeCacheSeconds: number;
  /** Absent: seeds store every valid picture. */
  readonly seedGuard?: SeedGuardOptions;
  readonly jobs: LayerJobs;
  /** Whether the capabilities offer GetFeatureInfo. */
  readonly queryable: boolean;
  /** The formats of GetFeatureInfo that capabilities list. Requests may name further formats. */
  readonly infoFormats: readonly string[];
  /**
   * Whether a WMS request that does not match one tile is answered with a map composed of tiles. If false, the request
   * is refused.
   */
  readonly fullWms: boolean;
  /** The max-age for clients. 0: no header. */
  readonly expireClientSeconds: ByZoom<number | "no-cache">;
  /** The longest max-age of a stale tile. 0: `no-cache`. */
  readonly staleClientSeconds: number;
  /** The max-age for the shared caches of a CDN (`CDN-Cache-Control`, RFC 9213). Absent: no header. */
  readonly expireCdnSeconds?: number;
  /** Whether requests for tiles of this layer need credentials. */
  readonly secured: boolean;
}

/** The formats of GetFeatureInfo that most map servers support. */
export const INFO_FORMATS: readonly string[] = [
  "text/plain",
  "text/html",
  "application/vnd.ogc.gml",
  "application/json",
];

const SINGLE = [1, 1] as const;

/**
 * Returns the tiles per metatile of a format. Formats that are not pictures have metatiles of one tile, because they
 * cannot be cut. A null format stands for all formats.
 */
export function metatileFor(layer: Layer | undefined, mimeType: string | null): readonly [number, number] {
  const isData = mimeType !== null && formatOf(mimeType)?.kind === "data";
  return layer === undefined || isData ? SINGLE : layer.metatile;
}

/** Returns the MIME types of the other formats that a render for one format fills. */
export function formatsBeside({ formats, formatsTogether }: Layer, mimeType: string): readonly FormatName[] {
  if (!formatsTogether || formatOf(mimeType)?.kind === "data") return [];
  return formats.flatMap((format) =>
    format.kind === "image" && format.mimeType !== mimeType ? [format.mimeType] : [],
  );
}

/**
 * Returns the tiles that a level of a subset offers. Undefined outside of the subset's levels, and if the extent has no
 * tiles.
 */
export function coverageAt({ gridSet, extent, zoomStart, zoomStop }: GridSubset, z: Zoom): TileRect | undefined {
  if (z < zoomStart || z > zoomStop) return undefined;
  return extent === undefined ? matrixRect(gridSet, z) : rectOf(gridSet, z, extent);
}

/** Creates a subset. Without zooms it has all levels of the grid set. */
export function gridSubset(
  gridSet: GridSet,
  options: {
    readonly extent?: Extent;
    readonly zoomStart?: Zoom;
    readonly zoomStop?: Zoom;
    readonly minCachedLevel?: Zoom;
    readonly maxCachedLevel?: Zoom;
  },
): GridSubset {
  const last = asZoom(gridSet.matrices.length - 1);
  return {
    gridSet,
    zoomStart: options.zoomStart ?? asZoom(0),
    zoomStop: options.zoomStop === undefined || options.zoomStop > last ? last : options.zoomStop,
    ...defined({
      extent: options.extent,
      minCachedLevel: options.minCachedLevel,
      maxCachedLevel: options.maxCachedLevel,
    }),
  };
}

export const findSubset = (layer: Layer, name: string): GridSubset | undefined =>
  layer.gridSubsets.find((s) => s.gridSet.id === name);

/** The grid set of web maps (the OGC's WebMercatorQuad except for the last digits of its extent). */
export const WEB_GRID = asGridSetName("EPSG:900913");
/** The same grid set with tiles of twice the side. */
const WEB_GRID_X2 = asGridSetName("EPSG:900913x2");

/**
 * Returns the grid subset for short tile addresses: the grid set of web maps, else the grid set of web maps with tiles
 * of twice the side. Undefined if the layer has neither.
 */
export const webSubset = (layer: Layer): GridSubset | undefined =>
  findSubset(layer, WEB_GRID) ?? findSubset(layer, WEB_GRID_X2);

/**
 * Returns the default grid subset of a request: EPSG:900913, else the layer's first. The classic interface always
 * defaults to the layer's first. Undefined if the layer has no grid subset.
 */
export const defaultSubset = (layer: Layer): GridSubset | undefined => webSubset(layer) ?? layer.gridSubsets[0];

/** Returns whether a source offers legends: a WMS does, and the states of the demo source. */
export const rendersLegends = (source: { readonly type: SourceOptions["type"]; readonly dataset?: string }): boolean =>
  source.type === "wms" || (source.type === "demo" && source.dataset === "states");
