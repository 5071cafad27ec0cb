import { isNorthFirst } from "../../grid/crs/axis-order.ts";
import { HALF_WORLD } from "../../grid/crs/web-mercator.ts";
import { corners } from "../../grid/extent.ts";
import { canonicalSrs, type Extent } from "../../grid/grid-set.ts";
import { defined } from "../../lib/defined.ts";
import type { Content } from "../../lib/is-map.ts";

/** A grid of another program. */
interface GridFacts {
  /** The other program's name of the grid, which is used in names of directories. */
  readonly name: string;
  readonly srs: number;
  /** The code of the CRS as written, such as EPSG:900913, which is used in names of directories. */
  readonly srsName: string;
  readonly extent: Extent;
  /** The end from which the other program counts rows in its files. */
  readonly rows: "bottom" | "top";
  readonly resolutions: readonly number[];
  readonly tileSize: readonly [number, number];
}

/** A grid of another program, converted to a grid set. */
export interface ForeignGrid extends GridFacts {
  /** The id of the grid set. */
  readonly id: string;
  /** The grid set for the configuration file. Undefined if it is built in; web mercator then has the code 900913. */
  readonly content: Content | undefined;
}

const TILE = 256;

/** Returns a grid as a built-in grid set. */
export const builtInGrid = (grid: GridFacts, id: string): ForeignGrid => ({ ...grid, id, content: undefined });

/**
 * Returns a grid as a grid set of the configuration file.
 * @param scaleNames the names of the levels in the other program's WMTS
 */
export const ownGrid = (
  grid: GridFacts,
  { id, title, scaleNames }: { readonly id: string; readonly title?: string; readonly scaleNames: readonly string[] },
): ForeignGrid => ({
  ...grid,
  id,
  content: {
    id,
    ...defined({ title }),
    srs: `EPSG:${grid.srs}`,
    extent: corners(grid.extent),
    resolutions: grid.resolutions,
    scaleNames,
    ...(hasUsualTiles(grid) ? {} : { tileSize: [...grid.tileSize] }),
    ...(grid.rows === "top" ? { alignTopLeft: true } : {}),
    ...(isNorthFirst(grid.srs) === undefined ? { yCoordinateFirst: false } : {}),
  },
});

export const hasUsualTiles = ({ tileSize }: Pick<GridFacts, "tileSize">): boolean =>
  tileSize.every((side) => side === TILE);

const isWeb = (srs: number): boolean => canonicalSrs(srs) === 3857;

/** Returns whether a name such as EPSG:900913 means web mercator. */
export const isWebMercator = (name: string): boolean => isWeb(Number(/^EPSG:(\d+)$/.exec(name)?.[1]));

const WEB_RESOLUTION = 156543.03390625;

/** Returns whether a grid has the tiles of EPSG:900913. */
export function isWebGrid({ srs, extent, resolutions, tileSize }: GridFacts): boolean {
  const isNear = (a: number, b: number) => Math.abs(a - b) < 1;
  return (
    isWeb(srs) &&
    hasUsualTiles({ tileSize }) &&
    [-extent.minX, -extent.minY, extent.maxX, extent.maxY].every((side) => isNear(side, HALF_WORLD)) &&
    resolutions.length <= 31 &&
    resolutions.every((res, z) => Math.abs(res / (WEB_RESOLUTION / 2 ** z) - 1) < 1e-6)
  );
}

/**
 * Returns a source with the names of CRSs with which the other program sends requests to a WMS and Nuthatch would not,
 * because web mercator has several names. `asked` returns the other program's name for a grid's CRS.
 */
export function withAskedCrs(
  source: Content,
  grids: readonly ForeignGrid[],
  asked: (grid: ForeignGrid) => string,
): Content {
  const names = grids.flatMap((grid): [string, string][] => {
    if (!isWeb(grid.srs)) return [];
    const code = grid.content === undefined ? 900913 : grid.srs;
    const own = `EPSG:${source["version"] === "1.3.0" ? canonicalSrs(code) : code}`;
    const name = asked(grid);
    return name === own ? [] : [[`EPSG:${code}`, name]];
  });
  return names.length === 0 ? source : { ...source, crsNames: Object.fromEntries(names) };
}
