import { rmSync, unlinkSync } from "node:fs";
import { opendir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rectCount, rectHolds } from "../../../grid/grid-set.ts";
import { BLOCK_SIDE } from "../../../layer/tile-set.ts";
import { codeOf } from "../../../lib/error-code.ts";
import type { FoundTile, InventoryStore, StoredPyramid } from "../../inventory-store.ts";
import {
  bucketDirectory,
  bucketOf,
  bucketsOfRect,
  bucketTouches,
  directoryName,
  directoryPyramid,
  parsePair,
  parseZoomDirectory,
  pyramidName,
  tileFile,
} from "../file-layout.ts";
import { changesOf } from "./changes.ts";
import { isCutOff } from "./cut-off.ts";
import { removeEmptyPyramids, removeIfEmpty } from "./empty-directories.ts";
import { isAbsent, storeError } from "./faults.ts";
import { extensionOf, type FilePaths, namesIn, statOf } from "./file-paths.ts";
import { regionsOf } from "./regions.ts";

/** The change time of this file is the time at which the owner of the store was last alive. */
const ALIVE = ".nuthatch-alive";
/** The resolution of a file system's clock, which may be that of another machine. */
const CLOCK_STEP_MS = 1_000;
/** Up to this many tiles are looked up one by one in a large bucket, because listing the bucket would cost more. */
const FEW_LOOKS = 256n;

/** Returns an inventory that reads the directories of the store. */
export const fileInventory = (paths: FilePaths): InventoryStore => ({
  ...pyramidsOf(paths),
  ...tilesOf(paths),
  ...ownerMarkOf(paths),
});

function pyramidsOf(
  paths: FilePaths,
): Pick<InventoryStore, "pyramids" | "levels" | "levelsOf" | "removeEmptyPyramids"> {
  const levelsOf: InventoryStore["levelsOf"] = (layer, pyramids) => {
    const levels = new Map<string, number[]>(pyramids.map((pyramid) => [pyramidName(pyramid), []]));
    for (const name of paths.levelDirectories(layer)) {
      const parsed = parseZoomDirectory(name);
      if (parsed !== undefined) levels.get(directoryPyramid(parsed))?.push(parsed.z);
    }
    for (const found of levels.values()) found.sort((a, b) => a - b);
    return pyramids.map((pyramid) => levels.get(pyramidName(pyramid)) ?? []);
  };

  return {
    pyramids(layer, known) {
      const byDirectory = new Map(known.map((id) => [directoryName(id), id]));
      const found = new Map<string, StoredPyramid>();
      for (const name of paths.levelDirectories(layer)) {
        const parsed = parseZoomDirectory(name);
        if (parsed === undefined) continue;
        const gridSet = byDirectory.get(parsed.gridSetDirectory) ?? parsed.gridSetDirectory;
        const pyramid = { layer, gridSet, parametersId: parsed.parametersId };
        found.set(pyramidName(pyramid), pyramid);
      }
      return [...found.values()];
    },

    levels: (pyramid) => levelsOf(pyramid.layer, [pyramid])[0] ?? [],
    levelsOf,

    removeEmptyPyramids: (layer, pyramids) =>
      removeEmptyPyramids(paths.layerPath(layer), paths.levelDirectories(layer), pyramids),
  };
}

function tilesOf(
  paths: FilePaths,
): Pick<InventoryStore, "recount" | "changes" | "regions" | "removeLeftovers" | "removeEmptied"> {
  return {
    async removeLeftovers(rects, signal) {
      const buckets = new Set<string>();
      for (const { tileSet, rect } of rects)
        for (const bucket of bucketsOfRect(rect)) buckets.add(join(paths.zoomPath(tileSet, rect.z), bucket));
      for (const bucket of buckets) {
        if (signal.aborted) return;
        await removeLeftovers(bucket, paths);
      }
    },

    recount(tileSet, rect, afterReboot) {
      const directory = paths.zoomPath(tileSet, rect.z);
      const extension = extensionOf(tileSet.format);
      const found: FoundTile[] = [];
      const look = (path: string, x: number, y: number): void => {
        const at = statOf(path, "a tile cannot be counted");
        if (at === undefined || !at.isFile()) return;
        // A power loss has emptied the file or cut it off, so it is no tile.
        if (at.size === 0 || (afterReboot && isCutOff(path, at.size, tileSet.format))) unlinkSync(path);
        else found.push({ x, y, bytes: at.size, modifiedMs: at.mtimeMs });
      };
      if (rectCount(rect) <= FEW_LOOKS && bucketOf(rect.z).half > BLOCK_SIDE / 4) {
        for (let y = rect.minY; y <= rect.maxY; y++)
          for (let x = rect.minX; x <= rect.maxX; x++)
            look(join(directory, bucketDirectory(x, y, rect.z), tileFile(x, y, rect.z, extension)), x, y);
      } else {
        for (const bucket of namesIn(directory).filter((name) => bucketTouches(name, rect))) {
          for (const name of namesIn(join(directory, bucket))) {
            const path = join(directory, bucket, name);
            if (paths.isLeftover(name)) rmSync(path, { force: true });
            const tile = parsePair(name);
            if (tile === undefined || !rectHolds(rect, tile.x, tile.y)) continue;
            if (tileFile(tile.x, tile.y, rect.z, extension) === name) look(path, tile.x, tile.y);
          }
        }
      }
      if (found.length === 0) paths.expectPresent(tileSet.layer, directory);
      return found;
    },

    changes(pyramid, z, sinceMs) {
      const directory = paths.zoomPath(pyramid, z);
      paths.expectPresent(pyramid.layer, directory);
      return changesOf(directory, z, sinceMs);
    },

    regions: (pyramid, z, after) => regionsOf(paths.zoomPath(pyramid, z), z, after),

    removeEmptied(tileSet, rect) {
      const directory = paths.zoomPath(tileSet, rect.z);
      let hasRemoved = false;
      for (const bucket of bucketsOfRect(rect)) if (removeIfEmpty(join(directory, bucket))) hasRemoved = true;
      if (hasRemoved) removeIfEmpty(directory);
    },
  };
}

/** Returns the methods by which the owner of the store records that it is alive. */
function ownerMarkOf(paths: FilePaths): Pick<InventoryStore, "noteAlive" | "lastAliveMs"> {
  return {
    async noteAlive() {
      const now = new Date();
      const path = join(paths.root, ALIVE);
      try {
        await utimes(path, now, now).catch((error: unknown) => {
          if (codeOf(error) !== "ENOENT") throw error;
          return writeFile(path, "", { mode: 0o600 });
        });
      } catch (error) {
        throw storeError(error, "the store cannot be marked as in use");
      }
    },

    lastAliveMs() {
      const ms = statOf(join(paths.root, ALIVE), "the store cannot be read")?.ctimeMs;
      // A time in the future means that the clock was set back: changes since then cannot be found by their times.
      return ms === undefined || ms > Date.now() + CLOCK_STEP_MS ? undefined : ms;
    },
  };
}

/** Removes the temporary files of interrupted puts of other processes from a directory. */
async function removeLeftovers(directory: string, paths: FilePaths): Promise<void> {
  try {
    for await (const { name } of await opendir(directory, { bufferSize: 256 }))
      if (paths.isLeftover(name)) await rm(join(directory, name), { force: true });
  } catch (error) {
    if (!isAbsent(error)) throw storeError(error, "leftovers cannot be removed");
  }
}
