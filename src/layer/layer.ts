import { asGridSetName } from "../grid/grid-set.ts";
import type { ByZoom } from "./by-zoom.ts";
import type { ParameterFilter } from "./filter/parameter-filter.ts";
import type { RequestFilter } from "./filter/request-filter.ts";
import { formatOf, type TileFormat } from "./format.ts";
import type { GridSubset } from "./grid-subset.ts";
import type { Legend } from "./legend.ts";
import type { EncodingOptions } from "./picture/encoding.ts";
import type { FormatModifier } from "./picture/format-modifier.ts";
import type { Resampling } from "./picture/resampling.ts";
import type { SourceOptions } from "./source-options.ts";
import type { FormatName, LayerName } from "./tile-set.ts";
import type { TilesOnDisk } from "./tiles-on-disk.ts";
import type { UpdateSource } from "./update-source.ts";

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
  /** The name in addresses and documents below the mount of the layer's workspace. Absent elsewhere: `name`. */
  readonly localName?: string;
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
  /** How the pixels of tiles become the pixels of a composed map. */
  readonly resampling: Resampling;
  /** The max-age for clients. 0: no header. */
  readonly expireClientSeconds: ByZoom<number | "no-cache">;
  /** The longest max-age of a stale tile. 0: `no-cache`. */
  readonly staleClientSeconds: number;
  /** The max-age for the shared caches of a CDN (`CDN-Cache-Control`, RFC 9213). Absent: no header. */
  readonly expireCdnSeconds?: number;
  /** Whether requests for tiles of this layer need credentials. */
  readonly secured: boolean;
}

/** The tiles of a layer in one of its grid sets and formats. */
export interface OfferedTiles {
  readonly layer: Layer;
  readonly subset: GridSubset;
  readonly format: TileFormat;
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

/** Returns the name of a layer in the addresses and documents of a catalogue. */
export const publicName = ({ name, localName }: Pick<Layer, "name" | "localName">): string => localName ?? name;
