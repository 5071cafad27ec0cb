import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { access, mkdir, statfs, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { threadId as threadNumber } from "node:worker_threads";
import { rectCount, rectHolds, type TileRect } from "../../grid/grid-set.ts";
import { formatOf } from "../../layer/format.ts";
import { BLOCK_SIDE, type TileAddress, type TileSet } from "../../layer/tile-set.ts";
import { codeOf } from "../../lib/error-code.ts";
import {
  type DeletionListener,
  type FoundTile,
  type Place,
  type PutOutcome,
  type Room,
  type StoredPyramid,
  StoreError,
  type TileStore,
} from "../tile-store.ts";
import {
  bucketDirectory,
  bucketOf,
  bucketsOfRect,
  bucketTouches,
  directoryName,
  parsePair,
  parseZoomDirectory,
  pyramidName,
  tileFile,
  zoomDirectory,
} from "./file-layout.ts";
import { changesOf } from "./internal/changes.ts";
import { isCutOff } from "./internal/cut-off.ts";
import { deleteRange } from "./internal/delete-range.ts";
import { removeEmptyPyramids, removeIfEmpty } from "./internal/empty-directories.ts";
import { isAbsent, storeError } from "./internal/faults.ts";
import { isLeftover, removeLeftovers, TEMPORARY } from "./internal/leftovers.ts";
import { regionsOf } from "./internal/regions.ts";
import { sweep } from "./internal/sweep.ts";
import { decodeParametersFile, encodeParametersFile, parametersFileName } from "./parameters-file.ts";

export interface FileBlobStoreOptions {
  readonly root: string;
  /** Sync every tile to the disk: a few ms each, in exchange for tiles that survive a power loss at once. */
  readonly fsync: boolean;
  /** One per process. Temporary files of another instance are leftovers. */
  readonly instance: string;
}

/** GWC's name of the directory for names that are being deleted. */
const TRASH = "_gwc_in_progress_deletes_";
/**
 * The directory for tiles that a truncation has set aside. Each part has the number of its truncation and its own
 * number in its name. A directory for each truncation would have to be made while the client waits for the answer.
 */
const ASIDE = "_gwc_set_aside_";
/** The change time of this file is the time at which the owner of the store was last alive. */
const ALIVE = ".nuthatch-alive";
/** The resolution of a file system's clock, which may be that of another machine. */
const CLOCK_STEP_MS = 1_000;
/** Up to this many tiles are looked up one by one in a large bucket, because listing the bucket would cost more. */
const FEW_LOOKS = 256n;

let temporaries = 0;

const extensionOf = (format: string): string => formatOf(format)?.extension ?? "unknown";
const fileOf = ({ tileSet, x, y, z }: TileAddress): string => tileFile(x, y, z, extensionOf(tileSet.format));

/** Creates a store of tiles as files in GWC's default layout. Several threads of one process may use one root. */
export function createFileTileStore(options: FileBlobStoreOptions): TileStore {
  return new FileBlobStore(options);
}

class FileBlobStore implements TileStore {
  readonly #root: string;
  readonly #fsync: boolean;
  readonly #prefix: string;
  readonly #blockBytes: number;

  constructor({ root, fsync, instance }: FileBlobStoreOptions) {
    this.#root = root;
    this.#fsync = fsync;
    this.#prefix = `${TEMPORARY}${instance}-`;
    mkdirSync(root, { recursive: true });
    this.#blockBytes = statfsSync(root).bsize;
    // GWC's marker of a file store.
    const marker = join(root, "metadata.properties");
    if (!existsSync(marker)) writeFileSync(marker, "");
    for (const name of [TRASH, ASIDE]) makeAhead(join(root, name));
  }

  #zoomPath(t: { layer: string; gridSet: string; parametersId: string }, z: number): string {
    return `${this.#root}/${directoryName(t.layer)}/${zoomDirectory(t.gridSet, z, t.parametersId)}`;
  }

  #bucketPath({ tileSet, x, y, z }: TileAddress): string {
    return `${this.#zoomPath(tileSet, z)}/${bucketDirectory(x, y, z)}`;
  }

  #path(at: TileAddress): string {
    return `${this.#bucketPath(at)}/${fileOf(at)}`;
  }

  keyOf(at: TileAddress): string {
    return this.#path(at).slice(this.#root.length + 1);
  }

  get(at: TileAddress) {
    let file: number | undefined;
    try {
      file = openSync(this.#path(at), "r");
      const found = fstatSync(file);
      if (!isTile(found)) return undefined;
      const { size, mtimeMs } = found;
      const bytes = Buffer.allocUnsafeSlow(size);
      let read = 0;
      while (read < size) {
        const n = readSync(file, bytes, read, size - read, read);
        if (n === 0) break;
        read += n;
      }
      return { bytes: read === size ? bytes : bytes.subarray(0, read), modifiedMs: mtimeMs };
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw storeError(error, "a tile cannot be read");
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  stat(at: TileAddress) {
    const found = tileAt(this.#path(at));
    if (found === undefined) return undefined;
    // The file system's own time of the last change of a file or of its attributes.
    return { bytes: found.size, modifiedMs: found.mtimeMs, confirmedMs: found.ctimeMs };
  }

  delete(at: TileAddress): number | undefined {
    const path = this.#path(at);
    const found = statOf(path, "a tile cannot be removed");
    if (found === undefined) {
      this.#expectPresent(at.tileSet.layer, this.#zoomPath(at.tileSet, at.z));
      return undefined;
    }
    if (!found.isFile()) return undefined;
    try {
      unlinkSync(path);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw storeError(error, "a tile cannot be removed");
    }
    return found.size === 0 ? undefined : found.size;
  }

  removeEmptied(tileSet: TileSet, rect: TileRect): void {
    const directory = this.#zoomPath(tileSet, rect.z);
    let hasRemoved = false;
    for (const bucket of bucketsOfRect(rect)) if (removeIfEmpty(join(directory, bucket))) hasRemoved = true;
    if (hasRemoved) removeIfEmpty(directory);
  }

  removeEmptyPyramids(layer: string, pyramids: Parameters<TileStore["removeEmptyPyramids"]>[1]) {
    const directory = join(this.#root, directoryName(layer));
    return removeEmptyPyramids(directory, this.#levelDirectories(layer), pyramids);
  }

  allocated(bytes: number): number {
    return Math.ceil(bytes / this.#blockBytes) * this.#blockBytes;
  }

  async room(): Promise<Room> {
    const { bavail, blocks, bsize, ffree, files } = await statfs(this.#root);
    const uncounted = files === 0;
    return {
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      freeInodes: uncounted ? Number.POSITIVE_INFINITY : ffree,
      totalInodes: uncounted ? Number.POSITIVE_INFINITY : files,
    };
  }

  regions({ layer, gridSet, parametersId }: StoredPyramid, z: number, after: string | undefined) {
    return regionsOf(this.#zoomPath({ layer, gridSet, parametersId }, z), z, after);
  }

  confirm(at: TileAddress, bytes: Uint8Array, time: "keep" | "renew", guard: () => boolean): boolean {
    try {
      const path = this.#path(at);
      const before = guard() ? tileAt(path) : undefined;
      if (before === undefined || before.size !== bytes.byteLength) return false;
      const kept = this.get(at);
      if (kept === undefined || Buffer.compare(kept.bytes, bytes) !== 0 || !guard()) return false;
      if (time === "renew") {
        const now = new Date();
        utimesSync(path, now, now);
      } else {
        // Sets `confirmedMs` and nothing else: what a job has looked at it must find again after a crash.
        chmodSync(path, before.mode & 0o7777);
      }
      return true;
    } catch {
      // Such as a file of another user, that can be replaced but not touched; a disk that refuses more refuses the put
      // too.
      return false;
    }
  }

  /**
   * Async for the interface only: the put happens in the caller's turn of the event loop, which the generations rely
   * on.
   */
  async put(at: TileAddress, bytes: Uint8Array, guard: () => boolean): Promise<PutOutcome> {
    const bucket = this.#bucketPath(at);
    const target = `${bucket}/${fileOf(at)}`;
    const temporary = `${bucket}/${this.#prefix}${process.pid}-${threadNumber}-${temporaries++}`;
    let isWritten = false;
    try {
      if (!guard()) return { stored: false };
      this.#write(temporary, bytes);
      isWritten = true;
      const before = tileAt(target);
      if (!guard()) {
        rmSync(temporary, { force: true });
        return { stored: false };
      }
      renameSync(temporary, target);
      return { stored: true, replaced: before?.size };
    } catch (error) {
      // A drop has moved the directory away since the temporary file was written there. Before, a directory that cannot
      // be made is a place that is away: "nothing stored" would have a job render the metatile again at once.
      if (isWritten && codeOf(error) === "ENOENT") return { stored: false };
      if (isWritten) rmSync(temporary, { force: true });
      this.#expectPresent(at.tileSet.layer, this.#zoomPath(at.tileSet, at.z));
      throw storeError(error, "a tile cannot be written");
    }
  }

  #write(temporary: string, bytes: Uint8Array): void {
    const file = openNew(temporary);
    try {
      let written = 0;
      while (written < bytes.byteLength) written += writeSync(file, bytes, written);
      if (this.#fsync) fsyncSync(file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  }

  async check(layer: string): Promise<void> {
    const directory = join(this.#root, directoryName(layer));
    try {
      await mkdir(directory, { recursive: true });
      await access(directory, constants.W_OK | constants.X_OK);
    } catch (error) {
      throw storeError(error, "a tile cannot be written");
    }
  }

  /**
   * Checks that a layer's directory is present. A link to a volume that is not mounted, or a file in its place, says
   * nothing of the tiles. `level`: also checks the directory of one level.
   * @throws StoreError when a directory is not present
   */
  #expectPresent(layer: string, level?: string): void {
    for (const directory of [join(this.#root, directoryName(layer)), ...(level === undefined ? [] : [level])]) {
      if (statOf(directory, "a directory of the store cannot be read")?.isDirectory() === true) continue;
      if (lstatSync(directory, { throwIfNoEntry: false }) !== undefined)
        throw new StoreError("unavailable", `${relative(this.#root, directory)} is away from the store`, undefined);
    }
  }

  async describeParameters(layer: string, id: string, values: Readonly<Record<string, string>>): Promise<void> {
    const file = join(this.#root, directoryName(layer), parametersFileName(id));
    // Checked each time: the file is removed with the last tile that has these parameters, also by other processes.
    if (existsSync(file)) return;
    try {
      const temporary = join(dirname(file), `${this.#prefix}${process.pid}-${threadNumber}-${temporaries++}`);
      writeFileSync(temporary, encodeParametersFile(id, values), "latin1");
      renameSync(temporary, file);
    } catch (error) {
      if (!isAbsent(error)) throw storeError(error, "a parameters file cannot be written");
    }
  }

  parametersOf(layer: string, id: string): Readonly<Record<string, string>> | undefined {
    try {
      return decodeParametersFile(
        readFileSync(join(this.#root, directoryName(layer), parametersFileName(id)), "latin1"),
      );
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw storeError(error, "a parameters file cannot be read");
    }
  }

  #list(directory: string): string[] {
    try {
      return readdirSync(directory);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw storeError(error, "a directory cannot be listed");
    }
  }

  /** Returns the names in a layer's directory. */
  #levelDirectories(layer: string): string[] {
    const names = this.#list(join(this.#root, directoryName(layer)));
    if (names.length === 0) this.#expectPresent(layer);
    return names;
  }

  planTruncation(scope: Parameters<TileStore["planTruncation"]>[0]): readonly string[] {
    const layer = directoryName(scope.layer);
    // A link can be moved even if its volume is not mounted.
    if (scope.kind === "layer")
      return lstatSync(join(this.#root, layer), { throwIfNoEntry: false }) === undefined ? [] : [layer];
    return this.#levelDirectories(scope.layer)
      .filter((name) => {
        const parsed = parseZoomDirectory(name);
        return (
          parsed !== undefined &&
          parsed.gridSetDirectory === directoryName(scope.gridSet) &&
          parsed.parametersId === scope.parametersId &&
          (scope.zooms === undefined || (parsed.z >= scope.zooms.first && parsed.z <= scope.zooms.last))
        );
      })
      .map((name) => `${layer}/${name}`);
  }

  drop(truncationId: string, names: readonly string[]): void {
    for (const [n, name] of names.entries()) this.#moveAway(name, TRASH, `${truncationId}-${n}`);
  }

  setAside(id: string, names: readonly string[]): void {
    for (const [n, name] of names.entries()) this.#moveAway(name, ASIDE, `${id}-${n}`);
  }

  discard(id: string): void {
    for (const part of this.#asideParts(id)) this.#moveAway(join(ASIDE, part), TRASH, `aside-${part}`);
  }

  setAsideIds(): readonly string[] {
    return [...new Set(this.#list(join(this.#root, ASIDE)).map((part) => part.split("-", 1)[0] ?? part))];
  }

  #asideParts(id: string): string[] {
    return this.#list(join(this.#root, ASIDE)).filter((part) => part.startsWith(`${id}-`));
  }

  restore(id: string, names: readonly string[]): void {
    const parts = new Set(this.#asideParts(id));
    for (const [n, name] of names.entries()) {
      const part = `${id}-${n}`;
      if (!parts.has(part)) continue;
      this.#moveAway(name, TRASH, `restored-${part}`);
      const live = join(this.#root, name);
      try {
        mkdirSync(dirname(live), { recursive: true });
        renameSync(join(this.#root, ASIDE, part), live);
      } catch (error) {
        throw storeError(error, "truncated tiles cannot be brought back");
      }
    }
    // An interrupted truncation has more parts if a writer stored tiles before its second attempt.
    this.discard(id);
  }

  /** Renames a name under the root into a directory there. Appends a number if the new name is taken. */
  #moveAway(name: string, directory: string, as: string): void {
    const to = join(this.#root, directory);
    mkdirSync(to, { recursive: true });
    for (let again = 0; ; again++) {
      try {
        renameSync(join(this.#root, name), join(to, `${as}${again === 0 ? "" : `.${again}`}`));
        return;
      } catch (error) {
        if (isAbsent(error)) return;
        if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST")
          throw storeError(error, "a directory cannot be dropped");
      }
    }
  }

  deleteRange(
    scope: Parameters<TileStore["deleteRange"]>[0],
    rect: TileRect,
    listener: DeletionListener,
    signal: AbortSignal,
  ): Promise<void> {
    const extension = scope.format === undefined ? undefined : extensionOf(scope.format);
    const { chosen = () => true } = scope;
    return deleteRange(this.#zoomPath(scope, rect.z), rect, { extension, chosen }, listener, signal);
  }

  pyramids(layer: string, known: readonly string[]): readonly StoredPyramid[] {
    const byDirectory = new Map(known.map((id) => [directoryName(id), id]));
    const found = new Map<string, StoredPyramid>();
    for (const name of this.#levelDirectories(layer)) {
      const parsed = parseZoomDirectory(name);
      if (parsed === undefined) continue;
      const gridSet = byDirectory.get(parsed.gridSetDirectory) ?? parsed.gridSetDirectory;
      const pyramid = { layer, gridSet, parametersId: parsed.parametersId };
      found.set(pyramidName(pyramid), pyramid);
    }
    return [...found.values()];
  }

  levels(pyramid: StoredPyramid): readonly number[] {
    return this.levelsOf(pyramid.layer, [pyramid])[0] ?? [];
  }

  levelsOf(layer: string, pyramids: readonly StoredPyramid[]): readonly (readonly number[])[] {
    const levels = new Map<string, number[]>(pyramids.map((pyramid) => [pyramidName(pyramid), []]));
    for (const name of this.#levelDirectories(layer)) {
      const parsed = parseZoomDirectory(name);
      if (parsed !== undefined) levels.get(`${parsed.gridSetDirectory}\n${parsed.parametersId}`)?.push(parsed.z);
    }
    for (const found of levels.values()) found.sort((a, b) => a - b);
    return pyramids.map((pyramid) => levels.get(pyramidName(pyramid)) ?? []);
  }

  async removeLeftovers(places: readonly Place[], signal: AbortSignal): Promise<void> {
    const buckets = new Set<string>();
    for (const { tileSet, rect } of places)
      for (const bucket of bucketsOfRect(rect)) buckets.add(join(this.#zoomPath(tileSet, rect.z), bucket));
    for (const bucket of buckets) {
      if (signal.aborted) return;
      await removeLeftovers(bucket, this.#prefix);
    }
  }

  recount(tileSet: TileSet, rect: TileRect, afterReboot: boolean): FoundTile[] {
    const directory = this.#zoomPath(tileSet, rect.z);
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
      if (found.length === 0) this.#expectPresent(tileSet.layer, directory);
      return found;
    }
    for (const bucket of this.#list(directory).filter((name) => bucketTouches(name, rect))) {
      for (const name of this.#list(join(directory, bucket))) {
        const path = join(directory, bucket, name);
        if (isLeftover(name, this.#prefix)) rmSync(path, { force: true });
        const tile = parsePair(name);
        if (tile === undefined || !rectHolds(rect, tile.x, tile.y)) continue;
        if (tileFile(tile.x, tile.y, rect.z, extension) === name) look(path, tile.x, tile.y);
      }
    }
    if (found.length === 0) this.#expectPresent(tileSet.layer, directory);
    return found;
  }

  async noteAlive(): Promise<void> {
    const now = new Date();
    const path = join(this.#root, ALIVE);
    try {
      await utimes(path, now, now).catch((error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error;
        return writeFile(path, "", { mode: 0o600 });
      });
    } catch (error) {
      throw storeError(error, "the store cannot be marked as in use");
    }
  }

  lastAliveMs(): number | undefined {
    const ms = statOf(join(this.#root, ALIVE), "the store cannot be read")?.ctimeMs;
    // A time in the future means that the clock was set back: changes since then cannot be found by their times.
    return ms === undefined || ms > Date.now() + CLOCK_STEP_MS ? undefined : ms;
  }

  changes({ layer, gridSet, parametersId }: StoredPyramid, z: number, sinceMs: number) {
    const directory = this.#zoomPath({ layer, gridSet, parametersId }, z);
    this.#expectPresent(layer, directory);
    return changesOf(directory, z, sinceMs);
  }

  needsSweep(): boolean {
    return this.#list(join(this.#root, TRASH)).length > 0;
  }

  sweep(signal: AbortSignal): Promise<void> {
    return sweep(join(this.#root, TRASH), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const isTile = (found: Stats): boolean => found.size > 0 && found.isFile();

/** Returns the status of a path; undefined: nothing is there. @throws StoreError */
function statOf(path: string, what: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError(error, what);
  }
}

/**
 * Returns the status of a tile's file; undefined: no tile is there, but for example an empty file. @throws StoreError
 */
function tileAt(path: string): Stats | undefined {
  const found = statOf(path, "a tile cannot be read");
  return found !== undefined && isTile(found) ? found : undefined;
}

/** How often the directory of a new file is made again. A directory that cannot be made is told from one that went. */
const MOST_TRIES = 10;

/** Makes a directory that a truncation needs while there is room: it must work on a disk that has become full. */
function makeAhead(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    // Tiles can be read all the same, and the truncation itself tries again and tells.
    const { code } = storeError(error, "a directory cannot be made");
    if (code !== "full" && code !== "read_only") throw error;
  }
}

/**
 * Creates a file and its directory. A truncation, or an eviction of the last tile, may remove the directory between the
 * two steps, or while the directory is made; a directory with a file in it stays.
 */
function openNew(path: string): number {
  for (let tries = 0; ; tries++) {
    try {
      if (tries > 0) mkdirSync(dirname(path), { recursive: true });
      return openSync(path, "wx");
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || tries === MOST_TRIES) throw error;
    }
  }
}
