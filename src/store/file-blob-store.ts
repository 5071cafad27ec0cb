import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { threadId as threadNumber } from "node:worker_threads";
import { rectCount, rectHolds, type TileRect } from "../grid/grid-set.ts";
import { formatOf } from "../layer/format.ts";
import { codeOf } from "../lib/error-code.ts";
import { BLOCK_SIDE, type TileAddress, type TileSet } from "../tile/tile-set.ts";
import type { BlobStore, DeletionListener, FoundTile, Place, PutOutcome, Room, StoredPyramid } from "./blob-store.ts";
import {
  bucketDirectory,
  bucketOf,
  bucketTouches,
  directoryName,
  parsePair,
  parseZoomDirectory,
  pyramidName,
  tileFile,
  zoomDirectory,
} from "./file-layout.ts";
import { isCutOff } from "./internal/cut-off.ts";
import { deleteRange } from "./internal/delete-range.ts";
import { isAbsent, storeError } from "./internal/faults.ts";
import { isLeftover, removeLeftovers, TEMPORARY } from "./internal/leftovers.ts";
import { regionsOf } from "./internal/regions.ts";
import { restoreLayer, restoreLevel } from "./internal/restore.ts";
import { sweep } from "./internal/sweep.ts";
import { decodeParametersFile, encodeParametersFile } from "./parameters-file.ts";

export interface FileBlobStoreOptions {
  readonly root: string;
  /** Sync every tile to the disk: a few ms each, in exchange for tiles that survive a power loss at once. */
  readonly fsync: boolean;
  /** One per process: temporary files of another instance are leftovers. */
  readonly instance: string;
}

/** GWC's name for what is being deleted. */
const TRASH = "_gwc_in_progress_deletes_";
/**
 * What truncations keep to be taken back, each part under the number of its truncation and its own: a directory for each
 * truncation would be made while somebody waits for the answer.
 */
const ASIDE = "_gwc_set_aside_";
/** Up to this many tiles are looked for one by one in a large bucket, whose listing would cost more. */
const FEW_LOOKS = 256n;

let temporaries = 0;

const extensionOf = (format: string): string => formatOf(format)?.extension ?? "unknown";
const fileOf = ({ tileSet, x, y, z }: TileAddress): string => tileFile(x, y, z, extensionOf(tileSet.format));

/** Tiles as files in GWC's default layout. Several threads of one process may each have one on the same root. */
export function createFileBlobStore(options: FileBlobStoreOptions): BlobStore {
  return new FileBlobStore(options);
}

class FileBlobStore implements BlobStore {
  readonly #root: string;
  readonly #fsync: boolean;
  readonly #prefix: string;
  readonly #blockBytes: number;
  /** Layer and parameters id that have been described by this instance. */
  readonly #described = new Set<string>();

  constructor({ root, fsync, instance }: FileBlobStoreOptions) {
    this.#root = root;
    this.#fsync = fsync;
    this.#prefix = `${TEMPORARY}${instance}-`;
    mkdirSync(root, { recursive: true });
    this.#blockBytes = statfsSync(root).bsize;
    // GWC's marker of a file store.
    const marker = join(root, "metadata.properties");
    if (!existsSync(marker)) writeFileSync(marker, "");
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
    let file: number;
    try {
      file = openSync(this.#path(at), "r");
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw storeError(error, "a tile cannot be read");
    }
    try {
      const { size, mtimeMs } = fstatSync(file);
      if (size === 0) return undefined;
      const bytes = Buffer.allocUnsafeSlow(size);
      let read = 0;
      while (read < size) {
        const n = readSync(file, bytes, read, size - read, read);
        if (n === 0) break;
        read += n;
      }
      return { bytes: read === size ? bytes : bytes.subarray(0, read), modifiedMs: mtimeMs };
    } finally {
      closeSync(file);
    }
  }

  stat(at: TileAddress) {
    const found = statSync(this.#path(at), { throwIfNoEntry: false });
    if (found === undefined || found.size === 0) return undefined;
    // The file system's own time of the last change of a file or of its attributes.
    return { bytes: found.size, modifiedMs: found.mtimeMs, confirmedMs: found.ctimeMs };
  }

  delete(at: TileAddress): number | undefined {
    const path = this.#path(at);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    try {
      unlinkSync(path);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw storeError(error, "a tile cannot be removed");
    }
    return found.size === 0 ? undefined : found.size;
  }

  allocated(bytes: number): number {
    return Math.ceil(bytes / this.#blockBytes) * this.#blockBytes;
  }

  room(): Room {
    const { bavail, blocks, bsize, ffree, files } = statfsSync(this.#root);
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
      const before = guard() ? statSync(path, { throwIfNoEntry: false }) : undefined;
      if (before === undefined || before.size === 0 || before.size !== bytes.byteLength) return false;
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
      // Such as a file of another user, that can be replaced but not touched; a disk that refuses more refuses the put too.
      return false;
    }
  }

  /** Async for the interface only: everything happens in the caller's turn, which the generations rely on. */
  async put(at: TileAddress, bytes: Uint8Array, guard: () => boolean): Promise<PutOutcome> {
    const bucket = this.#bucketPath(at);
    const target = `${bucket}/${fileOf(at)}`;
    const temporary = `${bucket}/${this.#prefix}${process.pid}-${threadNumber}-${temporaries++}`;
    try {
      if (!guard()) return { stored: false };
      this.#write(temporary, bytes);
      const before = statSync(target, { throwIfNoEntry: false });
      if (!guard()) {
        rmSync(temporary, { force: true });
        return { stored: false };
      }
      renameSync(temporary, target);
      return { stored: true, replaced: before === undefined || before.size === 0 ? undefined : before.size };
    } catch (error) {
      // The directory has been dropped under our hands.
      if (isAbsent(error)) return { stored: false };
      rmSync(temporary, { force: true });
      throw storeError(error, "a tile cannot be written");
    }
  }

  #write(temporary: string, bytes: Uint8Array): void {
    let file: number;
    try {
      file = openSync(temporary, "wx");
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      mkdirSync(dirname(temporary), { recursive: true });
      file = openSync(temporary, "wx");
    }
    try {
      let written = 0;
      while (written < bytes.byteLength) written += writeSync(file, bytes, written);
      if (this.#fsync) fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  async describeParameters(layer: string, id: string, values: Readonly<Record<string, string>>): Promise<void> {
    const file = join(this.#root, directoryName(layer), `parameters-${id}.properties`);
    if (this.#described.has(file) && existsSync(file)) return;
    try {
      if (!existsSync(file)) {
        const temporary = join(dirname(file), `${this.#prefix}${process.pid}-${threadNumber}-${temporaries++}`);
        writeFileSync(temporary, encodeParametersFile(id, values), "latin1");
        renameSync(temporary, file);
      }
      this.#described.add(file);
    } catch (error) {
      if (!isAbsent(error)) throw storeError(error, "a parameters file cannot be written");
    }
  }

  parametersOf(layer: string, id: string): Readonly<Record<string, string>> | undefined {
    try {
      return decodeParametersFile(
        readFileSync(join(this.#root, directoryName(layer), `parameters-${id}.properties`), "latin1"),
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

  planDrop(scope: Parameters<BlobStore["planDrop"]>[0]): readonly string[] {
    const layer = directoryName(scope.layer);
    if (scope.kind === "layer") return existsSync(join(this.#root, layer)) ? [layer] : [];
    return this.#list(join(this.#root, layer))
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

  drop(dropId: string, names: readonly string[]): void {
    for (const [n, name] of names.entries()) this.#moveAway(name, TRASH, `${dropId}-${n}`);
    this.#described.clear();
  }

  setAside(id: string, names: readonly string[]): void {
    for (const [n, name] of names.entries()) this.#moveAway(name, ASIDE, `${id}-${n}`);
    this.#described.clear();
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

  *restore(
    id: string,
    layer: string,
    names: readonly string[],
    known: readonly string[],
  ): Iterable<readonly TileAddress[]> {
    const kept = this.#asideParts(id).sort();
    const gridSetOf = new Map(known.map((gridSet) => [directoryName(gridSet), gridSet]));
    for (const [n, name] of names.entries()) {
      // A drop that was interrupted may have found more at its second try.
      const parts = kept.filter((part) => part === `${id}-${n}` || part.startsWith(`${id}-${n}.`));
      const restoring = {
        layer,
        gridSetOf: (directory: string) => gridSetOf.get(directory) ?? directory,
        live: join(this.#root, name),
        rubbish: (path: string) => this.#moveAway(relative(this.#root, path), TRASH, `restored-${id}-${n}`),
      };
      for (const part of parts) {
        const restore = name.includes("/") ? restoreLevel : restoreLayer;
        yield* restore({ ...restoring, aside: join(this.#root, ASIDE, part) });
      }
    }
    this.discard(id);
    this.#described.clear();
  }

  /** Renames something under the root into a directory there; a name that is taken gets a number. */
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
    scope: Parameters<BlobStore["deleteRange"]>[0],
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
    for (const name of this.#list(join(this.#root, directoryName(layer)))) {
      const parsed = parseZoomDirectory(name);
      if (parsed === undefined) continue;
      const gridSet = byDirectory.get(parsed.gridSetDirectory) ?? parsed.gridSetDirectory;
      const pyramid = { layer, gridSet, parametersId: parsed.parametersId };
      found.set(pyramidName(pyramid), pyramid);
    }
    return [...found.values()];
  }

  levels({ layer, gridSet, parametersId }: StoredPyramid): readonly number[] {
    const directory = directoryName(gridSet);
    return this.#list(join(this.#root, directoryName(layer)))
      .flatMap((name) => {
        const parsed = parseZoomDirectory(name);
        return parsed !== undefined && parsed.gridSetDirectory === directory && parsed.parametersId === parametersId
          ? [parsed.z]
          : [];
      })
      .sort((a, b) => a - b);
  }

  async removeLeftovers(places: readonly Place[], signal: AbortSignal): Promise<void> {
    const buckets = new Set<string>();
    for (const { tileSet, rect } of places) {
      const { half } = bucketOf(rect.z);
      const directory = this.#zoomPath(tileSet, rect.z);
      for (let y = rect.minY; y <= rect.maxY; y = (Math.floor(y / half) + 1) * half)
        for (let x = rect.minX; x <= rect.maxX; x = (Math.floor(x / half) + 1) * half)
          buckets.add(join(directory, bucketDirectory(x, y, rect.z)));
    }
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
      const at = statSync(path, { throwIfNoEntry: false });
      if (at === undefined) return;
      // What a power loss cut to nothing, or in two, is not a tile.
      if (at.size === 0 || (afterReboot && isCutOff(path, at.size, tileSet.format))) unlinkSync(path);
      else found.push({ x, y, bytes: at.size, modifiedMs: at.mtimeMs });
    };
    if (rectCount(rect) <= FEW_LOOKS && bucketOf(rect.z).half > BLOCK_SIDE / 4) {
      for (let y = rect.minY; y <= rect.maxY; y++)
        for (let x = rect.minX; x <= rect.maxX; x++)
          look(join(directory, bucketDirectory(x, y, rect.z), tileFile(x, y, rect.z, extension)), x, y);
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
    return found;
  }

  needsSweep(): boolean {
    return this.#list(join(this.#root, TRASH)).length > 0;
  }

  sweep(signal: AbortSignal): Promise<void> {
    return sweep(join(this.#root, TRASH), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
