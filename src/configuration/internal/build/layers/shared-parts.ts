import { corners, intersectionOf } from "../../../../grid/extent.ts";
import type { GridSubset } from "../../../../layer/grid-subset.ts";
import { findSubset, type Layer } from "../../../../layer/layer.ts";
import type { GridSubsetDocument } from "../../../fields/layer-parts-schema.ts";
import type { LayerDocument } from "../../../fields/layer-schema.ts";

/**
 * Returns the document of a group with the grid sets, areas, levels and formats that all of its layers have, where it
 * names none. Returns any other document unchanged.
 * @param layers by name
 */
export function withSharedParts(document: LayerDocument, layers: ReadonlyMap<string, Layer>): LayerDocument {
  const { source } = document;
  if (source.type !== "group") return document;
  const [first, ...others] = source.layers.flatMap((name) => layers.get(name) ?? []);
  if (first === undefined) return document;
  const gridSubsets = first.gridSubsets.flatMap((subset) => sharedSubset(subset, others));
  const formats = first.formats
    .filter(({ kind, mimeType }) => kind === "image" && others.every((other) => hasFormat(other, mimeType)))
    .map(({ mimeType }) => mimeType);
  return {
    ...document,
    // An empty list says no more than an absent one, whose defaults the checks of groups refuse with the reason.
    ...(document.gridSubsets === undefined && gridSubsets.length > 0 ? { gridSubsets } : {}),
    ...(document.formats === undefined && formats.length > 0 ? { formats } : {}),
  };
}

const hasFormat = ({ formats }: Layer, wanted: string): boolean => formats.some(({ mimeType }) => mimeType === wanted);

/** Returns the part of a subset that all layers offer. Empty if they share nothing. */
function sharedSubset(subset: GridSubset, others: readonly Layer[]): readonly GridSubsetDocument[] {
  const id = subset.gridSet.id;
  const subsets = [subset, ...others.flatMap((other) => findSubset(other, id) ?? [])];
  if (subsets.length <= others.length) return [];
  const zoomStart = Math.max(...subsets.map((one) => one.zoomStart));
  const zoomStop = Math.min(...subsets.map((one) => one.zoomStop));
  if (zoomStart > zoomStop) return [];
  const [own, ...further] = subsets.flatMap(({ extent }) => extent ?? []);
  if (own === undefined) return [{ gridSet: id, zoomStart, zoomStop }];
  const shared = further.reduce(intersectionOf, own);
  if (shared.minX >= shared.maxX || shared.minY >= shared.maxY) return [];
  return [{ gridSet: id, zoomStart, zoomStop, extent: [...corners(shared)] }];
}
