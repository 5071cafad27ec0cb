import { dirname, join } from "node:path";
import type { LayerName } from "../../../layer/tile-set.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { parsePyramidDirectory } from "../../file/file-layout.ts";
import { namesIn, removeIfEmpty } from "../../internal/directories.ts";
import { isAbsent, storeError } from "../../internal/faults.ts";
import { removeParametersFiles } from "../../internal/parameters-files.ts";
import { syncDirectories } from "../../internal/sync-directories.ts";
import type { StoredPyramid } from "../../inventory-store.ts";
import { readIndex } from "./bundle.ts";
import { withBundle } from "./bundle-file.ts";
import { DESCRIPTION } from "./cache-description.ts";
import { type BundleAt, bundlesIn, LEVELS, type LevelAt, ROWS_FILE } from "./compact-paths.ts";
import type { CompactParts } from "./compact-tiles.ts";

/** The number of bundles that one call examines. A call blocks the caller's thread. */
const MOST_AT_ONCE = 100;

const isEmptyBundle = (disk: Disk, { path }: BundleAt): boolean | undefined =>
  withBundle(disk, path, (file) => readIndex(disk, file).isEmpty);

/** Removes bundles without tiles, and the directories that then are empty. */
export function removeEmptyBundles(
  { paths: { disk }, writer }: Pick<CompactParts, "paths" | "writer">,
  level: LevelAt,
  bundles: readonly BundleAt[],
): void {
  const empty = bundles.filter((bundle) => isEmptyBundle(disk, bundle) === true);
  if (empty.length === 0) return;
  writer.runAlone(() => {
    // Checked again under the lock: a writer may have stored a tile since.
    for (const bundle of empty) if (isEmptyBundle(disk, bundle) === true) unlinkIfPresent(disk, bundle.path);
    removeEmptyLevel(disk, level.path);
  });
}

function unlinkIfPresent(disk: Disk, path: string): void {
  try {
    disk.unlinkSync(path);
    disk.rmSync(`${path}.copy`, { force: true });
  } catch (error) {
    if (!isAbsent(error)) throw storeError(error, "an empty bundle cannot be removed");
  }
}

/**
 * Removes the directory of a level without bundles, and its parents that then are empty. The caller holds the lock.
 * @returns false if the level's directory contains something
 */
function removeEmptyLevel(disk: Disk, level: string): boolean {
  if (!removeWithFile(disk, level, ROWS_FILE)) return false;
  const levels = dirname(level);
  if (!removeIfEmpty(disk, levels)) return true;
  const format = dirname(levels);
  if (removeWithFile(disk, format, DESCRIPTION)) removeIfEmpty(disk, dirname(format));
  return true;
}

/**
 * Removes a directory that is empty or contains only this file. Returns false if the directory contains anything else.
 */
function removeWithFile(disk: Disk, directory: string, name: string): boolean {
  const names = namesIn(disk, directory);
  if (names.some((other) => other !== name)) return false;
  if (names.length > 0) disk.rmSync(join(directory, name), { force: true });
  return removeIfEmpty(disk, directory);
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
  const { disk } = paths;
  paths.namesInLayer(layer);
  const budget = { left: MOST_AT_ONCE };
  return writer.runAlone(() => {
    const outcomes = pyramids.map((pyramid) =>
      removeEmptyPyramid(disk, paths.pyramidPath({ layer, ...pyramid }), budget),
    );
    const described = new Set(
      namesIn(disk, paths.layerPath(layer)).map((name) => parsePyramidDirectory(name)?.parametersId ?? ""),
    );
    removeParametersFiles(disk, paths.layerPath(layer), pyramids, described);
    if (outcomes.includes("gone")) syncDirectories(disk, [paths.layerPath(layer), paths.root]);
    return outcomes;
  });
}

function removeEmptyPyramid(disk: Disk, path: string, budget: { left: number }): "gone" | "tiles" | "unfinished" {
  for (const format of namesIn(disk, path)) {
    const levels = join(path, format, LEVELS);
    for (const name of namesIn(disk, levels)) {
      const level = join(levels, name);
      for (const bundle of bundlesIn(disk, { path: level })) {
        if (budget.left-- <= 0) return "unfinished";
        if (isEmptyBundle(disk, bundle) === false) return "tiles";
        unlinkIfPresent(disk, bundle.path);
      }
      if (!removeEmptyLevel(disk, level)) return "tiles";
    }
    removeIfEmpty(disk, levels);
    if (!removeWithFile(disk, join(path, format), DESCRIPTION)) return "tiles";
  }
  return removeIfEmpty(disk, path) ? "gone" : "tiles";
}
