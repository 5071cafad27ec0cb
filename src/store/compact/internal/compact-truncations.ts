import type { Dirent } from "node:fs";
import { join } from "node:path";
import { rectHolds, type TileRect, type TileX, type TileY } from "../../../grid/grid-set.ts";
import { formatInPath } from "../../../layer/format.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { pagesOf } from "../../../lib/pages.ts";
import { turn } from "../../../lib/time/sleep.ts";
import { directoryName, pyramidDirectory } from "../../file/file-layout.ts";
import { namesIn } from "../../internal/directories.ts";
import { storeError } from "../../internal/faults.ts";
import { mayBeDirectory, ownedIn, planLayer } from "../../internal/layer-directory.ts";
import { renamesIn } from "../../internal/renames.ts";
import { StoreError } from "../../tile-store.ts";
import type { Deleted, TruncationStore } from "../../truncation-store.ts";
import { readIndex, SIDE } from "./bundle.ts";
import { withBundle } from "./bundle-file.ts";
import {
  type BundleAt,
  bundlesOfRect,
  LEVELS,
  type LevelAt,
  levelDirectory,
  parseLevelDirectory,
  tileOfEntry,
} from "./compact-paths.ts";
import type { CompactParts } from "./compact-tiles.ts";
import { defragment } from "./defragment.ts";
import { removeEmptyBundles } from "./empty-bundles.ts";

/** The number of tiles in one call of the listener. */
const CHUNK = 512;

/** Returns a store that truncates by renames of directories, and deletes ranges by clearing entries of bundles. */
export function compactTruncations(parts: CompactParts): TruncationStore {
  const { paths, writer } = parts;
  const { disk } = paths;
  const { sweepLock, wasteful } = writer;
  const renames = renamesIn(paths);
  return {
    ...renames,

    plan(scope) {
      paths.expectRoot();
      const layer = directoryName(scope.layer);
      if (scope.kind === "layer")
        return planLayer(paths, layer, (entry) =>
          mayBeDirectory(entry) ? ownedIn(disk, join(paths.layerPath(scope.layer), entry.name), isFormatDirectory) : [],
        );
      const directory = pyramidDirectory(scope);
      if (!paths.namesInLayer(scope.layer).includes(directory)) return [];
      const { zooms } = scope;
      if (zooms === undefined) return [`${layer}/${directory}`];
      return namesIn(disk, paths.pyramidPath(scope)).flatMap((format) =>
        namesIn(disk, `${paths.pyramidPath(scope)}/${format}/${LEVELS}`)
          .map(parseLevelDirectory)
          .filter((z) => z !== undefined)
          .filter((z) => z >= zooms.first && z <= zooms.last)
          .map((z) => `${layer}/${directory}/${format}/${LEVELS}/${levelDirectory(z)}`),
      );
    },

    // Runs alone, because a writer appends to a bundle and then makes the tile readable, and both must happen in the
    // same bundle.
    truncate: (id, names, remains) => writer.runAlone(() => renames.truncate(id, names, remains)),
    restore: (id, names) => writer.runAlone(() => renames.restore(id, names)),

    async deleteRange(scope, rect, listener, signal) {
      const { format, chosen = () => true } = scope;
      const levels = paths.levelsAt(scope, rect.z).filter((level) => format === undefined || level.format === format);
      for (const level of levels) {
        for (const bundle of bundlesOfRect(disk, level, rect)) {
          signal.throwIfAborted();
          const tiles = tilesIn(disk, level, bundle, rect, chosen);
          for (const some of pagesOf(tiles, CHUNK)) {
            signal.throwIfAborted();
            await listener.willDelete(some.map(({ deleted }) => deleted));
            signal.throwIfAborted();
            const removed = remove(parts, bundle, some);
            for (const deleted of removed) listener.onDeleted(deleted);
          }
          if (tiles.length > 0) removeEmptyBundles(parts, level, [bundle]);
          await turn(paths.clock);
        }
      }
      signal.throwIfAborted();
    },

    isWasteful: () => !wasteful.isEmpty,
    needsSweep: () => renames.needsSweep() || !wasteful.isEmpty,

    async sweep(signal) {
      await renames.sweep(signal);
      const release = sweepLock.tryAcquire();
      // Another process sweeps already, such as the renderer of a killed server.
      if (release === undefined) return;
      try {
        for (const bundle of wasteful.list()) {
          if (signal.aborted) return;
          await defragment(parts, bundle, signal);
        }
      } finally {
        release();
      }
    },
  };
}

/** Returns whether an entry in a pyramid's directory is the directory of a format. */
const isFormatDirectory = (entry: Dirent): boolean => mayBeDirectory(entry) && formatInPath(entry.name) !== undefined;

interface Candidate {
  readonly index: number;
  readonly deleted: Deleted;
}

/** Returns the tiles of a bundle in a rectangle. */
function tilesIn(
  disk: Disk,
  { format, z, rows }: LevelAt,
  bundle: BundleAt,
  rect: TileRect,
  chosen: (x: TileX, y: TileY) => boolean,
): readonly Candidate[] {
  if (rows === undefined) return [];
  const index = withBundle(disk, bundle.path, (file) => readIndex(disk, file));
  if (index === undefined) return [];
  const found: Candidate[] = [];
  for (let i = 0; i < SIDE * SIDE; i++) {
    const entry = index.entry(i);
    if (entry === undefined) continue;
    const { x, y } = tileOfEntry(rows, bundle, i);
    if (rectHolds(rect, x, y) && chosen(x, y))
      found.push({ index: i, deleted: { format, x, y, z, bytes: entry.size } });
  }
  return found;
}

/** Removes tiles of a bundle. Returns the tiles that existed. */
function remove({ writer, paths }: CompactParts, { path }: BundleAt, tiles: readonly Candidate[]): readonly Deleted[] {
  try {
    const indexes = tiles.map(({ index }) => index);
    const sizes = writer.run(() => writer.remove(path, indexes, paths.fsync));
    return tiles.filter((_, n) => sizes[n] !== undefined).map(({ deleted }) => deleted);
  } catch (error) {
    throw error instanceof StoreError ? error : storeError(error, "a tile cannot be removed");
  }
}
