import { isNorthFirst } from "./axis-order.ts";
import { definitionOf } from "./coordinate-systems.ts";
import { epsgName, isDegrees } from "./epsg-definitions.ts";
import { canonicalSrs } from "./grid-set.ts";

/** The facts about a CRS that its code determines. */
export interface CrsDescription {
  readonly name: string | undefined;
  /** The unit of coordinates by the name that PROJ has for it, or `degrees`; undefined: it has none. */
  readonly units: string | undefined;
  readonly metersPerUnit: number;
  /** Whether the definition of the CRS has y (north, latitude) before x. */
  readonly isNorthFirst: boolean;
  /** The definition in PROJ's syntax. */
  readonly definition: string;
}

/** The length of a degree on the equator of WGS 84. */
const METERS_PER_DEGREE = 111_319.490_793_273_58;
/** The units of the definitions, in metres. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ["m", 1],
  ["ft", 0.3048],
  ["us-ft", 1200 / 3937],
  ["link", 0.201_168],
]);

/** Describes a CRS; undefined: the installed definitions do not have it. */
export function describeCrs(srs: number): CrsDescription | undefined {
  const definition = definitionOf(srs);
  if (definition === undefined) return undefined;
  const partOf = (key: string): string | undefined => definition.split(`+${key}=`)[1]?.split(" ", 1)[0];
  const unit = isDegrees(definition) ? "degrees" : partOf("units");
  const metersPerUnit =
    unit === "degrees" ? METERS_PER_DEGREE : (UNITS.get(unit ?? "") ?? Number(partOf("to_meter") ?? 1));
  return {
    name: epsgName(canonicalSrs(srs)),
    units: unit,
    metersPerUnit,
    isNorthFirst: isNorthFirst(srs) ?? false,
    definition,
  };
}
