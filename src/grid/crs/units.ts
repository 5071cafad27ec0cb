import { canonicalSrs, type GridSet } from "../grid-set.ts";
import { inRanges, rangesOf } from "./code-ranges.ts";
import { isKnownSystem } from "./coordinate-systems.ts";
import { METERS_PER_DEGREE, UNITS } from "./epsg-tables.ts";

const units = UNITS.map(([metersPerUnit, codes]) => [metersPerUnit, rangesOf(codes)] as const);

/** Returns the metres per unit of a CRS as EPSG defines it; 1 for a code that EPSG does not define. */
export function unitOf(srs: number): number {
  const code = canonicalSrs(srs);
  return units.find(([, ranges]) => inRanges(ranges, code))?.[0] ?? 1;
}

/**
 * Returns the metres per unit that GeoWebCache assumes for a grid set without them: a degree for EPSG:4326, else 1
 * (`GridSetFactory`; `docs/explanation/geowebcache.md`, Grid sets).
 */
export const geoWebCacheUnitOf = (srs: number): number => (canonicalSrs(srs) === 4326 ? METERS_PER_DEGREE : 1);

/** The share by which lengths of a unit may differ, because the length of a degree depends on the ellipsoid. */
const UNIT_TOLERANCE = 0.01;

/** Returns what is probably wrong with the unit of a grid set. Undefined if the unit is plausible. */
export function doubtfulUnit({ srs, metersPerUnit }: Pick<GridSet, "srs" | "metersPerUnit">): string | undefined {
  const unit = unitOf(srs);
  const isUsual = Math.abs(metersPerUnit / unit - 1) <= UNIT_TOLERANCE;
  // A code that EPSG does not define has no unit to compare with.
  if (isUsual || (unit === 1 && !isKnownSystem(srs))) return undefined;
  return `a unit of EPSG:${srs} has ${unit} m, and this grid set has ${metersPerUnit} m: clients place its tiles by the unit of the CRS`;
}
