import type { Extent, GridSet, TileRect } from "../grid/grid-set.ts";
import { matrixRect, rectOf } from "../grid/grid-set.ts";
import type { ByZoom } from "./by-zoom.ts";
import { formatOf, type TileFormat } from "./format.ts";
import type { Legend } from "./legend.ts";
import type { ParameterFilter } from "./parameter-filter.ts";

/** The part of a grid set that a layer offers. */
export interface GridSubset {
  readonly gridSet: GridSet;
  /** In the grid set's units; undefined: the whole grid set. */
  readonly extent?: Extent;
  readonly zoomStart: number;
  readonly zoomStop: number;
  /** Index z; the tiles of each level from zoomStart to zoomStop. */
  readonly coverage: readonly TileRect[];
}

/** The extent that a subset offers, in its grid set's units. */
export const subsetExtent = (subset: GridSubset): Extent => subset.extent ?? subset.gridSet.extent;

/** What renders a layer's missing tiles. A new kind is a member here, a file in `source/`, and a schema part in `config/`. */
export type SourceOptions =
  | WmsSourceOptions
  | XyzSourceOptions
  | WmtsSourceOptions
  | ArcgisSourceOptions
  | ArchiveSourceOptions
  | DemoSourceOptions;

/** How many requests a source gets at once. */
export interface ConnectionOptions {
  /** In flight at most, of users and jobs together. */
  readonly connections: number;
  /** Of these for jobs at most; absent: all that users leave. */
  readonly jobConnections?: number;
}

/** What every source over HTTP has. */
export interface UpstreamOptions extends ConnectionOptions {
  /** One address, or those of servers with the same content in the order in which they are tried. */
  readonly url: string | readonly string[];
  /** For one attempt, from the first byte sent to the last one received. */
  readonly timeoutMs: number;
  /** Sent with every request, as given. */
  readonly vendorParameters: Readonly<Record<string, string>>;
  readonly username?: string;
  readonly password?: string;
  /** Follows redirects to this machine and into private networks too; absent: there to the configured servers only. */
  readonly allowPrivateRedirects?: boolean;
}

export interface WmsSourceOptions extends UpstreamOptions {
  readonly type: "wms";
  readonly version: "1.1.1" | "1.3.0";
  readonly layers: readonly string[];
  readonly styles: readonly string[];
  readonly transparent: boolean;
}

export interface XyzSourceOptions extends UpstreamOptions {
  readonly type: "xyz";
  /** What `{s}` in the address stands for, one after the other. */
  readonly subdomains: readonly string[];
}

/** An address with placeholders is a RESTful template; any other is asked with key-value pairs. */
export interface WmtsSourceOptions extends UpstreamOptions {
  readonly type: "wmts";
  readonly layer: string;
  readonly style: string;
  readonly tileMatrixSet: string;
  /** Stands before the number of the level in the upstream's name of it. */
  readonly tileMatrixPrefix?: string;
  /** The upstream's names by level, instead of numbers. */
  readonly tileMatrices?: readonly string[];
  /** MIME type to ask for; absent: the tile's. */
  readonly format?: string;
}

/** `url` is the map service's own address, ending in `/MapServer`. */
export type ArcgisSourceOptions = ArcgisExportOptions | ArcgisTileOptions;

/** Pictures rendered as they are asked for. */
export interface ArcgisExportOptions extends UpstreamOptions {
  readonly type: "arcgis";
  readonly mode: "export";
  /** Numbers of the layers to show; empty: those that the service shows by itself. */
  readonly layers: readonly number[];
  readonly transparent: boolean;
}

/** Tiles of the service's cache. */
export interface ArcgisTileOptions extends UpstreamOptions {
  readonly type: "arcgis";
  readonly mode: "tile";
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
  /** Absolute. */
  readonly file: string;
  /** Which file it was when the configuration was read: one that has taken its place is another source. */
  readonly stamp: string;
}

export interface DemoSourceOptions extends ConnectionOptions {
  readonly type: "demo";
  /** Which built-in picture. */
  readonly dataset: "states" | "world";
}

/** When a seed or reseed is not to go on; costs a digest of each tile it stores. */
export interface SeedGuardOptions {
  /** How many of the last tiles are looked at. */
  readonly tiles: number;
  /** So many of them, and more, may not be one and the same picture. */
  readonly identicalPercent?: number;
  /** So many of them, and more, may not be of one colour. */
  readonly blankPercent?: number;
  /** So many of those that replaced another, and more, may not be unlike it. */
  readonly unlikePercent?: number;
  /** So many of those whose parent is kept, and more, may not show something else than it. */
  readonly unlikeParentPercent?: number;
}

/** What pictures are encoded for: little CPU time, or few bytes. Lossless either way. */
export const PNG_COMPRESSIONS = ["fast", "small"] as const;
export type PngCompression = (typeof PNG_COMPRESSIONS)[number];

/** How tiles are encoded where a format leaves a choice. Tiles that are kept stay as they were rendered. */
export interface EncodingOptions {
  /** Of JPEG tiles, those of hybrid formats too: 1 to 100. */
  readonly jpegQuality: number;
  readonly pngCompression: PngCompression;
}

export const DEFAULT_ENCODING: EncodingOptions = { jpegQuality: 85, pngCompression: "fast" };

/** Whether a source has single tiles of a grid of its own: layers in front of it have no metatiles and no gutter. */
export function drawsSingleTiles(source: SourceOptions): boolean {
  switch (source.type) {
    case "wms":
    case "demo":
      return false;
    case "xyz":
    case "wmts":
    case "mbtiles":
    case "pmtiles":
      return true;
    case "arcgis":
      return source.mode === "tile";
  }
}

/** Whether a layer in front of a source may offer formats that are no pictures. */
export function drawsData(source: SourceOptions): boolean {
  switch (source.type) {
    case "arcgis":
    case "demo":
      return false;
    case "wms":
    case "xyz":
    case "wmts":
    case "mbtiles":
    case "pmtiles":
      return true;
  }
}

/** What of a vector tile TileJSON 3.0.0 (3.3) tells. */
export interface VectorLayer {
  readonly id: string;
  /** Name and kind of its attributes. */
  readonly fields: Readonly<Record<string, string>>;
  readonly description?: string;
  readonly minzoom?: number;
  readonly maxzoom?: number;
}

/** How the jobs of a layer run beside those of others. */
export interface LayerJobs {
  /** Times the priority of each. */
  readonly weight: number;
  /** Tasks that run at once, of all its jobs; absent: as many as there are places. */
  readonly maxTasks?: number;
}

export const STANDARD_LAYER_JOBS: LayerJobs = { weight: 1 };

export interface Layer extends EncodingOptions {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly source: SourceOptions;
  readonly gridSubsets: readonly GridSubset[];
  /** The first is the default. */
  readonly formats: readonly TileFormat[];
  /** What its vector tiles hold, where the source tells. */
  readonly vectorLayers?: readonly VectorLayer[];
  /** One rendering, as PNG, fills all formats of pictures, see `formatsBeside`. */
  readonly formatsTogether: boolean;
  /** Tiles per metatile, across and up; of pictures only, see `metatileFor`. */
  readonly metatile: readonly [number, number];
  /** Pixels rendered around a metatile and cut away; of pictures only. */
  readonly gutter: number;
  readonly parameterFilters: readonly ParameterFilter[];
  /** What capabilities show to explain the styles. */
  readonly legends: readonly Legend[];
  /** 0: tiles never expire. */
  readonly expireCacheSeconds: ByZoom<number>;
  /** A tile that expired no longer ago than this is served at once, and rendered anew behind it (RFC 5861, 3). */
  readonly staleWhileRevalidateSeconds: number;
  /** A metatile that could not be rendered is not asked for again for so long, by users; 0: it is, by everybody who looks. */
  readonly negativeCacheSeconds: number;
  /** Absent: seeds store whatever comes, as long as it is a picture. */
  readonly seedGuard?: SeedGuardOptions;
  readonly jobs: LayerJobs;
  /** The capabilities say that GetFeatureInfo can be asked. */
  readonly queryable: boolean;
  /** WMS requests that are not exactly one tile are put together from tiles, not refused. */
  readonly fullWms: boolean;
  /** max-age for clients; 0: no header. */
  readonly expireClientSeconds: ByZoom<number | "no-cache">;
  /** Tiles of this layer need credentials too. */
  readonly secured: boolean;
}

const SINGLE = [1, 1] as const;

/** Tiles per metatile of a format: what is no picture cannot be cut. A null format stands for all. */
export function metatileFor(layer: Layer | undefined, mimeType: string | null): readonly [number, number] {
  const isData = mimeType !== null && formatOf(mimeType)?.kind === "data";
  return layer === undefined || isData ? SINGLE : layer.metatile;
}

/** The other formats that a rendering for one format fills; MIME types. */
export function formatsBeside({ formats, formatsTogether }: Layer, mimeType: string): readonly string[] {
  if (!formatsTogether || formatOf(mimeType)?.kind === "data") return [];
  return formats.flatMap((format) =>
    format.kind === "image" && format.mimeType !== mimeType ? [format.mimeType] : [],
  );
}

/** The tiles that a level of a subset offers; undefined outside its levels. */
export const coverageAt = (subset: GridSubset, z: number): TileRect | undefined => subset.coverage[z];

/** A subset with its coverage worked out. Levels outside zoomStart…zoomStop, and those the extent misses, hold nothing. */
export function gridSubset(
  gridSet: GridSet,
  options: { readonly extent?: Extent; readonly zoomStart?: number; readonly zoomStop?: number },
): GridSubset {
  const last = gridSet.matrices.length - 1;
  const zoomStart = options.zoomStart ?? 0;
  const zoomStop = Math.min(options.zoomStop ?? last, last);
  const coverage: TileRect[] = [];
  for (let z = zoomStart; z <= zoomStop; z++) {
    const rect = options.extent === undefined ? matrixRect(gridSet, z) : rectOf(gridSet, z, options.extent);
    if (rect !== undefined) coverage[z] = rect;
  }
  return {
    gridSet,
    zoomStart,
    zoomStop,
    coverage,
    ...(options.extent === undefined ? {} : { extent: options.extent }),
  };
}

export const findSubset = (layer: Layer, gridSetId: string): GridSubset | undefined =>
  layer.gridSubsets.find((s) => s.gridSet.id === gridSetId);

/** Whether a source can be asked for legends: a WMS, or who renders the demo's states. */
export const drawsLegends = (source: SourceOptions): boolean =>
  source.type === "wms" || (source.type === "demo" && source.dataset === "states");
