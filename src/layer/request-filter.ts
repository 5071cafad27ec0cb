import type { Zoom } from "../grid/grid-set.ts";

/**
 * Refuses requests for tiles that are known to be empty: the answer is an empty tile, and nothing is rendered
 * (GeoWebCache's request filters). Seeds have no filters.
 */
export type RequestFilter = CircleFilter | RasterFilter;

/** Serves a circle around the centre of each level's coverage. */
export interface CircleFilter {
  readonly type: "circle";
  readonly name: string;
}

/** Serves the tiles whose pixels are black in a raster: one raster for each level, one pixel for each tile of its coverage. */
export type RasterFilter = FileFilter | WmsFilter;

interface RasterFilterOptions {
  readonly name: string;
  /** The levels that have a raster. Finer levels use the raster of `zoomStop`. */
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
  /** Coarser levels use the raster of `zoomStart`. False: all tiles of coarser levels are served. */
  readonly resample: boolean;
  /** The rasters are loaded at the start. False: each with the first request that needs it. */
  readonly preload: boolean;
  /** A refused request gets a green tile. */
  readonly debug: boolean;
}

export interface FileFilter extends RasterFilterOptions {
  readonly type: "file";
  /** The directory of the files, which `maskFileName` names: an absolute path. */
  readonly directory: string;
  /** The extension of the files, without a dot. */
  readonly extension: string;
}

/** The rasters are maps of the layer's WMS. */
export interface WmsFilter extends RasterFilterOptions {
  readonly type: "wms";
  /** Absent: the layers and styles of the source. */
  readonly layers?: readonly string[];
  readonly styles?: readonly string[];
  readonly timeoutSeconds: number;
}

/** Returns the name of a raster's file (GeoWebCache's). A slash in the id of a grid set leads to no other directory. */
export const maskFileName = ({ name, extension }: FileFilter, gridSet: string, z: Zoom): string =>
  `${name}_${gridSet}_${z}.${extension}`.replace(/[/\\]/g, "_");
