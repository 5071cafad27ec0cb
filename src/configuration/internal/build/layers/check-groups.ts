import { findSubset, type Layer } from "../../../../layer/layer.ts";
import type { Path, Problems } from "../../read/problems.ts";

/**
 * Checks the groups among all layers: each layer of a group exists, is no group, and offers the grid sets of the group.
 * @param paths the place of each layer
 */
export function checkGroups(layers: readonly Layer[], paths: readonly Path[], problems: Problems): void {
  const byName = new Map<string, Layer>(layers.map((layer) => [layer.name, layer]));
  for (const [position, { source, gridSubsets, formats, requestFilters, secured }] of layers.entries()) {
    if (source.type !== "group") continue;
    const path = paths[position] ?? [];
    if (requestFilters !== undefined)
      problems.add([...path, "requestFilters"], "is given, but the layers of a group have their own filters");
    if (formats.some(({ kind }) => kind === "data"))
      problems.add([...path, "formats"], "expected pictures, because only pictures lie on each other");
    for (const [i, name] of source.layers.entries()) {
      const at = [...path, "source", "layers", i];
      const part = byName.get(name);
      if (part === undefined || part.source.type === "group") {
        problems.expected(at, "the name of a layer that is no group", name);
        continue;
      }
      if (part.secured && !secured)
        problems.add(
          [...path, "secured"],
          `expected true, because layer ${JSON.stringify(name)} of the group is secured`,
        );
      if (!part.formats.some(({ kind }) => kind === "image"))
        problems.expected(at, "a layer of pictures, because only pictures lie on each other", name);
      for (const { gridSet } of gridSubsets)
        if (findSubset(part, gridSet.id) === undefined)
          problems.add(at, `layer ${JSON.stringify(name)} lacks grid set ${gridSet.id} of the group`);
    }
  }
}
