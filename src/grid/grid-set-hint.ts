import { didYouMean } from "../lib/nearest.ts";
import { canonicalSrs } from "./grid-set.ts";

/** The built-in grid set of web mercator, under GWC's name. */
const WEB_MERCATOR = "EPSG:900913";

/**
 * Returns the end of a message about an unknown grid set: the known id that is probably intended; "" if none is
 * similar.
 */
export function gridSetHint(id: string, known: readonly string[]): string {
  const code = Number(/^(?:EPSG:)?(\d{4,6})$/i.exec(id.trim())?.[1] ?? Number.NaN);
  if (canonicalSrs(code) === canonicalSrs(900913) && known.includes(WEB_MERCATOR))
    return `; ${WEB_MERCATOR} is this grid set here`;
  return didYouMean(id, known);
}
