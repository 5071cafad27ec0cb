import { contentEtag } from "../lib/http/etag.ts";
import type { Result } from "../lib/result.ts";
import { createGridSet } from "./create-grid-set.ts";
import { type Corners, corners, extentOf } from "./extent.ts";
import type { GridSet } from "./grid-set.ts";

/** A grid set in the keys of the configuration, with its exact numbers. */
export interface GridSetDocument {
  readonly id: string;
  readonly title?: string;
  /** EPSG code. */
  readonly srs: number;
  readonly extent: Corners;
  readonly resolutions: readonly number[];
  readonly scaleNames: readonly string[];
  readonly metersPerUnit: number;
  readonly tileSize: readonly [width: number, height: number];
  readonly alignTopLeft: boolean;
  readonly yCoordinateFirst: boolean;
}

export const gridSetDocument = (g: GridSet): GridSetDocument => ({
  id: g.id,
  ...(g.title === undefined ? {} : { title: g.title }),
  srs: g.srs,
  extent: corners(g.extent),
  resolutions: g.matrices.map((m) => m.resolution),
  scaleNames: g.matrices.map((m) => m.name),
  metersPerUnit: g.metersPerUnit,
  tileSize: [g.tileWidth, g.tileHeight],
  alignTopLeft: g.alignTopLeft,
  yCoordinateFirst: g.yCoordinateFirst,
});

/** Returns the entity tag of a grid set's configuration. */
export const gridSetTag = (gridSet: GridSet): string => contentEtag(JSON.stringify(gridSetDocument(gridSet)));

/** Returns the grid set that a document describes. Refuses numbers that cannot form a pyramid, with the reason. */
export function gridSetOfDocument({
  extent,
  resolutions,
  tileSize,
  ...plain
}: GridSetDocument): Result<GridSet, string> {
  const [tileWidth, tileHeight] = tileSize;
  return createGridSet({ ...plain, extent: extentOf(extent), scale: { resolutions }, tileWidth, tileHeight });
}
