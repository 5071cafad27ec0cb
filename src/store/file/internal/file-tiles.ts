import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { TileAddress } from "../../../layer/tile-set.ts";
import { codeOf } from "../../../lib/error-code.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { entryAt } from "../../internal/directories.ts";
import { isAbsent, storeError } from "../../internal/faults.ts";
import { openRegular, readBytes, regularAt } from "../../internal/regular-file.ts";
import type { LocalStore } from "../../store.ts";
import { deleteEach, type StoredTile } from "../../tile-store.ts";
import type { FilePaths } from "./file-paths.ts";

type Reads = Pick<LocalStore, "keyOf" | "get" | "getLater" | "stat" | "allocated">;
type Writes = Pick<LocalStore, "put" | "confirm" | "delete">;

/** Returns the methods that read and write tiles in files. */
export function fileTiles(paths: FilePaths): Reads & Writes & Pick<LocalStore, "deleteAll"> {
  const writes = writesOf(paths);
  return { ...readsOf(paths), ...writes, deleteAll: (all) => deleteEach(all, writes.delete) };
}

function readsOf(paths: FilePaths): Reads {
  const { disk } = paths;
  return {
    keyOf: (at) => paths.tile(at).slice(paths.root.length + 1),

    get: (at) => readTile(disk, paths.tile(at), paths.layerPath(at.tileSet.layer)),
    ...(paths.isOnNetwork
      ? { getLater: (at: TileAddress) => readTileLater(disk, paths.tile(at), paths.layerPath(at.tileSet.layer)) }
      : {}),

    stat(at) {
      const found = statTile(disk, paths.tile(at), paths.layerPath(at.tileSet.layer));
      if (found === undefined) return undefined;
      // `ctime`: the file system's time of the last change of the file or of its attributes.
      return { bytes: found.size, modifiedMs: found.mtimeMs, confirmedMs: found.ctimeMs };
    },

    allocated: (bytes) => Math.ceil(bytes / paths.blockBytes) * paths.blockBytes,
  };
}

function writesOf(paths: FilePaths): Writes {
  const { disk } = paths;
  return {
    delete(at) {
      const path = paths.tile(at);
      const found = entryAt(disk, path, "a tile cannot be removed");
      if (found === undefined) {
        paths.expectLevelPresent(at.tileSet.layer, paths.zoomPath(at.tileSet, at.z));
        return undefined;
      }
      if (!found.isFile() && !found.isSymbolicLink()) return undefined;
      const tile = statTile(disk, path, paths.layerPath(at.tileSet.layer));
      try {
        disk.unlinkSync(path);
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw storeError(error, "a tile cannot be removed");
      }
      return tile?.size;
    },

    confirm(at, bytes, { time, guard }, signal) {
      if (signal.aborted) return false;
      try {
        const path = paths.tile(at);
        const directory = paths.layerPath(at.tileSet.layer);
        const before = guard() ? statTile(disk, path, directory) : undefined;
        if (before === undefined || before.size !== bytes.byteLength) return false;
        const stored = readTile(disk, path, directory);
        if (stored === undefined || Buffer.compare(stored.bytes, bytes) !== 0 || !guard()) return false;
        if (time === "renew") {
          const now = new Date(paths.clock.now());
          disk.utimesSync(path, now, now);
        } else {
          // Sets only `confirmedMs`: after a crash a job skips the tiles that it has confirmed.
          disk.chmodSync(path, before.mode & 0o7777);
        }
        return true;
      } catch {
        // This process can replace a file of another user, but cannot change its time. The put after this confirmation
        // reports other faults.
        return false;
      }
    },

    /**
     * Async only because the interface is: the put runs in the caller's turn of the event loop, and generations rely on
     * that.
     */
    async put(at, bytes, { guard, modifiedMs }, signal) {
      signal.throwIfAborted();
      paths.expectNamed(at);
      const bucket = paths.bucketPath(at);
      const target = `${bucket}/${paths.fileOf(at)}`;
      const temporary = `${bucket}/${paths.temporaryName()}`;
      let isWritten = false;
      try {
        if (!guard()) return { stored: false };
        write(temporary, bytes, paths, () => paths.describeRows(at.tileSet));
        isWritten = true;
        if (modifiedMs !== undefined) disk.utimesSync(temporary, modifiedMs / 1000, modifiedMs / 1000);
        const before = statTile(disk, target, paths.layerPath(at.tileSet.layer));
        if (!guard()) {
          disk.rmSync(temporary, { force: true });
          return { stored: false };
        }
        disk.renameSync(temporary, target);
        return { stored: true, replaced: before?.size };
      } catch (error) {
        // If the temporary file was written, a truncation has moved the directory away since. If it was not written,
        // the directory cannot be created and the store is unavailable: with the answer "not stored" a job would render
        // the metatile again at once.
        if (isWritten && codeOf(error) === "ENOENT") return { stored: false };
        if (isWritten) disk.rmSync(temporary, { force: true });
        paths.expectLevelPresent(at.tileSet.layer, paths.zoomPath(at.tileSet, at.z));
        throw storeError(error, "a tile cannot be written");
      }
    },
  };
}

/**
 * Returns the status of a tile's file. Undefined if there is no tile, for example because the file is empty.
 * @param directory the layer's directory
 * @throws StoreError
 */
function statTile(disk: Disk, path: string, directory: string): Stats | undefined {
  const found = regularAt(disk, path, "a tile cannot be read", directory);
  return found === undefined || found.size === 0 ? undefined : found;
}

/**
 * Returns the tile in a file. Undefined if there is no tile.
 * @param directory the layer's directory
 * @throws StoreError
 */
function readTile(disk: Disk, path: string, directory: string): StoredTile | undefined {
  try {
    const opened = openRegular(disk, path, constants.O_RDONLY, directory);
    if (opened === undefined) return undefined;
    const { file, status } = opened;
    try {
      return status.size === 0
        ? undefined
        : { bytes: readBytes(disk, file, 0, status.size), modifiedMs: status.mtimeMs };
    } finally {
      disk.closeSync(file);
    }
  } catch (error) {
    throw storeError(error, "a tile cannot be read");
  }
}

/**
 * Reads like `readTile`, but in a thread of Node's pool, so that a file system that hangs does not delay other readers.
 * @throws StoreError
 */
async function readTileLater(disk: Disk, path: string, directory: string): Promise<StoredTile | undefined> {
  try {
    await using file = await disk.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile() || found.size === 0) return undefined;
    return { bytes: await file.readFile(), modifiedMs: found.mtimeMs };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENXIO") return undefined;
    // The path is a link. It is followed if it leads to a file below the layer's directory.
    if (code === "ELOOP") return readTile(disk, path, directory);
    throw storeError(error, "a tile cannot be read");
  }
}

/**
 * Writes the temporary file.
 * @param describe describes the pyramid; called when the file's directory has to be created
 */
function write(
  temporary: string,
  bytes: Uint8Array,
  paths: Pick<FilePaths, "disk" | "fsync" | "expectRoot">,
  describe: () => void,
): void {
  const { disk, fsync } = paths;
  const file = openNew(temporary, paths, describe);
  try {
    try {
      let written = 0;
      while (written < bytes.byteLength) written += disk.writeSync(file, bytes, written);
      if (fsync) disk.fsyncSync(file);
    } finally {
      // On a network file system the last bytes may fail only here.
      disk.closeSync(file);
    }
  } catch (error) {
    disk.rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * The most attempts to create the directory of a new file. If they all fail, the directory cannot be created; removal
 * by another process does not explain it.
 */
const MOST_TRIES = 10;

/**
 * Creates a file and its directory. A truncation, or the eviction of the last tile, may remove the directory between
 * the two steps or while it is created. A directory that contains a file is not removed.
 */
function openNew(
  path: string,
  { disk, expectRoot }: Pick<FilePaths, "disk" | "expectRoot">,
  describe: () => void,
): number {
  for (let tries = 0; ; tries++) {
    try {
      if (tries > 0) {
        expectRoot();
        // Before: a kill leaves no directory without its description. After: a truncation may have moved it away.
        describe();
        disk.mkdirSync(dirname(path), { recursive: true });
        describe();
      }
      return disk.openSync(path, "wx");
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || tries === MOST_TRIES) throw error;
    }
  }
}
