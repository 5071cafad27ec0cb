import { OGC_PIXEL_METERS } from "../../grid/create-grid-set.ts";
import { doubtfulUnit } from "../../grid/crs/units.ts";
import type { GridSet } from "../../grid/grid-set.ts";
import { gridSetDocument as gridSetKeys } from "../../grid/grid-set-document.ts";
import type { Content } from "../../lib/is-map.ts";
import { GRID_SET } from "../fields/elements/grid-set-elements.ts";
import type { RootedDocument } from "./document-node.ts";
import { contentOf, nodeOf } from "./element.ts";
import { ownContent } from "./own-document.ts";

/** Grid sets as documents of GeoWebCache. `fields/grid-set-elements.ts` has the elements. */

/** Returns a grid set in the form of the configuration file. */
export const gridSetContent = (document: RootedDocument): Content =>
  ownContent(document) ?? contentOf(GRID_SET, document.node);

/** Returns a grid set as a document. */
export function gridSetDocument(gridSet: GridSet): RootedDocument {
  const { resolutions, ...keys } = gridSetKeys(gridSet);
  const { definingScales, pixelSize = OGC_PIXEL_METERS } = gridSet;
  const levels = definingScales === undefined ? { resolutions } : { scaleDenominators: definingScales };
  return { root: "gridSet", node: nodeOf(GRID_SET, { ...keys, ...levels, pixelSize }) };
}

/** Returns the warning about the unit of a grid set. Undefined if the grid set has the unit of its CRS. */
export function unitWarning(document: RootedDocument): string | undefined {
  const { id, srs, metersPerUnit } = gridSetContent(document);
  if (typeof srs !== "number" || typeof metersPerUnit !== "number") return undefined;
  const doubt = doubtfulUnit({ srs, metersPerUnit });
  return doubt === undefined ? undefined : `the grid set ${String(id)}: metersPerUnit: ${doubt}`;
}
