import { didYouMean } from "../lib/text/nearest.ts";
import { isKnownSystem } from "./crs/coordinate-systems.ts";
import { asGridSetName, canonicalSrs, type GridSetName, sameSrs } from "./grid-set.ts";

/** The built-in grid set of web mercator, under GWC's name. */
const WEB_MERCATOR = asGridSetName("EPSG:900913");

/**
 * Returns the end of a message about an unknown grid set: the known id that is probably intended; "" if no known id is
 * similar. The code of a CRS suggests a grid set in this CRS, not a grid set with a similar name.
 */
export function gridSetHint(
  id: string,
  known: readonly GridSetName[],
  srsOf: (gridSet: GridSetName) => number | undefined,
): string {
  const code = Number(/^(?:EPSG:)?(\d{4,6})$/i.exec(id.trim())?.[1] ?? Number.NaN);
  if (canonicalSrs(code) === canonicalSrs(900913) && known.includes(WEB_MERCATOR))
    return `; ${WEB_MERCATOR} is this grid set here`;
  // An id without a code is compared by its spelling alone, because comparing the CRS of every grid set takes a
  // millisecond.
  const inCrs = Number.isNaN(code)
    ? undefined
    : known.find((one) => {
        const srs = srsOf(one);
        return srs !== undefined && sameSrs(srs, code);
      });
  if (inCrs !== undefined) return `; did you mean ${inCrs}?`;
  return !Number.isNaN(code) && isKnownSystem(code) ? "" : didYouMean(id, known);
}
