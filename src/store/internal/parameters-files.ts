import { join } from "node:path";
import type { LayerName, ParametersId } from "../../layer/tile-set.ts";
import type { Disk } from "../../lib/file/disk.ts";
import { decodeParametersFile, encodeParametersFile, parametersFileName } from "../file/parameters-file.ts";
import type { TileStore } from "../tile-store.ts";
import { isAbsent, storeError } from "./faults.ts";
import { readRegular } from "./regular-file.ts";

/** The paths of a store that describes parameters ids in its layers' directories, as GWC does. */
export interface DescribedPaths {
  readonly disk: Disk;
  layerPath(layer: LayerName): string;
  writeWhole(path: string, content: string, encoding: "latin1"): void;
}

/** Returns the methods that store the values of parameters ids. */
export function parametersFilesOf(paths: DescribedPaths): Pick<TileStore, "describeParameters" | "parametersOf"> {
  const { disk } = paths;
  return {
    async describeParameters(layer, id, values) {
      const file = join(paths.layerPath(layer), parametersFileName(id));
      // Checked at each call, because the file is removed with the last tile of these parameters, also by other
      // processes.
      if (disk.existsSync(file)) return;
      try {
        paths.writeWhole(file, encodeParametersFile(id, values), "latin1");
      } catch (error) {
        if (!isAbsent(error)) throw storeError(error, "a parameters file cannot be written");
      }
    },

    parametersOf(layer, id) {
      try {
        const content = readRegular(disk, join(paths.layerPath(layer), parametersFileName(id)), "latin1");
        return content === undefined ? undefined : decodeParametersFile(content);
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw storeError(error, "a parameters file cannot be read");
      }
    },
  };
}

/** Removes the files of parameters ids that no tile of a layer uses any more. @throws StoreError */
export function removeParametersFiles(
  disk: Disk,
  layerPath: string,
  pyramids: readonly { readonly parametersId: ParametersId }[],
  described: ReadonlySet<string>,
): void {
  for (const { parametersId } of pyramids) {
    if (parametersId === "" || described.has(parametersId)) continue;
    try {
      disk.rmSync(join(layerPath, parametersFileName(parametersId)), { force: true });
    } catch (error) {
      throw storeError(error, "a parameters file cannot be removed");
    }
  }
}
