import { join } from "node:path";
import { extensionOf } from "../../layer/format.ts";
import type { Disk } from "../../lib/file/disk.ts";
import { storeError } from "../internal/faults.ts";
import { planLayer } from "../internal/layer-directory.ts";
import { renamesIn } from "../internal/renames.ts";
import { commonMethodsOf } from "../internal/store-directory.ts";
import { GEOWEBCACHE_MARK } from "../internal/store-root.ts";
import type { LocalStore } from "../store.ts";
import type { TruncationStore } from "../truncation-store.ts";
import { directoryName } from "./file-layout.ts";
import { deleteRange } from "./internal/delete-range.ts";
import { fileInventory } from "./internal/file-inventory.ts";
import { FilePaths, type FileStoreOptions } from "./internal/file-paths.ts";
import { fileTiles } from "./internal/file-tiles.ts";

export type { FileStoreOptions };

/** Creates a store of tiles as files in one of GWC's layouts. Several threads of one process may use one root. */
export function createFileStore(options: FileStoreOptions): LocalStore {
  const paths = new FilePaths(options);
  writeMarker(paths.disk, join(options.root, GEOWEBCACHE_MARK));
  const tiles = fileTiles(paths);
  return {
    ...commonMethodsOf(paths),
    ...tiles,
    timesOf: tiles.stat,
    ...renamesIn(paths),
    ...truncations(paths),
    ...fileInventory(paths),
    async [Symbol.asyncDispose]() {},
  };
}

const truncations = (paths: FilePaths): Pick<TruncationStore, "plan" | "deleteRange"> => ({
  plan(scope) {
    paths.expectRoot();
    const layer = directoryName(scope.layer);
    if (scope.kind === "layer")
      return planLayer(paths, layer, (entry) => paths.layout.ownedOf(paths.layerPath(scope.layer), entry));
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
    const level = paths.level(scope, rect.z);
    return deleteRange(paths.disk, paths.layout, level, rect, { extension, chosen }, listener, signal);
  },
});

/**
 * Writes GWC's marker of a file store, for other programs. A full or read-only store can be read without the marker, so
 * a failure is ignored.
 */
function writeMarker(disk: Disk, path: string): void {
  if (disk.existsSync(path)) return;
  try {
    disk.writeFileSync(path, "");
  } catch (error) {
    const { code } = storeError(error, "the marker of the store cannot be written");
    if (code !== "full" && code !== "read_only") throw error;
  }
}
