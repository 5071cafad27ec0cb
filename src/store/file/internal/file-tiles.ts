import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import type { TileAddress } from "../../../layer/tile-set.ts";
import { codeOf } from "../../../lib/error-code.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { checkWritable, diskOf, diskSpaceOf } from "../../internal/directories.ts";
import { isAbsent, storeError } from "../../internal/faults.ts";
import { parametersFilesOf } from "../../internal/parameters-files.ts";
import { openRegular, regularAt } from "../../internal/regular-file.ts";
import type { LocalStore } from "../../store.ts";
import { deleteEach, type StoredTile, type TileStore } from "../../tile-store.ts";
import type { FilePaths } from "./file-paths.ts";

/** Returns a store of tiles in files. */
export function fileTiles(paths: FilePaths): Pick<LocalStore, keyof TileStore | "getLater"> {
  const writes = writesOf(paths);
  return {
    ...readsOf(paths),
    ...writes,
    deleteAll: (all) => deleteEach(all, writes.delete),
    ...parametersFilesOf(paths),
  };
}

function readsOf(
  paths: FilePaths,
): Pick<LocalStore, "keyOf" | "get" | "getLater" | "stat" | "allocated" | "disk" | "diskSpace"> {
  return {
    keyOf: (at) => paths.tile(at).slice(paths.root.length + 1),

    get: (at) => readTile(paths.tile(at), paths.layerPath(at.tileSet.layer)),
    ...(paths.isOnNetwork
      ? { getLater: (at: TileAddress) => readTileLater(paths.tile(at), paths.layerPath(at.tileSet.layer)) }
      : {}),

    stat(at) {
      const found = statTile(paths.tile(at), paths.layerPath(at.tileSet.layer));
      if (found === undefined) return undefined;
      // `ctime`: the file system's time of the last change of the file or of its attributes.
      return { bytes: found.size, modifiedMs: found.mtimeMs, confirmedMs: found.ctimeMs };
    },

    allocated: (bytes) => Math.ceil(bytes / paths.blockBytes) * paths.blockBytes,

    disk: diskOf(paths.root),
    diskSpace: () => diskSpaceOf(paths.root, paths.expectRoot),
  };
}

function writesOf(paths: FilePaths): Pick<LocalStore, "put" | "putsAtOnce" | "confirm" | "delete" | "check"> {
  return {
    delete(at) {
      const path = paths.tile(at);
      const found = entryAt(path);
      if (found === undefined) {
        paths.expectPresent(at.tileSet.layer, paths.zoomPath(at.tileSet, at.z));
        return undefined;
      }
      if (!found.isFile() && !found.isSymbolicLink()) return undefined;
      const tile = statTile(path, paths.layerPath(at.tileSet.layer));
      try {
        unlinkSync(path);
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
        const before = guard() ? statTile(path, directory) : undefined;
        if (before === undefined || before.size !== bytes.byteLength) return false;
        const stored = readTile(path, directory);
        if (stored === undefined || Buffer.compare(stored.bytes, bytes) !== 0 || !guard()) return false;
        if (time === "renew") {
          const now = new Date(machineClock.now());
          utimesSync(path, now, now);
        } else {
          // Sets only `confirmedMs`: after a crash a job skips the tiles that it has confirmed.
          chmodSync(path, before.mode & 0o7777);
        }
        return true;
      } catch {
        // This process can replace a file of another user, but cannot change its time. The put after this confirmation
        // reports other faults.
        return false;
      }
    },

    putsAtOnce: () => 1,

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
        if (modifiedMs !== undefined) utimesSync(temporary, modifiedMs / 1000, modifiedMs / 1000);
        const before = statTile(target, paths.layerPath(at.tileSet.layer));
        if (!guard()) {
          rmSync(temporary, { force: true });
          return { stored: false };
        }
        renameSync(temporary, target);
        return { stored: true, replaced: before?.size };
      } catch (error) {
        // If the temporary file was written, a truncation has moved the directory away since. If it was not written,
        // the directory cannot be created and the store is unavailable: with the answer "not stored" a job would render
        // the metatile again at once.
        if (isWritten && codeOf(error) === "ENOENT") return { stored: false };
        if (isWritten) rmSync(temporary, { force: true });
        paths.expectPresent(at.tileSet.layer, paths.zoomPath(at.tileSet, at.z));
        throw storeError(error, "a tile cannot be written");
      }
    },

    check: (layer) => checkWritable(paths.layerPath(layer), paths.expectRoot),
  };
}

/**
 * Returns the status of a tile's file. Undefined if there is no tile, for example because the file is empty.
 * @param directory the layer's directory
 * @throws StoreError
 */
function statTile(path: string, directory: string): Stats | undefined {
  const found = regularAt(path, "a tile cannot be read", directory);
  return found === undefined || found.size === 0 ? undefined : found;
}

/**
 * Returns the status of a path, and for a link the status of the link itself. Undefined if nothing exists there.
 * @throws StoreError
 */
function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError(error, "a tile cannot be removed");
  }
}

/**
 * Returns the tile in a file. Undefined if there is no tile.
 * @param directory the layer's directory
 * @throws StoreError
 */
function readTile(path: string, directory: string): StoredTile | undefined {
  let file: number | undefined;
  try {
    const opened = openRegular(path, constants.O_RDONLY, directory);
    file = opened?.file;
    if (file === undefined || opened === undefined || opened.status.size === 0) return undefined;
    const { size, mtimeMs } = opened.status;
    const bytes = Buffer.allocUnsafeSlow(size);
    let read = 0;
    while (read < size) {
      const n = readSync(file, bytes, read, size - read, read);
      if (n === 0) break;
      read += n;
    }
    return { bytes: read === size ? bytes : bytes.subarray(0, read), modifiedMs: mtimeMs };
  } catch (error) {
    throw storeError(error, "a tile cannot be read");
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * Reads like `readTile`, but in a thread of Node's pool, so that a file system that hangs does not delay other readers.
 * @throws StoreError
 */
async function readTileLater(path: string, directory: string): Promise<StoredTile | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile() || found.size === 0) return undefined;
    return { bytes: await file.readFile(), modifiedMs: found.mtimeMs };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENXIO") return undefined;
    // The path is a link. It is followed if it leads to a file below the layer's directory.
    if (code === "ELOOP") return readTile(path, directory);
    throw storeError(error, "a tile cannot be read");
  }
}

/**
 * Writes the temporary file.
 * @param onMade called when the file's directory had to be created
 */
function write(
  temporary: string,
  bytes: Uint8Array,
  { fsync, expectRoot }: Pick<FilePaths, "fsync" | "expectRoot">,
  onMade: () => void,
): void {
  const file = openNew(temporary, expectRoot, onMade);
  try {
    let written = 0;
    while (written < bytes.byteLength) written += writeSync(file, bytes, written);
    if (fsync) fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
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
function openNew(path: string, expectRoot: () => void, onMade: () => void): number {
  for (let tries = 0; ; tries++) {
    try {
      if (tries > 0) {
        expectRoot();
        mkdirSync(dirname(path), { recursive: true });
        onMade();
      }
      return openSync(path, "wx");
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || tries === MOST_TRIES) throw error;
    }
  }
}
