import { mkdirSync, type Stats, statfsSync } from "node:fs";
import { threadId as threadNumber } from "node:worker_threads";
import { formatOf } from "../../../layer/format.ts";
import type { TileAddress } from "../../../layer/tile-set.ts";
import { expectPresent, namesIn, statOf } from "../../internal/directories.ts";
import { bucketDirectory, directoryName, tileFile, zoomDirectory } from "../file-layout.ts";

export interface FileStoreOptions {
  readonly root: string;
  /** Sync every tile to the disk: a few ms each, in exchange for tiles that survive a power loss at once. */
  readonly fsync: boolean;
  /** One per process. Temporary files of another instance are leftovers. */
  readonly instance: string;
}

/** The prefix of temporary files. A part that identifies the process follows it. */
const TEMPORARY = ".nuthatch-";
let temporaries = 0;

export const extensionOf = (format: string): string => formatOf(format)?.extension ?? "unknown";

/** The size of a block where the file system does not report it. GWC assumes the same. */
const USUAL_BLOCK_BYTES = 4096;
const LARGEST_BLOCK_BYTES = 65_536;

/**
 * Returns the size of the blocks in which a file takes space. A network file system, ZFS and others report the size of
 * their transfers or records instead, up to several MiB, while a small file takes less.
 */
export const blockBytesOf = (reported: number): number =>
  reported >= 512 && reported <= LARGEST_BLOCK_BYTES ? reported : USUAL_BLOCK_BYTES;

/** The directories of a file store, and what the parts of the store share. */
export class FilePaths {
  readonly root: string;
  readonly fsync: boolean;
  /** The beginning of the names of this process's temporary files. */
  readonly #prefix: string;
  /** The size of the blocks in which a tile takes space on the disk. */
  readonly blockBytes: number;

  constructor({ root, fsync, instance }: FileStoreOptions) {
    this.root = root;
    this.fsync = fsync;
    this.#prefix = `${TEMPORARY}${instance}-`;
    mkdirSync(root, { recursive: true });
    this.blockBytes = blockBytesOf(statfsSync(root).bsize);
  }

  /** Returns the name of a new temporary file. */
  temporaryName(): string {
    return `${this.#prefix}${process.pid}-${threadNumber}-${temporaries++}`;
  }

  /** Returns whether a name is that of a temporary file of another process. */
  isLeftover(name: string): boolean {
    return name.startsWith(TEMPORARY) && !name.startsWith(this.#prefix);
  }

  /** Returns the directory of a layer. */
  layerPath(layer: string): string {
    return `${this.root}/${directoryName(layer)}`;
  }

  /** Returns the directory of a level. */
  zoomPath(t: { layer: string; gridSet: string; parametersId: string }, z: number): string {
    return `${this.layerPath(t.layer)}/${zoomDirectory(t.gridSet, z, t.parametersId)}`;
  }

  /** Returns the directory of a tile. */
  bucketPath({ tileSet, x, y, z }: TileAddress): string {
    return `${this.zoomPath(tileSet, z)}/${bucketDirectory(x, y, z)}`;
  }

  /** Returns the path of a tile. */
  tile(at: TileAddress): string {
    return `${this.bucketPath(at)}/${fileOf(at)}`;
  }

  /**
   * Checks that a layer's directory is present. `level`: also checks the directory of one level.
   * @throws StoreError when a directory is not present
   */
  expectPresent(layer: string, level?: string): void {
    for (const directory of [this.layerPath(layer), ...(level === undefined ? [] : [level])])
      expectPresent(this.root, directory);
  }

  /** Returns the names in a layer's directory. */
  levelDirectories(layer: string): string[] {
    const names = namesIn(this.layerPath(layer));
    if (names.length === 0) this.expectPresent(layer);
    return names;
  }
}

export const fileOf = ({ tileSet, x, y, z }: TileAddress): string => tileFile(x, y, z, extensionOf(tileSet.format));

export const isTile = (found: Stats): boolean => found.size > 0 && found.isFile();

/**
 * Returns the status of a tile's file; undefined: no tile is there, but for example an empty file. @throws StoreError
 */
export function tileAt(path: string): Stats | undefined {
  const found = statOf(path, "a tile cannot be read");
  return found !== undefined && isTile(found) ? found : undefined;
}
