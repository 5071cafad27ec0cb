import { canonicalSrs } from "../grid-set.ts";
import { isNorthFirst } from "./axis-order.ts";
import { definitionOf } from "./coordinate-systems.ts";
import { epsgName, isDegrees } from "./epsg-definitions.ts";
import { unitOf } from "./units.ts";

/** The facts about a CRS that its code determines. */
export interface CrsDescription {
  readonly name: string | undefined;
  /** The unit of coordinates: PROJ's name of it, or `degrees`. Undefined if the definition names no unit. */
  readonly units: string | undefined;
  readonly metersPerUnit: number;
  /** Whether the definition of the CRS has y (north, latitude) before x. */
  readonly isNorthFirst: boolean;
  /** The definition in PROJ's syntax. */
  readonly definition: string;
}

/** Describes a CRS. Undefined if the installed definitions do not contain it. */
export function describeCrs(srs: number): CrsDescription | undefined {
  const definition = definitionOf(srs);
  if (definition === undefined) return undefined;
  const partOf = (key: string): string | undefined => definition.split(`+${key}=`)[1]?.split(" ", 1)[0];
  return {
    name: epsgName(canonicalSrs(srs)),
    units: isDegrees(definition) ? "degrees" : partOf("units"),
    metersPerUnit: unitOf(srs),
    isNorthFirst: isNorthFirst(srs) ?? false,
    definition,
  };
}
