import { constants } from "node:fs";
import { join } from "node:path";
import { rectCount, rectHolds, type TileRect, type TileX, type TileY, type Zoom } from "../../../grid/grid-set.ts";
import { extensionOf } from "../../../layer/format.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { isCutOff, type ReadBytes } from "../../internal/cut-off.ts";
import { namesIn, removeIfEmpty, statOf } from "../../internal/directories.ts";
import { openRegular, regularAt } from "../../internal/regular-file.ts";
import { pyramidsOf } from "../../internal/store-directory.ts";
import type { FoundTile, InventoryStore, Listing } from "../../inventory-store.ts";
import { directoryPyramid, pyramidName } from "../file-layout.ts";
import { removeEmptyPyramids } from "./empty-directories.ts";
import type { FilePaths } from "./file-paths.ts";
import type { TileLayout } from "./tile-layout.ts";

/** Up to this many tiles of a large bucket are looked up one by one, because listing the bucket would cost more. */
const FEW_LOOKS = 256n;

type Pyramids = Pick<InventoryStore, "pyramids" | "levels" | "levelsOf" | "removeEmptyPyramids">;
type Tiles = Pick<InventoryStore, "recount" | "changes" | "regions" | "removeLeftovers" | "removeEmptied">;

/** Returns an inventory that reads the directories of the store. */
export const fileInventory = (paths: FilePaths): Pyramids & Tiles => ({
  ...listedPyramids(paths),
  ...listedTiles(paths),
});

function listedPyramids(paths: FilePaths): Pyramids {
  const levelsOf: InventoryStore["levelsOf"] = (layer, pyramids) => {
    const levels = new Map<string, Zoom[]>(pyramids.map((pyramid) => [pyramidName(pyramid), []]));
    for (const found of paths.levels(layer)) levels.get(directoryPyramid(found))?.push(found.z);
    for (const found of levels.values()) found.sort((a, b) => a - b);
    return pyramids.map((pyramid) => levels.get(pyramidName(pyramid)) ?? []);
  };

  return {
    pyramids: (layer, known) => pyramidsOf(layer, paths.levels(layer), known),
    levels: (pyramid) => levelsOf(pyramid.layer, [pyramid])[0] ?? [],
    levelsOf,

    removeEmptyPyramids: (layer, pyramids) => removeEmptyPyramids(paths, layer, pyramids),
  };
}

function listedTiles(paths: FilePaths): Tiles {
  const { disk, layout } = paths;
  return {
    async removeLeftovers(rects, signal) {
      const directories = new Set<string>();
      for (const { tileSet, rect } of rects) {
        directories.add(paths.layerPath(tileSet.layer)).add(paths.pyramidPath(tileSet));
        for (const bucket of layout.bucketsOfRect(rect)) directories.add(join(paths.zoomPath(tileSet, rect.z), bucket));
      }
      for (const directory of directories) {
        if (signal.aborted) return;
        await paths.removeLeftovers(directory);
      }
    },

    recount(tileSet, rect, afterReboot, listing) {
      const { path: directory, rows } = paths.level(tileSet, rect.z);
      const extension = extensionOf(tileSet.format);
      const layerPath = paths.layerPath(tileSet.layer);
      const found: FoundTile[] = [];
      const look = (path: string, x: TileX, y: TileY): void => {
        const at = regularAt(disk, path, "a tile cannot be counted", layerPath);
        if (at === undefined) return;
        // A power loss has emptied the file or cut it off, so it is not a tile.
        if (at.size === 0 || (afterReboot && isCutOff(readerOf(disk, path, layerPath), at.size, tileSet.format)))
          disk.unlinkSync(path);
        else found.push({ x, y, bytes: at.size, modifiedMs: at.mtimeMs });
      };
      if (listing !== undefined && isUnchanged(disk, layout, directory, rect, listing)) {
        for (const { x, y } of listing.tiles)
          if (rectHolds(rect, x, y))
            look(join(directory, layout.bucket(x, y, rect.z), layout.file(x, y, rect.z, extension, rows)), x, y);
      } else if (rectCount(rect) <= FEW_LOOKS && layout.hasLargeBuckets(rect.z)) {
        for (let y = rect.minY; y <= rect.maxY; y++)
          for (let x = rect.minX; x <= rect.maxX; x++)
            look(join(directory, layout.bucket(x, y, rect.z), layout.file(x, y, rect.z, extension, rows)), x, y);
      } else {
        for (const bucket of namesIn(disk, directory).filter((name) => layout.touches(name, rect))) {
          for (const name of namesIn(disk, join(directory, bucket))) {
            const path = join(directory, bucket, name);
            if (paths.isLeftover(name)) disk.rmSync(path, { force: true });
            const tile = layout.parse(bucket, name, rows);
            if (tile === undefined || !rectHolds(rect, tile.x, tile.y)) continue;
            if (layout.file(tile.x, tile.y, rect.z, extension, rows) === name) look(path, tile.x, tile.y);
          }
        }
      }
      if (found.length === 0) paths.expectLevelPresent(tileSet.layer, directory);
      return found;
    },

    changes(pyramid, z, sinceMs) {
      const level = paths.level(pyramid, z);
      paths.expectLevelPresent(pyramid.layer, level.path);
      return layout.changes(level, sinceMs);
    },

    regions: (pyramid, z, after) => layout.regions(paths.level(pyramid, z), after),

    removeEmptied(tileSet, rect) {
      const directory = paths.zoomPath(tileSet, rect.z);
      let hasRemoved = false;
      for (const bucket of layout.bucketsOfRect(rect))
        if (removeIfEmpty(disk, join(directory, bucket))) hasRemoved = true;
      if (hasRemoved) removeIfEmpty(disk, directory);
    },
  };
}

/** Returns whether no tile can have been added to a rectangle since its directories were listed. @throws StoreError */
function isUnchanged(
  disk: Disk,
  layout: TileLayout,
  directory: string,
  rect: TileRect,
  { directories }: Listing,
): boolean {
  for (const bucket of layout.bucketsOfRect(rect)) {
    const found = statOf(disk, join(directory, bucket), "a tile cannot be counted");
    // A directory that was not listed may have been created since.
    if (found !== undefined && directories.get(bucket) !== found.ctimeMs) return false;
  }
  return true;
}

/** Returns a function that reads bytes of a file. */
const readerOf =
  (disk: Disk, path: string, directory: string): ReadBytes =>
  (position, length) => {
    const bytes = Buffer.alloc(length);
    const opened = openRegular(disk, path, constants.O_RDONLY, directory);
    if (opened === undefined) return bytes;
    try {
      disk.readSync(opened.file, bytes, 0, length, position);
    } finally {
      disk.closeSync(opened.file);
    }
    return bytes;
  };
