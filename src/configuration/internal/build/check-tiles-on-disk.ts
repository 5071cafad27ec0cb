import { formatNames, formatOf } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import type { LayerDocument } from "../../fields/layer-schema.ts";
import type { Path, Problems } from "../read/problems.ts";

/**
 * Checks that tiles on the disk have existing grid sets and formats, and that a layer without an upstream has such
 * tiles.
 */
export function checkTilesOnDisk(
  { source, tilesOnDisk, gridSubsets }: LayerDocument,
  subsets: readonly GridSubset[],
  path: Path,
  problems: Problems,
): void {
  if (tilesOnDisk === undefined) {
    if (source.type === "none") problems.add(path, "tilesOnDisk is missing: a source of type none renders no tiles");
    return;
  }
  const offered = [...(gridSubsets ?? []).map(({ gridSet }) => gridSet), ...subsets.map(({ gridSet }) => gridSet.id)];
  for (const [i, { gridSet, format }] of tilesOnDisk.entries()) {
    const at = [...path, "tilesOnDisk", i];
    if (!offered.includes(gridSet))
      problems.expected([...at, "gridSet"], `a grid set of the layer (${[...new Set(offered)].join(", ")})`, gridSet);
    if (format !== undefined && formatOf(format) === undefined)
      problems.expected([...at, "format"], `one of ${formatNames.join(", ")}`, format);
  }
}
