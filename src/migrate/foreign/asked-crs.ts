import { canonicalSrs } from "../../grid/grid-set.ts";
import type { Content } from "../../lib/is-map.ts";

interface AskedGrid {
  readonly srs: number;
  /** The code in the other program's spelling, such as EPSG:900913. */
  readonly srsName: string;
  /** The grid set for the configuration file. Undefined if it is built in; web mercator then has the code 900913. */
  readonly content: Content | undefined;
}

const isWeb = (srs: number): boolean => canonicalSrs(srs) === 3857;

/** Returns whether a name such as EPSG:900913 means web mercator. */
export const isWebMercator = (name: string): boolean => isWeb(Number(/^EPSG:(\d+)$/.exec(name)?.[1]));

/**
 * Returns the names of CRSs with which the other program sends requests to a WMS and Nuthatch would not, because web
 * mercator has several names. Undefined if all names are equal. `asked` returns the other program's name for a grid's
 * CRS.
 */
export function crsNamesFor<Grid extends AskedGrid>(
  grids: readonly Grid[],
  version: unknown,
  asked: (grid: Grid) => string,
): Readonly<Record<string, string>> | undefined {
  const names = grids.flatMap((grid): [string, string][] => {
    if (!isWeb(grid.srs)) return [];
    const code = grid.content === undefined ? 900913 : grid.srs;
    const own = `EPSG:${version === "1.3.0" ? canonicalSrs(code) : code}`;
    const name = asked(grid);
    return name === own ? [] : [[`EPSG:${code}`, name]];
  });
  return names.length === 0 ? undefined : Object.fromEntries(names);
}
