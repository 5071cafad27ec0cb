import { ok, type Result, refuse } from "../lib/result.ts";
import { isNorthFirst } from "./crs/axis-order.ts";
import { unitOf } from "./crs/units.ts";
import { asGridSetName, type Extent, type GridSet, type TileMatrix } from "./grid-set.ts";

/** The levels of a grid set, coarsest first, in one of three notations. */
export type Levels =
  /** CRS units per pixel. */
  | { readonly resolutions: readonly number[] }
  | { readonly scaleDenominators: readonly number[] }
  /**
   * The number of levels. Each level has half the resolution value of the previous level. The first level fits the
   * extent in one row or one column of tiles.
   */
  | { readonly levels: number };

export interface GridSetOptions {
  readonly id: string;
  readonly title?: string;
  /** EPSG code. */
  readonly srs: number;
  readonly extent: Extent;
  readonly scale: Levels;
  /** Pixels; 256 when absent. */
  readonly tileWidth?: number;
  readonly tileHeight?: number;
  readonly alignTopLeft?: boolean;
  readonly yCoordinateFirst?: boolean;
  /** Metres per CRS unit. Absent: the unit of the CRS. */
  readonly metersPerUnit?: number;
  /** The size of a pixel in metres that `scaleDenominators` assume; 0.28 mm (OGC) when absent. */
  readonly pixelSize?: number;
  /** Identifiers of the levels in protocols. A level without an identifier is called `<id>:<level>`. */
  readonly scaleNames?: readonly string[];
}

export const OGC_PIXEL_METERS = 0.00028;
/** The share of a tile by which an extent may exceed the tiles without an additional row or column (GWC). */
export const SLACK = 0.01;
/** The most levels of a grid set. With more, the steps between levels would fall below the precision of a double. */
const MAX_LEVELS = 64;
/** The most tiles in a row or column, because tile indices are JavaScript numbers. */
const MAX_TILES = 2 ** 50;

/**
 * Creates a grid set with GWC's numbers (`GridSetFactory`; `docs/explanation/geowebcache.md`, Grid sets), so that its
 * tiles are GWC's tiles. Refuses numbers that cannot form a pyramid, with the reason.
 */
export function createGridSet(options: GridSetOptions): Result<GridSet, string> {
  const { tileWidth = 256, tileHeight = 256, alignTopLeft = false, pixelSize = OGC_PIXEL_METERS } = options;
  const metersPerUnit = options.metersPerUnit ?? unitOf(options.srs);
  const { minX, minY, maxX, maxY } = options.extent;
  if (![minX, minY, maxX, maxY].every(Number.isFinite) || minX >= maxX || minY >= maxY)
    return refuse(`the extent must be minx, miny, maxx, maxy with min < max, got ${minX}, ${minY}, ${maxX}, ${maxY}`);
  if (!(metersPerUnit > 0) || !(pixelSize > 0)) return refuse("metersPerUnit and pixelSize must be above 0");

  const worked = workOut(options, { tileWidth, tileHeight, alignTopLeft, pixelSize, metersPerUnit });
  if (!worked.ok) return worked;
  const { extent, steps } = worked.value;
  const names = options.scaleNames ?? [];
  if (new Set(names).size !== names.length) return refuse("two levels have the same name in scaleNames");
  const matrices: TileMatrix[] = [];
  for (const [z, { resolution, scaleDenominator }] of steps.entries()) {
    const matrixWidth = tilesAcross(extent.maxX - extent.minX, tileWidth * resolution);
    const matrixHeight = tilesAcross(extent.maxY - extent.minY, tileHeight * resolution);
    if (!(matrixWidth <= MAX_TILES && matrixHeight <= MAX_TILES))
      return refuse(`level ${z} would have more than 2^50 tiles in a row or column`);
    matrices.push({ name: names[z] ?? `${options.id}:${z}`, resolution, scaleDenominator, matrixWidth, matrixHeight });
  }
  return ok({
    id: asGridSetName(options.id),
    ...(options.title === undefined ? {} : { title: options.title }),
    srs: options.srs,
    extent,
    tileWidth,
    tileHeight,
    alignTopLeft,
    yCoordinateFirst: options.yCoordinateFirst ?? isNorthFirst(options.srs) ?? false,
    metersPerUnit,
    ...(pixelSize === OGC_PIXEL_METERS ? {} : { pixelSize }),
    ...("scaleDenominators" in options.scale ? { definingScales: options.scale.scaleDenominators } : {}),
    matrices,
  });
}

/**
 * Returns the number of tiles along a length: at least one, even where the extent is smaller than the slack of one
 * tile.
 */
const tilesAcross = (length: number, tile: number): number => Math.max(1, Math.ceil((length - tile * SLACK) / tile));

interface Step {
  readonly resolution: number;
  readonly scaleDenominator: number;
}

type Filled = Required<
  Pick<GridSetOptions, "tileWidth" | "tileHeight" | "alignTopLeft" | "pixelSize" | "metersPerUnit">
>;

function workOut(
  options: GridSetOptions,
  filled: Filled,
): Result<{ readonly extent: Extent; readonly steps: readonly Step[] }, string> {
  const { metersPerUnit, pixelSize } = filled;
  // Scale denominators for protocols always assume pixels of 0.28 mm, because clients compute the resolution from them
  // that way.
  const ofResolution = (resolution: number): Step => ({
    resolution,
    scaleDenominator: (resolution * metersPerUnit) / OGC_PIXEL_METERS,
  });
  const ofScale = (scaleDenominator: number): Step => {
    const resolution = pixelSize * (scaleDenominator / metersPerUnit);
    return pixelSize === OGC_PIXEL_METERS ? { resolution, scaleDenominator } : ofResolution(resolution);
  };
  const { extent, scale } = options;
  if ("levels" in scale) {
    const { levels } = scale;
    if (!Number.isInteger(levels) || levels < 1 || levels > MAX_LEVELS)
      return refuse(`levels must be a whole number from 1 to ${MAX_LEVELS}, got ${levels}`);
    const grown = growToTiles(extent, filled);
    const steps = Array.from({ length: levels }, (_, z) => ofResolution(grown.resolution / 2 ** z));
    return ok({ extent: grown.extent, steps });
  }
  const [what, values] =
    "resolutions" in scale ? ["resolutions", scale.resolutions] : ["scaleDenominators", scale.scaleDenominators];
  if (values.length < 1 || values.length > MAX_LEVELS)
    return refuse(`${what} must have 1 to ${MAX_LEVELS} values, got ${values.length}`);
  for (const [i, value] of values.entries()) {
    const before = values[i - 1];
    if (!Number.isFinite(value) || value <= 0) return refuse(`${what}[${i}] must be above 0, got ${value}`);
    if (before !== undefined && value >= before)
      return refuse(`${what} must become smaller from level to level, but ${value} follows ${before}`);
  }
  return ok({ extent, steps: values.map("resolutions" in scale ? ofResolution : ofScale) });
}

/** Enlarges the extent to the right and to the top (or the bottom) until whole tiles of one row or column fill it. */
function growToTiles(extent: Extent, { tileWidth, tileHeight, alignTopLeft }: Filled) {
  const resX = (extent.maxX - extent.minX) / tileWidth;
  const resY = (extent.maxY - extent.minY) / tileHeight;
  const across = resX <= resY ? 1 : Math.round(resX / resY);
  const up = resX <= resY ? Math.round(resY / resX) : 1;
  const resolution = Math.max(resX / across, resY / up);
  const width = across * tileWidth * resolution;
  const height = up * tileHeight * resolution;
  return {
    resolution,
    extent: {
      minX: extent.minX,
      maxX: extent.minX + width,
      minY: alignTopLeft ? extent.maxY - height : extent.minY,
      maxY: alignTopLeft ? extent.maxY : extent.minY + height,
    },
  };
}
