import { rectHolds, type TileRect, type TileX, type TileY, type Zoom } from "../../../grid/grid-set.ts";
import { BLOCK_SIDE, type FormatName, type TileSet } from "../../../layer/tile-set.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { parsePyramidDirectory, pyramidDirectory } from "../../file/file-layout.ts";
import { isCutOff } from "../../internal/cut-off.ts";
import { changedMs, namesIn, statOf } from "../../internal/directories.ts";
import { regionKey, squareOf } from "../../internal/regions.ts";
import { pyramidsOf } from "../../internal/store-directory.ts";
import type { FoundTile, InventoryStore, LevelChanges, Region, StoredPyramid } from "../../inventory-store.ts";
import { type FoundRecord, isIntact, readIndex, readRecord, SIDE } from "./bundle.ts";
import { withBundle } from "./bundle-file.ts";
import {
  type BundleAt,
  bundlesIn,
  bundlesOfRect,
  LEVELS,
  type LevelAt,
  parseLevelDirectory,
  rectOfBundle,
  tileOfEntry,
} from "./compact-paths.ts";
import type { CompactParts } from "./compact-tiles.ts";
import { removeEmptyBundles, removeEmptyPyramids } from "./empty-bundles.ts";

type Pyramids = Pick<InventoryStore, "pyramids" | "levels" | "levelsOf" | "removeEmptyPyramids">;
type Tiles = Pick<InventoryStore, "recount" | "changes" | "regions" | "removeLeftovers" | "removeEmptied">;

/** Returns an inventory that reads the bundles of the store. */
export const compactInventory = (parts: CompactParts): Pyramids & Tiles => ({
  ...listedPyramids(parts),
  ...listedTiles(parts),
});

function listedPyramids(parts: CompactParts): Pyramids {
  const { paths } = parts;
  const { disk } = paths;
  const levelsOfOne = (pyramid: StoredPyramid): Zoom[] => {
    const path = paths.pyramidPath(pyramid);
    const names = namesIn(disk, path).flatMap((format) => namesIn(disk, `${path}/${format}/${LEVELS}`));
    return [...new Set(names.flatMap((name) => parseLevelDirectory(name) ?? []))].sort((a, b) => a - b);
  };
  const levelsOf: InventoryStore["levelsOf"] = (layer, pyramids) => {
    const names = new Set(paths.namesInLayer(layer));
    return pyramids.map((pyramid) => (names.has(pyramidDirectory(pyramid)) ? levelsOfOne(pyramid) : []));
  };
  return {
    pyramids: (layer, known) =>
      pyramidsOf(
        layer,
        paths.namesInLayer(layer).flatMap((name) => parsePyramidDirectory(name) ?? []),
        known,
      ),
    levels: (pyramid) => levelsOf(pyramid.layer, [pyramid])[0] ?? [],
    levelsOf,
    removeEmptyPyramids: (layer, pyramids) => removeEmptyPyramids(parts, layer, pyramids),
  };
}

function listedTiles(parts: CompactParts): Tiles {
  const { paths } = parts;
  const { disk } = paths;
  return {
    // An interrupted put of a tile leaves only unused bytes in its bundle, which the next put counts.
    async removeLeftovers(rects, signal) {
      const directories = new Set<string>();
      for (const { tileSet, rect } of rects)
        directories
          .add(paths.layerPath(tileSet.layer))
          .add(paths.formatPath(tileSet))
          .add(paths.levelPath(tileSet, rect.z));
      for (const directory of directories) {
        if (signal.aborted) return;
        await paths.removeLeftovers(directory);
      }
    },

    recount(tileSet, rect, afterReboot) {
      const level = paths.level(tileSet, rect.z);
      const found: FoundTile[] = [];
      for (const bundle of bundlesOfRect(disk, level, rect)) {
        const { tiles, broken } = countIn(disk, level, bundle, rect, afterReboot);
        found.push(...tiles);
        if (broken.length > 0) removeBroken(parts, bundle, broken);
      }
      if (found.length === 0) paths.expectPresent(tileSet.layer, level.path);
      return found;
    },

    changes(pyramid, z, sinceMs) {
      paths.expectPresent(pyramid.layer);
      return changesOf(disk, paths.pyramidPath(pyramid), paths.levelsAt(pyramid, z), sinceMs);
    },

    async *regions(pyramid, z, after) {
      const levels = paths.levelsAt(pyramid, z);
      yield* regionsOf(
        disk,
        levels,
        levels.map((level) => bundlesIn(disk, level)),
        after,
      );
    },

    removeEmptied(tileSet: TileSet, rect: TileRect) {
      const level = paths.level(tileSet, rect.z);
      removeEmptyBundles(parts, level, bundlesOfRect(disk, level, rect));
    },
  };
}

/** Returns the tiles of a bundle in a rectangle, and the indexes of entries without a record. */
function countIn(
  disk: Disk,
  { rows, format }: LevelAt,
  bundle: BundleAt,
  rect: TileRect,
  afterReboot: boolean,
): { readonly tiles: readonly FoundTile[]; readonly broken: readonly number[] } {
  const tiles: FoundTile[] = [];
  const broken: number[] = [];
  const count = (file: number): void => {
    const index = readIndex(disk, file);
    for (let i = 0; i < SIDE * SIDE; i++) {
      const entry = index.entry(i);
      if (entry === undefined) continue;
      const { x, y } = tileOfEntry(rows ?? 0, bundle, i);
      if (!rectHolds(rect, x, y)) continue;
      const record = readRecord(disk, file, entry, afterReboot ? "whole" : "head");
      if (record === undefined || (afterReboot && isBroken(record, format))) broken.push(i);
      else tiles.push({ x, y, bytes: entry.size, modifiedMs: record.modifiedMs });
    }
  };
  withBundle(disk, bundle.path, count);
  return { tiles, broken };
}

/**
 * Returns whether a tile has lost bytes in a power loss. Records of other programs have no checksum, so the end of the
 * tile is checked.
 */
const isBroken = (record: FoundRecord, format: FormatName): boolean =>
  record.checksum === undefined
    ? isCutOff(
        (position, length) => Buffer.concat([record.tile.subarray(position, position + length)], length),
        record.tile.length,
        format,
      )
    : !isIntact(record);

function removeBroken({ writer, paths }: CompactParts, { path }: BundleAt, indexes: readonly number[]): void {
  writer.run(() => writer.remove(path, indexes, paths.fsync));
}

/**
 * Returns blocks of the ledger by their keys. Rows of blocks count from the bottom, so a bundle may overlap two blocks.
 */
function blocksOf(
  levels: readonly LevelAt[],
  bundles: readonly (readonly BundleAt[])[],
): ReadonlyMap<string, TileRect> {
  const blocks = new Map<string, TileRect>();
  for (const [n, level] of levels.entries()) {
    if (level.rows === undefined) continue;
    for (const bundle of bundles[n] ?? []) {
      const { minX, minY, maxY } = rectOfBundle(level, bundle);
      const [first, last] = [Math.floor(Math.max(0, minY) / BLOCK_SIDE), Math.floor(Math.max(0, maxY) / BLOCK_SIDE)];
      for (const by of new Set([first, last])) {
        const bx = minX / BLOCK_SIDE;
        blocks.set(regionKey(by, bx), squareOf(level.z, bx, by));
      }
    }
  }
  return new Map([...blocks].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Yields the blocks that the bundles of some levels overlap, with the tiles of all formats. */
async function* regionsOf(
  disk: Disk,
  levels: readonly LevelAt[],
  bundles: readonly (readonly BundleAt[])[],
  after: string | undefined,
): AsyncGenerator<Region> {
  for (const [key, rect] of blocksOf(levels, bundles)) {
    if (after !== undefined && key <= after) continue;
    const tiles = new Map<FormatName, readonly { readonly x: TileX; readonly y: TileY }[]>();
    for (const level of levels) {
      const inside = bundlesOfRect(disk, level, rect).flatMap((bundle) => listIn(disk, level, bundle, rect));
      if (inside.length > 0) tiles.set(level.format, inside);
    }
    yield { key, rect, tiles };
  }
}

function listIn(disk: Disk, { rows }: LevelAt, bundle: BundleAt, rect: TileRect): readonly { x: TileX; y: TileY }[] {
  const index = withBundle(disk, bundle.path, (file) => readIndex(disk, file));
  if (index === undefined || rows === undefined) return [];
  const inside: { x: TileX; y: TileY }[] = [];
  for (let i = 0; i < SIDE * SIDE; i++) {
    if (index.entry(i) === undefined) continue;
    const tile = tileOfEntry(rows, bundle, i);
    if (rectHolds(rect, tile.x, tile.y)) inside.push(tile);
  }
  return inside;
}

/** Returns the changes to a level at or after a time. Finds them by the change times of bundles and directories. */
function changesOf(disk: Disk, pyramid: string, levels: readonly LevelAt[], sinceMs: number): LevelChanges {
  const changed = (path: string): boolean =>
    (statOf(disk, path, "the store cannot be read")?.ctimeMs ?? sinceMs) >= sinceMs;
  // A format whose directory was removed shows only in the change time of the pyramid's directory.
  const hasLostFormat = changed(pyramid);
  return {
    hasLost: levels.length === 0 || hasLostFormat || levels.some(({ path }) => changed(path)),
    async holds(cell) {
      if (hasLostFormat) return false;
      return levels.every((level) => bundlesOfRect(disk, level, cell).every(({ path }) => disk.existsSync(path)));
    },
    async *regions() {
      const bundles = await Promise.all(
        levels.map(async (level) => {
          const all = bundlesIn(disk, level);
          const times = await Promise.all(all.map(({ path }) => changedMs(disk, path)));
          return all.filter((_, n) => (times[n] ?? 0) >= sinceMs);
        }),
      );
      yield* regionsOf(disk, levels, bundles, undefined);
    },
  };
}
