import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { threadId as threadNumber } from "node:worker_threads";
import type { Zoom } from "../../../grid/grid-set.ts";
import { formatOf } from "../../../layer/format.ts";
import type { FormatName, LayerName, TileAddress } from "../../../layer/tile-set.ts";
import type { GridSets } from "../../grid-sets.ts";
import { expectPresent, namesIn, removeIfEmpty, rootCheck } from "../../internal/directories.ts";
import { isAbsent, storeError } from "../../internal/faults.ts";
import { readRegular } from "../../internal/regular-file.ts";
import type { StoredPyramid } from "../../inventory-store.ts";
import type { FileLayout } from "../../store-options.ts";
import { StoreError } from "../../tile-store.ts";
import { directoryName } from "../file-layout.ts";
import { gwcLayout } from "./gwc-layout.ts";
import type { FoundLevel, LevelDirectory, TileLayout } from "./tile-layout.ts";
import { xyzLayout } from "./xyz-layout.ts";

export interface FileStoreOptions {
  readonly root: string;
  /** The name of the store in messages. Absent: "the store". */
  readonly name?: string;
  /**
   * Whether every tile is synced to the disk. A sync costs a few ms per tile, and the tile survives a power loss at
   * once.
   */
  readonly fsync: boolean;
  /** Differs for each process. Temporary files of another instance are leftovers. */
  readonly instance: string;
  /** Absent: GWC's default layout. */
  readonly layout?: FileLayout;
  /** For layouts whose rows count from the top. */
  readonly gridSets?: GridSets;
}

const layoutOf = (layout: FileLayout): TileLayout => {
  switch (layout) {
    case "gwc":
      return gwcLayout;
    case "tms":
      return xyzLayout("bottom");
    case "slippy":
      return xyzLayout("top");
  }
};

/** The prefix of temporary files. A part that identifies the process follows it. */
const TEMPORARY = ".nuthatch-";
let temporaries = 0;

export const extensionOf = (format: FormatName): string => formatOf(format)?.extension ?? "unknown";

/** The file in a pyramid's directory with the number of rows of each level, as a JSON list. */
const ROWS_FILE = ".nuthatch-rows";

/** The block size if the file system does not report it. GWC assumes the same. */
const USUAL_BLOCK_BYTES = 4096;
const LARGEST_BLOCK_BYTES = 65_536;

/**
 * Returns the size in bytes of the blocks in which the disk allocates space for a file. Some file systems, such as
 * network file systems and ZFS, report the size of their transfers or records instead, up to several MiB, although a
 * small file takes less.
 */
export const blockBytesOf = (reported: number): number =>
  reported >= 512 && reported <= LARGEST_BLOCK_BYTES ? reported : USUAL_BLOCK_BYTES;

/** The types of NFS, SMB 1 to 3, FUSE, Ceph, 9P, AFS and Lustre in Linux's `statfs` (linux/magic.h). */
const NETWORK_TYPES: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x00c36400, 0x01021997, 0x5346414f, 0x0bd00bd0,
]);

/** The directories of a file store, and the state that the parts of the store share. */
export class FilePaths {
  readonly root: string;
  readonly fsync: boolean;
  /** The prefix of this process's temporary files. */
  readonly #prefix: string;
  /** The size in bytes of the blocks in which the disk allocates space for a tile. */
  readonly blockBytes: number;
  /** Whether the file system is a network file system or implemented by a program, so that it may hang. */
  readonly isOnNetwork: boolean;
  readonly layout: TileLayout;
  /** @throws StoreError when the directory of the store is unavailable */
  readonly expectRoot: () => void;
  readonly #gridSets: GridSets;
  #lastLayer: { readonly layer: LayerName; readonly path: string } | undefined;
  #lastLevel: (StoredPyramid & { readonly z: Zoom; readonly path: string }) | undefined;

  constructor({ root, name, fsync, instance, layout = "gwc", gridSets = () => undefined }: FileStoreOptions) {
    this.root = root;
    this.layout = layoutOf(layout);
    this.#gridSets = gridSets;
    this.fsync = fsync;
    this.#prefix = `${TEMPORARY}${instance}-`;
    mkdirSync(root, { recursive: true });
    this.expectRoot = rootCheck(root, name);
    const { bsize, type } = statfsSync(root);
    this.blockBytes = blockBytesOf(bsize);
    this.isOnNetwork = NETWORK_TYPES.has(type);
  }

  /** Returns the name of a new temporary file. */
  temporaryName(): string {
    return `${this.#prefix}${process.pid}-${threadNumber}-${temporaries++}`;
  }

  /** Returns whether a file name belongs to a temporary file of another process. */
  isLeftover(name: string): boolean {
    return name.startsWith(TEMPORARY) && !name.startsWith(this.#prefix);
  }

  layerPath(layer: LayerName): string {
    // Cached, because successive calls mostly concern one layer.
    if (layer !== this.#lastLayer?.layer) this.#lastLayer = { layer, path: `${this.root}/${directoryName(layer)}` };
    return this.#lastLayer.path;
  }

  zoomPath(pyramid: StoredPyramid, z: Zoom): string {
    const { layer, gridSet, parametersId } = pyramid;
    const last = this.#lastLevel;
    if (
      last !== undefined &&
      last.layer === layer &&
      last.gridSet === gridSet &&
      last.parametersId === parametersId &&
      last.z === z
    )
      return last.path;
    const path = `${this.layerPath(layer)}/${this.layout.levelDirectory(pyramid, z)}`;
    this.#lastLevel = { layer, gridSet, parametersId, z, path };
    return path;
  }

  level(pyramid: StoredPyramid, z: Zoom): LevelDirectory {
    return { path: this.zoomPath(pyramid, z), z, rows: this.rowsOf(pyramid, z) };
  }

  /** Returns the number of rows of a level. Undefined if the layout does not need it, or if it is unknown. */
  rowsOf(pyramid: StoredPyramid, z: Zoom): number | undefined {
    if (!this.layout.countsFromTop) return undefined;
    const gridSet = this.#gridSets(pyramid.gridSet);
    return gridSet === undefined ? readRows(this.#rowsFile(pyramid))[z] : gridSet.matrices[z]?.matrixHeight;
  }

  #rowsFile(pyramid: StoredPyramid): string {
    return join(this.layerPath(pyramid.layer), this.layout.pyramidDirectory(pyramid) ?? "", ROWS_FILE);
  }

  /**
   * Writes the number of rows of a pyramid's levels into its directory, because the grid set may be removed from the
   * configuration before the tiles.
   */
  describeRows(pyramid: StoredPyramid): void {
    if (!this.layout.countsFromTop) return;
    const rows = this.#gridSets(pyramid.gridSet)?.matrices.map(({ matrixHeight }) => matrixHeight);
    const file = this.#rowsFile(pyramid);
    if (rows === undefined || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
    try {
      writeFileSync(file, JSON.stringify(rows));
    } catch (error) {
      // A truncation has moved the directory away. The put begins again.
      if (!isAbsent(error)) throw error;
    }
  }

  /** Returns the directory of a tile's file. */
  bucketPath({ tileSet, x, y, z }: TileAddress): string {
    return `${this.zoomPath(tileSet, z)}/${this.layout.bucket(x, y, z)}`;
  }

  /** Returns the path of a tile's file. */
  tile(at: TileAddress): string {
    return `${this.bucketPath(at)}/${this.fileOf(at)}`;
  }

  fileOf({ tileSet, x, y, z }: TileAddress): string {
    return this.layout.file(x, y, z, extensionOf(tileSet.format), this.rowsOf(tileSet, z));
  }

  /** Checks that the tile's file name can be computed. @throws StoreError when the rows of its level are unknown */
  expectNamed({ tileSet, y, z }: TileAddress): void {
    if (!this.layout.countsFromTop) return;
    const rows = this.rowsOf(tileSet, z);
    if (rows === undefined || y >= rows)
      throw new StoreError(
        "corrupt",
        `no row ${y} of level ${z} of the grid set ${tileSet.gridSet} is known`,
        undefined,
      );
  }

  /**
   * Checks that a layer's directory is either present or certainly absent. With `level`, also checks the directories of
   * that level.
   * @throws StoreError when a directory, or the directory of the store, is unavailable
   */
  expectPresent(layer: LayerName, level?: string): void {
    this.expectRoot();
    const [layerPath, above] = [this.layerPath(layer), level === undefined ? undefined : dirname(level)];
    const directories = [layerPath, above === layerPath ? undefined : above, level];
    for (const directory of directories) if (directory !== undefined) expectPresent(this.root, directory);
  }

  /** Returns the names in a layer's directory. */
  #namesInLayer(layer: LayerName): string[] {
    const names = namesIn(this.layerPath(layer));
    if (names.length === 0) this.expectPresent(layer);
    return names;
  }

  /** Returns the levels in a layer's directory. */
  levels(layer: LayerName): readonly FoundLevel[] {
    return this.layout.levels(this.layerPath(layer), this.#namesInLayer(layer));
  }

  /** Removes the remaining files of a pyramid without levels. @returns false if its directory contains anything else */
  removePyramid(pyramid: StoredPyramid): boolean {
    const directory = this.layout.pyramidDirectory(pyramid);
    if (directory === undefined) return true;
    const path = join(this.layerPath(pyramid.layer), directory);
    if (removeIfEmpty(path)) return true;
    if (namesIn(path).some((name) => name !== ROWS_FILE)) return false;
    try {
      rmSync(join(path, ROWS_FILE), { force: true });
    } catch (error) {
      if (!isAbsent(error)) throw storeError(error, "a file of the store cannot be removed");
    }
    return removeIfEmpty(path);
  }
}

/** Returns the numbers of rows in a file; empty if the file does not exist. Undefined for a level without a number. */
function readRows(file: string): readonly (number | undefined)[] {
  try {
    const rows: unknown = JSON.parse(readRegular(file, "utf8") ?? "[]");
    return Array.isArray(rows) ? rows.map((n) => (Number.isSafeInteger(n) && n > 0 ? Number(n) : undefined)) : [];
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return [];
    throw storeError(error, "a file of the store cannot be read");
  }
}
