import { join } from "node:path";
import type { LayerName, ParametersId } from "../../../layer/tile-set.ts";
import { namesIn, removeIfEmpty } from "../../internal/directories.ts";
import { removeParametersFiles } from "../../internal/parameters-files.ts";
import { syncDirectories } from "../../internal/sync-directories.ts";
import type { StoredPyramid } from "../../inventory-store.ts";
import { directoryPyramid, pyramidName } from "../file-layout.ts";
import type { FilePaths } from "./file-paths.ts";

/** The number of directories that one call removes. A call blocks the caller's thread. */
const MOST_AT_ONCE = 100;

/**
 * Removes the empty directories of some pyramids of a layer, and the parameters files of ids that no level uses any
 * more.
 */
export function removeEmptyPyramids(
  paths: FilePaths,
  layer: LayerName,
  pyramids: readonly Pick<StoredPyramid, "gridSet" | "parametersId">[],
): ("gone" | "tiles" | "unfinished")[] {
  const { disk } = paths;
  const layerDirectory = paths.layerPath(layer);
  const levels = new Map<string, { readonly key: string; readonly parametersId: ParametersId }>();
  for (const found of paths.levels(layer))
    levels.set(found.name, { key: directoryPyramid(found), parametersId: found.parametersId });
  const byPyramid = new Map<string, string[]>();
  for (const [name, { key }] of levels) byPyramid.set(key, [...(byPyramid.get(key) ?? []), name]);
  let left = MOST_AT_ONCE;
  const outcomes = pyramids.map((pyramid) => {
    for (const name of byPyramid.get(pyramidName(pyramid)) ?? []) {
      const level = join(layerDirectory, name);
      left--;
      if (!removeIfEmpty(disk, level)) {
        for (const bucket of namesIn(disk, level)) {
          if (left-- <= 0) return "unfinished";
          if (!removeIfEmpty(disk, join(level, bucket))) return "tiles";
        }
        if (!removeIfEmpty(disk, level)) return "tiles";
      }
      levels.delete(name);
    }
    return paths.removePyramid({ ...pyramid, layer }) ? "gone" : "tiles";
  });
  const described = new Set([...levels.values()].map(({ parametersId }) => parametersId));
  removeParametersFiles(disk, layerDirectory, pyramids, described);
  const parents = pyramids.map((pyramid) => paths.pyramidPath({ ...pyramid, layer }));
  if (outcomes.includes("gone")) syncDirectories(disk, [...parents, layerDirectory, paths.root]);
  return outcomes;
}
