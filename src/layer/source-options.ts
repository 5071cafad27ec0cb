import type { LayerName } from "./tile-set.ts";

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
  | GroupSourceOptions
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

/** Other layers, which lie on each other. A layer with this source has no tiles of its own. */
export interface GroupSourceOptions extends ConnectionOptions {
  readonly type: "group";
  /** The lowest layer comes first. */
  readonly layers: readonly LayerName[];
}

/** No upstream. The layer has only the tiles of its `tilesOnDisk`. */
export interface NoSourceOptions extends ConnectionOptions {
  readonly type: "none";
}

/** Whether a source of each type reads a file of this machine. */
const READS_FILE: Readonly<Record<SourceOptions["type"], boolean>> = {
  wms: false,
  xyz: false,
  wmts: false,
  arcgis: false,
  arcgisCache: true,
  mbtiles: true,
  pmtiles: true,
  demo: false,
  group: false,
  none: false,
};

function sourceTypes(): readonly SourceOptions["type"][];
function sourceTypes(): readonly string[] {
  return Object.keys(READS_FILE);
}
export const SOURCE_TYPES = sourceTypes();
export const FILE_SOURCES: ReadonlySet<unknown> = new Set(SOURCE_TYPES.filter((type) => READS_FILE[type]));

/** Returns the absolute path of a source on this machine. Undefined for any other source. */
export const pathOf = (source: SourceOptions): string | undefined =>
  "file" in source ? source.file : "path" in source ? source.path : undefined;

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
    case "group":
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
    case "group":
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

/** Returns whether a source offers legends: a WMS does, and the states of the demo source. */
export const rendersLegends = (source: { readonly type: SourceOptions["type"]; readonly dataset?: string }): boolean =>
  source.type === "wms" || (source.type === "demo" && source.dataset === "states");
