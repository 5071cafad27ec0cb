import type { Content } from "../../../configuration/gwc/content.ts";
import { canonicalSrs } from "../../../grid/grid-set.ts";

interface AskedGrid {
  readonly srs: number;
  /** The code as the other program spells it, such as EPSG:900913. */
  readonly srsName: string;
  /** The grid set in the configuration file; undefined: it is built in, and web mercator has the code 900913. */
  readonly content: Content | undefined;
}

const isWeb = (srs: number): boolean => canonicalSrs(srs) === 3857;

/** Returns whether a name such as EPSG:900913 is one of web mercator. */
export const isWebMercator = (name: string): boolean => isWeb(Number(/^EPSG:(\d+)$/.exec(name)?.[1]));

/**
 * Returns the names of CRSs that the other program asks a WMS for and Nuthatch would not: web mercator has several.
 * Undefined: there are none. `asked`: returns the name that the other program asks for in a grid.
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
