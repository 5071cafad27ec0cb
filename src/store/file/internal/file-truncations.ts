import { planLayer } from "../../internal/layer-directory.ts";
import { renamesIn } from "../../internal/renames.ts";
import type { TruncationStore } from "../../truncation-store.ts";
import { directoryName } from "../file-layout.ts";
import { deleteRange } from "./delete-range.ts";
import { extensionOf, type FilePaths } from "./file-paths.ts";

/** Returns a store that truncates by renames. */
export function fileTruncations(paths: FilePaths): TruncationStore {
  return {
    ...renamesIn(paths.root, paths.expectRoot),

    plan(scope) {
      paths.expectRoot();
      const layer = directoryName(scope.layer);
      if (scope.kind === "layer")
        return planLayer(paths.root, layer, (entry) => paths.layout.ownedOf(paths.layerPath(scope.layer), entry));
      return paths
        .levels(scope.layer)
        .filter(
          ({ gridSetDirectory, parametersId, z }) =>
            gridSetDirectory === directoryName(scope.gridSet) &&
            parametersId === scope.parametersId &&
            (scope.zooms === undefined || (z >= scope.zooms.first && z <= scope.zooms.last)),
        )
        .map(({ name }) => `${layer}/${name}`);
    },

    deleteRange(scope, rect, listener, signal) {
      const extension = scope.format === undefined ? undefined : extensionOf(scope.format);
      const { chosen = () => true } = scope;
      return deleteRange(paths.layout, paths.level(scope, rect.z), rect, { extension, chosen }, listener, signal);
    },
  };
}
