import type { GridSetName, Zoom } from "../../grid/grid-set.ts";

/**
 * Answers requests for tiles that are known to be empty with an empty tile, without a render (GeoWebCache's request
 * filters). Filters do not apply to seeds.
 */
export type RequestFilter = CircleFilter | RasterFilter;

/** Serves a circle around the centre of each level's coverage. */
export interface CircleFilter {
  readonly type: "circle";
  readonly name: string;
}

/**
 * Serves the tiles whose pixels are black in a raster: one raster for each level, one pixel for each tile of its
 * coverage.
 */
export type RasterFilter = FileFilter | WmsFilter;

interface RasterFilterOptions {
  readonly name: string;
  /** The levels with a raster. Finer levels use the raster of `zoomStop`. */
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
  /** Whether coarser levels use the raster of `zoomStart`. If false, all tiles of coarser levels are served. */
  readonly resample: boolean;
  /**
   * Whether the rasters are loaded at the start. If false, each raster is loaded by the first request that needs it.
   */
  readonly preload: boolean;
  /** Whether a refused request gets a green tile. */
  readonly debug: boolean;
}

export interface FileFilter extends RasterFilterOptions {
  readonly type: "file";
  /** The absolute path of the directory with the files that `maskFileName` names. */
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

/**
 * Returns the name of a raster's file, as in GeoWebCache. Replaces slashes, so that the id of a grid set cannot lead to
 * another directory.
 */
export const maskFileName = ({ name, extension }: FileFilter, gridSet: GridSetName, z: Zoom): string =>
  `${name}_${gridSet}_${z}.${extension}`.replace(/[/\\]/g, "_");
