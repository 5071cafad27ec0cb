import { rmSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LayerName } from "../../../layer/tile-set.ts";
import { namesIn, removeIfEmpty } from "../../internal/directories.ts";
import { isAbsent, storeError } from "../../internal/faults.ts";
import { removeParametersFiles } from "../../internal/parameters-files.ts";
import { parsePyramidDirectory } from "../../internal/pyramid-directory.ts";
import type { StoredPyramid } from "../../inventory-store.ts";
import { readIndex } from "./bundle.ts";
import { withBundle } from "./bundle-file.ts";
import { DESCRIPTION } from "./cache-description.ts";
import { type BundleAt, bundlesIn, LEVELS, type LevelAt, ROWS_FILE } from "./compact-paths.ts";
import type { CompactParts } from "./compact-tiles.ts";

/** The number of bundles that one call examines. A call blocks the caller's thread. */
const MOST_AT_ONCE = 100;

const isEmptyBundle = ({ path }: BundleAt): boolean | undefined => withBundle(path, (file) => readIndex(file).isEmpty);

/** Removes bundles without tiles, and the directories that then are empty. */
export function removeEmptyBundles({ writer }: CompactParts, level: LevelAt, bundles: readonly BundleAt[]): void {
  const empty = bundles.filter((bundle) => isEmptyBundle(bundle) === true);
  if (empty.length === 0) return;
  writer.runAlone(() => {
    // Checked again under the lock: a writer may have stored a tile since.
    for (const bundle of empty) if (isEmptyBundle(bundle) === true) unlinkIfPresent(bundle.path);
    removeEmptyLevel(level.path);
  });
}

function unlinkIfPresent(path: string): void {
  try {
    unlinkSync(path);
    rmSync(`${path}.copy`, { force: true });
  } catch (error) {
    if (!isAbsent(error)) throw storeError(error, "an empty bundle cannot be removed");
  }
}

/**
 * Removes the directory of a level without bundles, and its parents that then are empty. The caller holds the lock.
 * @returns false if the level's directory contains something
 */
function removeEmptyLevel(level: string): boolean {
  if (!removeWithFile(level, ROWS_FILE)) return false;
  const levels = dirname(level);
  if (!removeIfEmpty(levels)) return true;
  const format = dirname(levels);
  if (removeWithFile(format, DESCRIPTION)) removeIfEmpty(dirname(format));
  return true;
}

/**
 * Removes a directory that is empty or contains only this file. Returns false if the directory contains anything else.
 */
function removeWithFile(directory: string, name: string): boolean {
  const names = namesIn(directory);
  if (names.some((other) => other !== name)) return false;
  if (names.length > 0) rmSync(join(directory, name), { force: true });
  return removeIfEmpty(directory);
}

/**
 * Removes the bundles without tiles and the empty directories of some pyramids of a layer, and the parameters files of
 * ids that no pyramid uses any more.
 */
export function removeEmptyPyramids(
  parts: CompactParts,
  layer: LayerName,
  pyramids: readonly Pick<StoredPyramid, "gridSet" | "parametersId">[],
): ("gone" | "tiles" | "unfinished")[] {
  const { paths, writer } = parts;
  paths.namesInLayer(layer);
  const budget = { left: MOST_AT_ONCE };
  return writer.runAlone(() => {
    const outcomes = pyramids.map((pyramid) => removeEmptyPyramid(paths.pyramidPath({ layer, ...pyramid }), budget));
    const described = new Set(
      namesIn(paths.layerPath(layer)).map((name) => parsePyramidDirectory(name)?.parametersId ?? ""),
    );
    removeParametersFiles(paths.layerPath(layer), pyramids, described);
    return outcomes;
  });
}

function removeEmptyPyramid(path: string, budget: { left: number }): "gone" | "tiles" | "unfinished" {
  for (const format of namesIn(path)) {
    const levels = join(path, format, LEVELS);
    for (const name of namesIn(levels)) {
      const level = join(levels, name);
      for (const bundle of bundlesIn({ path: level })) {
        if (budget.left-- <= 0) return "unfinished";
        if (isEmptyBundle(bundle) === false) return "tiles";
        unlinkIfPresent(bundle.path);
      }
      if (!removeEmptyLevel(level)) return "tiles";
    }
    removeIfEmpty(levels);
    if (!removeWithFile(join(path, format), DESCRIPTION)) return "tiles";
  }
  return removeIfEmpty(path) ? "gone" : "tiles";
}
